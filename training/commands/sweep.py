"""`train sweep`: searches settings of a training run with Optuna."""

from __future__ import annotations

from pathlib import Path

import click

from arena.terminal.commands import json_option, print_json, say
from arena.terminal.console import Console
from training.commands.configuring import cells_on_option, config_argument, set_option
from training.commands.running import need_packages
from training.runs.settings import Change
from training.runs.shipped import resolve_path


@click.command()
@config_argument()
@set_option
@cells_on_option
@click.option("--dry-run", is_flag=True, help="Print what is tried and what it takes; train nothing.")
@json_option
def sweep(config: str, changes: tuple[Change, ...], on: str | None, dry_run: bool, as_json: bool) -> None:
    """Search settings of a training run, by Elo in paired battles.

    Optuna draws settings, each trial is trained, and its checkpoint meets the same opponents with the same teams and seeds.

    CONFIG is a YAML file or the name of a shipped sweep: ppo. At the end the best trial is measured anew, on seeds that
    chose nothing. The results are printed and written to the sweep's folder. The same command resumes an interrupted sweep.
    It needs Optuna: pip install 'battle-arena[sweep]'. See docs/sweeps.md.

    \b
    Examples:
      train config --sweep ppo > my.yaml
      train sweep my.yaml --dry-run
      train sweep my.yaml
      train sweep my.yaml --set trials=40
      train sweep my.yaml --on ray
    """
    from training.experiments.sweep.config import Sweep
    from training.runs.config_reader import load

    settings = load(Sweep, resolve_path(config, "sweep"), changes)
    from training.experiments.sweep.report import print_plan, print_results, write

    out, err = Console(), Console(stderr=True)
    if dry_run:
        print_plan(out, settings)
        return
    need_packages()
    from training.experiments.sweep.study import need_optuna

    need_optuna()
    from training.experiments.sweep.loop import run_sweep
    from training.experiments.sweep.trainers import ClusterTrainers, LocalTrainers
    from training.machines.cluster.scheduling import cluster_of

    print_plan(err, settings)
    with cluster_of(on, lambda line: say(err, line)) as several:
        trainers = ClusterTrainers(lambda line: say(err, line)) if several else LocalTrainers()
        results = run_sweep(settings, trainers, lambda line: say(err, line))
    files = write(Path(settings.out), results)
    if as_json:
        print_json(results)
    else:
        print_results(out, results)
    say(err, f"written: {', '.join(map(str, files))}")
