#!/usr/bin/env python3
"""What does a change of a setting do? Trains every variant with every seed and compares them on the same held-out battles.

    python scripts/ablate.py scripts/ablations/data.yaml --dry-run
    python scripts/ablate.py scripts/ablations/data.yaml

It ends in a table with intervals, a plot, and the sentence that the data supports, all in the ablation's folder, too.
Whatever ended it, the same command goes on. docs/ablations.md tells the rest.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import click
from rich.console import Console

from arena.commands.group import run
from arena.commands.playing import say
from teamsets.errors import MissingTool
from training.ablation.config import read_ablation


@click.command(help=__doc__)
@click.argument("config", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--dry-run", is_flag=True, help="Print the cells, their sizes and what is equal; build and train nothing."
)
def ablate(config: Path, dry_run: bool) -> None:
    ablation = read_ablation(config)
    if any(importlib.util.find_spec(name) is None for name in ("torch", "accelerate", "wandb")):
        raise MissingTool("torch, accelerate or wandb is not installed: `make training` installs them")
    from training.ablation.report import print_plan, print_results, write
    from training.ablation.results import results
    from training.ablation.run import held, planned, run_cells

    out, err = Console(), Console(stderr=True)
    if dry_run:
        print_plan(out, ablation, planned(ablation, make=False))
        return
    with held(ablation):
        plan = planned(ablation, make=True)
        print_plan(err, ablation, plan)
        told = results(ablation, run_cells(ablation, plan, lambda words: say(err, words)))
        files = write(Path(ablation.out), told)
    print_results(out, told)
    say(err, f"written: {', '.join(map(str, files))}")


if __name__ == "__main__":
    run(ablate, "ablate")
