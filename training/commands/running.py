"""Runs a training from a command: checks the installed packages and prints the closing lines."""

from __future__ import annotations

import importlib.util
import sys

from teamsets.errors import MissingTool
from training.config import Config


def need_packages() -> None:
    """Raise MissingTool if a package that training needs is not installed."""
    if any(importlib.util.find_spec(name) is None for name in ("torch", "accelerate", "wandb")):
        raise MissingTool(
            "torch, accelerate or wandb is not installed: `make training` installs them (from a wheel: "
            "pip install 'battle-arena[training]'); see docs/install.md for sizes"
        )


def run_training(config: Config) -> None:
    """Train to the last step and print the resulting agent spec. Raises what `training.trainer.train` raises."""
    need_packages()
    print(f"{config.name}: loading torch ...", file=sys.stderr)
    from torch.distributed.elastic.multiprocessing.errors import record

    from training.curves import FILE as CURVES
    from training.trainer import train

    # Without `record` a process that fails under `accelerate launch` leaves no traceback in its summary.
    finished = record(train)(config)
    if finished is not None:
        best = finished.best
        suffix = "" if best is None else f"; best checkpoint: step {best['step']} ({best['by']}: {best['value']:.4g})"
        print(f"{finished.folder}: finished {finished.step} steps{suffix}", file=sys.stderr)
        print(f"curves: {finished.folder}/{CURVES}", file=sys.stderr)
        print(f"agent: policy:{finished.folder}@{'last' if best is None else 'best'}", file=sys.stderr)
