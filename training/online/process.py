"""A run of online training in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml

from teamsets.atomic import write_atomic
from teamsets.errors import ArenaError
from training.online.config import OnlineConfig


def train_in_process(config: OnlineConfig) -> Path:
    """Train or resume a run and return its folder. Its settings are written beside it, as FOLDER.yaml.

    Its peak memory is the run's alone, and it may end by any fault. Raises ArenaError; what went wrong was printed.
    """
    folder = Path(config.out)
    settings = folder.with_suffix(".yaml")
    settings.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(settings, yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False))
    done = subprocess.run([sys.executable, "-m", "training.cli", "online", str(settings)], check=False)
    if done.returncode:
        raise ArenaError(f"{folder}: the run has failed: fix what is named above, and run the same command again")
    return folder
