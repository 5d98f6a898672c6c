"""`train base`: from datasets to a player."""

from __future__ import annotations

from pathlib import Path

import click

from training.commands.running import run_training
from training.config import read_config


@click.command()
@click.argument("config", type=click.Path(path_type=Path, dir_okay=False))
def base(config: Path) -> None:
    """Train a network as the YAML file CONFIG says; what is there already goes on.

    Whatever ended a run, SIGKILL included, the same command goes on from its last checkpoint. Several GPUs:
    `accelerate launch -m training.cli base CONFIG`.

    \b
    Examples:
      train config tiny > my.yaml
      train base my.yaml
      arena evaluate policy:runs/tiny@best heuristic:expert
    """
    run_training(read_config(config))
