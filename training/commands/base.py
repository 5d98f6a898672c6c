"""`train base`: from datasets to a player."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import click

from teamsets.errors import MissingTool
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
    settings = read_config(config)
    if any(importlib.util.find_spec(name) is None for name in ("torch", "accelerate", "wandb")):
        raise MissingTool("torch, accelerate or wandb is not installed: `make training` installs them")
    from torch.distributed.elastic.multiprocessing.errors import record

    from training.trainer import train

    # Without `record` a process that fails under `accelerate launch` leaves no traceback in its summary.
    finished = record(train)(settings)
    if finished is not None:
        best = finished.best
        words = "" if best is None else f"; the best is step {best['step']} ({best['by']}: {best['value']:.4g})"
        print(f"{finished.folder}: {finished.step} steps done{words}", file=sys.stderr)
        print(f"it plays as policy:{finished.folder}@{'last' if best is None else 'best'}", file=sys.stderr)
