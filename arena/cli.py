"""The command line `arena`. Each command parses, calls and prints; an expected error is one line."""

from __future__ import annotations

import click

from arena.terminal.commands import Commands, run

#: command -> its module in arena/commands.
COMMANDS = {
    "evaluate": "evaluate",
    "match": "match",
    "serve": "serve",
    "ladder": "ladder",
    "report": "report",
    "rate": "rate",
    "beats": "beats",
    "rank": "rank",
    "leaderboard": "leaderboard",
    "dashboard": "dashboard",
    "battle": "battle",
    "replay": "battle",
    "verify": "verify",
    "watch": "watch",
    "sql": "sql",
    "agents": "agents",
    "teams": "teams",
    "setup": "setup",
    "doctor": "doctor",
    "completion": "completion",
}


@click.group(
    cls=Commands,
    package="arena.commands",
    table=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="battle-arena", prog_name="arena")
def cli() -> None:
    """Evaluate and rank Pokémon agents on the Showdown simulator; every battle is stored in DuckDB."""


def main() -> None:
    """The console script."""
    run(cli, "arena")
