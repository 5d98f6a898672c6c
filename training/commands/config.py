"""`train config`: a whole configuration to begin with."""

from __future__ import annotations

import click

from training.config import preset_names, preset_text


@click.command()
@click.argument("preset", required=False)
def config(preset: str | None) -> None:
    """Print a preset, every setting with its words; without PRESET, the presets' names.

    \b
    Examples:
      train config
      train config tiny > my.yaml
    """
    click.echo("\n".join(preset_names()) if preset is None else preset_text(preset).rstrip())
