"""Runs `train` in the project's environment, whichever Python a script was started with. Standard library only."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

#: Set for the process that is started anew, so that it happens once.
_STARTED = "ARENA_IN_ENVIRONMENT"


def train(command: str) -> None:
    """`train COMMAND ...` with this process's arguments: here, or with .venv/bin/python of the project.

    Exits with 2 and a line that says what to do where neither has the packages.
    """
    if all(importlib.util.find_spec(name) is not None for name in ("training", "click", "pydantic", "duckdb")):
        from training.cli import main

        sys.argv = ["train", command, *sys.argv[1:]]
        main()
        return
    python = Path(__file__).resolve().parents[1] / ".venv" / "bin" / "python"
    if not python.exists() or os.environ.get(_STARTED):
        print(
            f"{Path(sys.argv[0]).name}: the project's packages are not installed: run `make training`", file=sys.stderr
        )
        sys.exit(2)
    os.environ[_STARTED] = "1"
    os.execv(python, [str(python), *sys.argv])
