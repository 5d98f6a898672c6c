"""`train population`: population based training over settings of `train online`."""

from __future__ import annotations

import click

from arena.terminal.commands import say
from arena.terminal.console import Console
from training.commands.configuring import cells_on_option, config_argument, set_option
from training.commands.running import need_packages
from training.runs.settings import Change
from training.runs.shipped import resolve_path


@click.command()
@config_argument()
@set_option
@cells_on_option
def population(config: str, changes: tuple[Change, ...], on: str | None) -> None:
    """Train several runs side by side; the strongest are copied.

    After each round the weakest take over weights and settings of the strongest.

    CONFIG is a YAML file or the name of a shipped population: gen1ou. The same command resumes. See docs/online.md.

    \b
    Examples:
      train config --population gen1ou > my.yaml
      train population my.yaml
      train population my.yaml --on ray
    """
    from training.experiments.population.config import Population
    from training.runs.config_reader import load

    settings = load(Population, resolve_path(config, "population"), changes)
    need_packages()
    from training.experiments.population.loop import run_population
    from training.machines.cluster.scheduling import cluster_of

    err = Console(stderr=True)
    with cluster_of(on, lambda line: say(err, line)) as several:
        rounds = run_population(settings, lambda line: say(err, line), on_cluster=several)
    best = max(rounds[-1]["members"], key=lambda member: float(member["rating"]))
    say(err, f"the strongest: policy:{best['checkpoint']} (Elo {best['rating']:.0f})")
