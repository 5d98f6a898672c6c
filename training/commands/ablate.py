"""`train ablate`: trains variants of a configuration and compares them."""

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
@click.option(
    "--dry-run", is_flag=True, help="Print the cells, their sizes and what is held equal; build and train nothing."
)
@json_option
def ablate(config: str, changes: tuple[Change, ...], on: str | None, dry_run: bool, as_json: bool) -> None:
    """Compare variants of a training run, over several seeds.

    Every variant is trained with every seed, and all play the same held-out battles.

    CONFIG is a YAML file or the name of a shipped ablation: `train config --ablation` lists them. The results are a table
    with intervals, a plot and a one-sentence conclusion; all are also written to the ablation's folder. The same command
    resumes an interrupted ablation. See docs/ablations.md.

    \b
    Examples:
      train ablate data --dry-run
      train ablate data
      train ablate algorithms
      train ablate my.yaml --set evaluation.workers=8
      train ablate algorithms --on ray://head.example:10001
    """
    from training.experiments.ablation.config import Ablation
    from training.runs.config_reader import load

    ablation = load(Ablation, resolve_path(config, "ablation"), changes)
    need_packages()
    from training.experiments.ablation.costs import cells, print_costs, write_costs
    from training.experiments.ablation.report import print_plan, print_results, write
    from training.experiments.ablation.results import results
    from training.experiments.ablation.run import held, planned, run_cells
    from training.machines.cluster.scheduling import cluster_of, train_everywhere

    out, err = Console(), Console(stderr=True)
    if dry_run:
        print_plan(out, ablation, planned(ablation, make=False))
        return
    with held(ablation):
        plan = planned(ablation, make=True)
        print_plan(err, ablation, plan)
        with cluster_of(on, lambda line: say(err, line)) as several:
            if several:
                cells_there = [one.cells[seed] for seed in ablation.seeds for one in plan]
                train_everywhere(cells_there, lambda line: say(err, line))
            summary = results(ablation, run_cells(ablation, plan, lambda line: say(err, line)))
        files = write(Path(ablation.out), summary)
        rows = cells(ablation) if ablation.kind == "online" else []
        files += write_costs(ablation, rows) if rows else []
    if as_json:
        print_json(summary)
    else:
        print_results(out, summary)
        if rows:
            print_costs(out, rows)
    say(err, f"written: {', '.join(map(str, files))}")
