"""Runs a training from a command: checks the installed packages and prints the closing lines."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click
import yaml

from arena.report.numbers import counted
from teamsets.atomic import write_atomic
from teamsets.errors import MissingTool
from training.offline.config import Config
from training.runs.distributed.launch import launch
from training.runs.distributed.rank import Rank, rank_of, world_size

if TYPE_CHECKING:
    from training.offline.trainer import FinishedRun

#: Seconds between two lines of progress.
_SHOWN_EVERY = 10


def need_packages() -> None:
    """Raise MissingTool if a package that training needs is not installed."""
    if any(importlib.util.find_spec(name) is None for name in ("torch", "accelerate")):
        raise MissingTool(
            "torch or accelerate is not installed: `make training` installs them (from a wheel: "
            "pip install 'battle-arena[training]'); see docs/install.md for sizes"
        )


def progress_of_battles() -> Callable[[int, int], None]:
    """Return what `play_pairs` calls with the battles that have ended, of how many: it prints a line every ten seconds."""
    first: tuple[float, int] | None = None
    shown = 0.0

    def show(ended: int, total: int) -> None:
        nonlocal first, shown
        now = time.monotonic()
        if first is None:
            first, shown = (now, ended), now
        elif now - shown >= _SHOWN_EVERY:
            shown = now
            left = (now - first[0]) / (ended - first[1]) * (total - ended)
            print(f"{ended:,} of {counted(total, 'battle')}, {left:,.0f} s left", file=sys.stderr)

    return show


def run_training(config: Config, processes: int = 1) -> None:
    """Train to the last step and print the resulting agent spec. Raises what `training.offline.trainer.train` raises.

    processes: more than one: start so many on this machine, and exit with 1 after printing which one failed first.
    """
    need_packages()
    if processes > 1 and world_size() == 1:
        _launch(config, processes)
        return
    print(f"{config.name}: loading torch ...", file=sys.stderr)
    with rank_of(Path(config.out), config.compute.collective_timeout) as rank:
        finished = _train(config, rank)
    if finished is not None:
        from training.runs.curves import FILE as CURVES

        best = finished.best
        suffix = "" if best is None else f"; best checkpoint: step {best['step']} ({best['by']}: {best['value']:.4g})"
        print(f"{finished.folder}: finished {finished.step} steps{suffix}", file=sys.stderr)
        if (finished.folder / CURVES).exists():
            print(f"curves: {finished.folder}/{CURVES}", file=sys.stderr)
        print(f"agent: policy:{finished.folder}@{'last' if best is None else 'best'}", file=sys.stderr)


def _train(config: Config, rank: Rank) -> FinishedRun | None:
    from torch.distributed.elastic.multiprocessing.errors import record

    from training.offline.trainer import train

    # Without `record` a process that fails under `accelerate launch` leaves no traceback in its summary.
    return record(train)(config, rank)


def _launch(config: Config, processes: int) -> None:
    settings = Path(config.out) / "ranks" / "config.yaml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(settings, yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False))
    code = launch(["base", str(settings)], Path(config.out), processes)
    if code:
        raise click.exceptions.Exit(code)
