"""A training run in a process of its own, which ends with the process that has started it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import yaml

from teamsets.atomic import write_atomic
from teamsets.errors import ArenaError
from training.runs.common_settings import RunConfig

#: `train`, which the kernel kills when its parent dies: an orphan would hold the run's folder when the parent is resumed.
_PROGRAM = (
    "import sys; from teamsets.processes import die_with; die_with(int(sys.argv.pop(1))); "
    "from training.cli import main; main()"
)
#: So many of the last lines of a run that failed are reported.
_LAST_LINES = 3


def train_arguments(command: str, settings: str) -> list[str]:
    """Return the program and arguments of `train COMMAND SETTINGS`, to be started by this process. settings: a file."""
    return [sys.executable, "-c", _PROGRAM, str(os.getpid()), command, settings]


def write_run(config: RunConfig) -> Path:
    """Write the settings of a run beside its folder, as FOLDER.yaml, and return that file."""
    settings = Path(config.out).with_suffix(".yaml")
    settings.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(settings, yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False))
    return settings


def last_words(log: Path, code: int) -> str:
    """Return why a run ended with this exit code, on one line: the last lines of what it printed; "" for code 0."""
    if not code:
        return ""
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    return "; ".join(lines[-_LAST_LINES:]) or f"exit code {code}"


def train_in_process(config: RunConfig) -> Path:
    """Train or resume a run of online training and return its folder.

    Its peak memory is the run's alone, and it may end by any fault. Raises ArenaError; what went wrong was printed.
    """
    folder = Path(config.out)
    done = subprocess.run(train_arguments("online", str(write_run(config))), check=False)
    if done.returncode:
        raise ArenaError(f"{folder}: the run has failed: fix what is named above, and run the same command again")
    return folder
