"""`train base`: trains a network on datasets."""

from __future__ import annotations

import click

from training.commands.configuring import config_argument, processes_option, set_option
from training.commands.running import run_training
from training.offline.config import Config
from training.runs.config_reader import load
from training.runs.settings import Change
from training.runs.shipped import resolve_path


@click.command()
@config_argument()
@set_option
@processes_option
def base(config: str, changes: tuple[Change, ...], processes: int) -> None:
    """Train a network on datasets, by a YAML file.

    CONFIG: the file, or a preset's name. An existing run is resumed.

    CONFIG is a file or the name of a preset (`train config` lists them). The same command resumes an interrupted run (also
    after SIGKILL) from its last checkpoint. With --processes N each process trains on a GPU, or on the CPU if there is none;
    if one fails, the last lines say which one failed first, where and why. Several machines: `accelerate launch -m
    training.cli base CONFIG`.

    \b
    Examples:
      train config tiny > my.yaml
      train base my.yaml
      train base my.yaml --processes 8
      train base my.yaml --set out=runs/slow --set optimizer.learning_rate=0.0003
      arena evaluate policy:runs/tiny@best heuristic:expert
    """
    run_training(load(Config, resolve_path(config, "preset"), changes), processes)
