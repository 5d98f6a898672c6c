"""`train config`: prints a complete configuration to start from."""

from __future__ import annotations

from pathlib import Path

import click

from training.commands.configuring import set_option
from training.offline.config import Section, present_changes, read_config
from training.runs.settings import Change, in_text
from training.runs.shipped import Kind, located, names

#: Kinds whose presets are found by their names alone.
_BY_NAME: tuple[Kind, ...] = ("online", "llm")


@click.command()
@click.argument("preset", required=False)
@click.option("--curriculum", "kind", flag_value="curriculum", help="Print a shipped curriculum instead of a preset.")
@click.option("--ablation", "kind", flag_value="ablation", help="Print a shipped ablation instead of a preset.")
@click.option("--population", "kind", flag_value="population", help="Print a shipped population instead of a preset.")
@set_option
def config(preset: str | None, kind: Kind | None, changes: tuple[Change, ...]) -> None:
    """Print a preset with a comment on every setting; without PRESET, list the presets.

    Those of online training have the names of their algorithms; that of language models is llm-dpo.

    \b
    Examples:
      train config
      train config tiny > my.yaml
      train config ppo > my.yaml
      train config tiny --set length.epochs=3 --set out=runs/short > my.yaml
      train config --curriculum gen1ou-cpu > mine.yaml
    """
    if preset is None:
        listed = names(kind) if kind else [*names("preset"), *names("online"), *names("llm")]
        click.echo("\n".join(listed))
        return
    by_name: list[Kind] = [each for each in _BY_NAME if preset in names(each)]
    asked = kind or (by_name[0] if by_name else "preset")
    path = located(preset, asked)
    model = type(_checked(asked, path, changes))
    click.echo(in_text(path.read_text(encoding="utf-8"), present_changes(model, changes)).rstrip())


def _checked(kind: Kind, path: Path, changes: tuple[Change, ...]) -> Section:
    """The configuration. Raises BadInput if the file or a change is invalid for the command that takes it."""
    if kind == "preset":
        return read_config(path, changes)
    if kind == "curriculum":
        from training.experiments.curriculum.config import read_curriculum

        return read_curriculum(path, changes)
    if kind == "online":
        from training.online.config import read_online

        return read_online(path, changes)
    if kind == "llm":
        from training.llm.config import read_llm

        return read_llm(path, changes)
    if kind == "population":
        from training.experiments.population.config import read_population

        return read_population(path, changes)
    from training.experiments.ablation.config import read_ablation

    return read_ablation(path, changes)
