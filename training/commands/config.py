"""`train config`: a whole configuration to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from training.commands.configuring import set_option
from training.config import read_config
from training.settings import Change, in_text
from training.shipped import Kind, located, names


@click.command()
@click.argument("preset", required=False)
@click.option("--curriculum", "kind", flag_value="curriculum", help="A shipped curriculum instead of a preset.")
@click.option("--ablation", "kind", flag_value="ablation", help="A shipped ablation instead of a preset.")
@set_option
def config(preset: str | None, kind: Kind | None, changes: tuple[Change, ...]) -> None:
    """Print a preset, every setting with a comment; without PRESET, the presets' names.

    \b
    Examples:
      train config
      train config tiny > my.yaml
      train config tiny --set length.epochs=3 --set out=runs/short > my.yaml
      train config --curriculum gen1ou-cpu > mine.yaml
    """
    kind = kind or "preset"
    if preset is None:
        click.echo("\n".join(names(kind)))
        return
    path = located(preset, kind)
    _check(kind, path, changes)
    click.echo(in_text(path.read_text(encoding="utf-8"), changes).rstrip())


def _check(kind: Kind, path: Path, changes: tuple[Change, ...]) -> None:
    """Raises BadInput for a file or a change that the command which takes it would refuse."""
    if kind == "preset":
        read_config(path, changes)
    elif kind == "curriculum":
        from training.curriculum.config import read_curriculum

        read_curriculum(path, changes)
    else:
        from training.ablation.config import read_ablation

        read_ablation(path, changes)
