"""`train dpo`: trains a network on pairs of a better and a worse action."""

from __future__ import annotations

import click

from training.commands.configuring import config_argument, set_option
from training.commands.running import run_training
from training.offline.config import Config
from training.runs.config_reader import BadConfig, load
from training.runs.settings import Change
from training.runs.shipped import resolve_path


@click.command()
@config_argument()
@set_option
def dpo(config: str, changes: tuple[Change, ...]) -> None:
    """Train a network on preferences, by a YAML file.

    CONFIG: the file, or a preset's name. An existing run is resumed.

    CONFIG is a file or the name of a preset (`dpo`). The pairs are those of `train preferences build`; see
    docs/preferences.md. The same command resumes an interrupted run (also after SIGKILL) from its last checkpoint.

    \b
    Examples:
      train preferences build --where "format = 'gen1ou'" --out data/preferences
      train config dpo > my.yaml
      train dpo my.yaml
      train dpo my.yaml --set algorithm.beta=0.3 --set out=runs/closer
    """
    settings = load(Config, resolve_path(config, "preset", suggested=["dpo"]), changes)
    if settings.algorithm.name != "dpo":
        raise BadConfig(f"{config}: algorithm.name: {settings.algorithm.name}, not dpo: use `train base {config}`")
    run_training(settings)
