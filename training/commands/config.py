"""`train config`: prints a complete configuration to start from."""

from __future__ import annotations

import click

from training.commands.configuring import set_option
from training.offline.config import Config
from training.runs.config_reader import Section, load
from training.runs.settings import Change, in_text
from training.runs.shipped import Kind, names, resolve_path

#: Kinds whose presets are found by their names alone.
_BY_NAME: tuple[Kind, ...] = ("preset", "online", "llm")


@click.command()
@click.argument("preset", required=False)
@click.option("--curriculum", "kind", flag_value="curriculum", help="Print a shipped curriculum instead of a preset.")
@click.option("--ablation", "kind", flag_value="ablation", help="Print a shipped ablation instead of a preset.")
@click.option("--population", "kind", flag_value="population", help="Print a shipped population instead of a preset.")
@click.option("--sweep", "kind", flag_value="sweep", help="Print a shipped sweep instead of a preset.")
@set_option
def config(preset: str | None, kind: Kind | None, changes: tuple[Change, ...]) -> None:
    """Print a preset with a comment on every setting.

    Without PRESET, list the presets.

    Those of online training have the names of their algorithms; that of language models is llm-dpo.

    \b
    Examples:
      train config
      train config tiny > my.yaml
      train config ppo > my.yaml
      train config tiny --set length.epochs=3 --set out=runs/short > my.yaml
      train config --curriculum gen1ou-cpu > mine.yaml
    """
    kinds = (kind,) if kind else _BY_NAME
    if preset is None:
        click.echo("\n".join(name for each in kinds for name in names(each)))
        return
    path = resolve_path(preset, *kinds)
    if changes:  # what is shipped is valid
        load(_model(next((each for each in kinds if preset in names(each)), kinds[0])), path, changes)
    click.echo(in_text(path.read_text(encoding="utf-8"), changes).rstrip())


def _model(kind: Kind) -> type[Section]:
    """The kind's configuration, which refuses an invalid file or change as the command that takes it would."""
    if kind == "preset":
        return Config
    if kind == "curriculum":
        from training.experiments.curriculum.config import Curriculum

        return Curriculum
    if kind == "online":
        from training.online.config import OnlineConfig

        return OnlineConfig
    if kind == "llm":
        from training.llm.config import LlmConfig

        return LlmConfig
    if kind == "population":
        from training.experiments.population.config import Population

        return Population
    if kind == "sweep":
        from training.experiments.sweep.config import Sweep

        return Sweep
    from training.experiments.ablation.config import Ablation

    return Ablation
