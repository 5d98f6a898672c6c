"""Commands that setting up a program runs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from teamsets.errors import ArenaError

#: Arguments of a Python that install what follows.
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")


def run(command: list[str], variables: Mapping[str, str] | None = None) -> str:
    """Run a command and return its output. variables: its environment. Raises ArenaError if it fails or is not there."""
    shown = " ".join(command)[:200]
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env=variables
        )
    except FileNotFoundError:
        raise ArenaError(f"'{shown}': {command[0]} is not installed") from None
    if done.returncode:
        raise ArenaError(f"'{shown}' ended with {done.returncode}: {' '.join(done.stdout.split())[-600:]}")
    return done.stdout


@contextmanager
def new_environment(python: Path) -> Iterator[None]:
    """Create a virtual environment with this Python, to be filled in the block. Raises ArenaError.

    If the block fails or is interrupted, the environment is deleted: it would be taken for a complete one.
    """
    environment = python.parents[1]
    environment.parent.mkdir(parents=True, exist_ok=True)
    try:
        run([sys.executable, "-m", "venv", str(environment)])
        yield
    except BaseException:
        shutil.rmtree(environment, ignore_errors=True)
        raise
