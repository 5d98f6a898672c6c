"""`train online`: trains a network by playing."""

from __future__ import annotations

import sys

import click

from arena.report.numbers import counted
from training.commands.configuring import config_argument, set_option
from training.commands.running import need_packages
from training.online.config import OnlineConfig
from training.runs.config_reader import load
from training.runs.settings import Change
from training.runs.shipped import resolve_path


@click.command()
@config_argument()
@set_option
def online(config: str, changes: tuple[Change, ...]) -> None:
    """Train a network by playing, by a YAML file.

    CONFIG: the file, or a preset's name. An existing run is resumed.

    CONFIG is a file or the name of an algorithm's example: ppo, ddqn, iac, maac, magrpo, expert_iteration. The same
    command resumes an interrupted run (also after SIGKILL) from its last checkpoint.

    \b
    Examples:
      train online ppo
      train config ppo > my.yaml
      train online my.yaml
      train online my.yaml --set out=runs/slow --set iterations=500
      arena evaluate policy:runs/ppo heuristic:expert
    """
    settings = load(OnlineConfig, resolve_path(config, "online"), changes)
    need_packages()
    print(f"{settings.name}: loading torch ...", file=sys.stderr)
    from training.online.rules import trainer_class
    from training.online.run import train_online
    from training.runs.curves import FILE as CURVES

    folder = train_online(settings, trainer_class(settings.algorithm.name))
    steps = folder.steps()
    print(f"{folder.path}: finished {counted(steps[-1], 'iteration')}", file=sys.stderr)
    if (folder.path / CURVES).exists():
        print(f"curves: {folder.path}/{CURVES}", file=sys.stderr)
    print(f"agent: policy:{folder.path}@{'last' if folder.best is None else 'best'}", file=sys.stderr)
