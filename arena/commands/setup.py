"""`arena setup`: installs the simulator for an installation from a wheel."""

from __future__ import annotations

import click

from teamsets import showdown
from teamsets.errors import MissingTool
from teamsets.installing import install


@click.command()
def setup() -> None:
    """Install the Pokémon Showdown simulator.

    Checks Node.js and npm, then installs the pinned version from npm into the user's cache folder ($XDG_CACHE_HOME or
    ~/.cache). Does nothing if the simulator is already installed (ARENA_SHOWDOWN, node_modules of a checkout, or an earlier
    `arena setup`).

    \b
    Example:
      arena setup
    """
    node = f"node {showdown.node_version()}"
    try:
        folder, news = showdown.package(), "is already installed; nothing to do"
    except MissingTool as error:
        if "ARENA_SHOWDOWN" in str(error):
            raise
        folder, news = install(lambda line: click.echo(f"setup: {line}")), "is installed"
    click.echo(f"setup: pokemon-showdown {showdown.version()} {news} ({folder}; {node})")
    click.echo(
        "setup: ready. `arena doctor` plays a battle; `arena evaluate random heuristic:max-damage` compares two agents"
    )
