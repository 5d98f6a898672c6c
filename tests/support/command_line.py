"""The command line as tests use it: as a process of its own, its output, and the processes it leaves."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
PROJECT = TESTS.parent
#: Where the agents of the tests lie, for the worker processes.
PLAYERS = TESTS / "support" / "players"
#: The packages that hold the console scripts.
_SCRIPTS = {"arena": "arena.cli", "train": "training.cli"}


@dataclass(frozen=True)
class Said:
    """What a command wrote, and its exit code."""

    code: int
    out: str
    err: str


def wait(until: Callable[[], Any], seconds: float = 120.0) -> Any:
    """What `until` says once it says something true; AssertionError if it does not within so many seconds.

    A look that takes long is repeated less often: the cores are for what is waited for.
    """
    deadline = time.monotonic() + seconds
    while (began := time.monotonic()) < deadline:
        if found := until():
            return found
        time.sleep(max(0.02, 4 * (time.monotonic() - began)))
    raise AssertionError("what was waited for did not come")


def one_worker(words: tuple[Any, ...]) -> list[str]:
    """Its words, with `--workers 1` where it plays and they name no number: a second worker takes seconds to start."""
    found = [str(word) for word in words]
    plays = found[:1] in (["evaluate"], ["match"]) and "--help" not in found
    return [*found, "--workers", "1"] if plays and "--workers" not in found else found


def start_arena(
    *words: Any, cwd: Path | None = None, program: str = "arena", **environment: str
) -> subprocess.Popen[str]:
    """The command line as a process of its own. program: "arena" or "train", whatever folder it was installed to."""
    return subprocess.Popen(
        [sys.executable, "-P", "-c", f"from {_SCRIPTS[program]} import main; main()", *one_worker(words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**os.environ, **environment},
    )


def run_arena(
    *words: Any, cwd: Path | None = None, timeout: float = 240, program: str = "arena", **environment: str
) -> Said:
    """The command line as a process of its own, to its end."""
    with start_arena(*words, cwd=cwd, program=program, **environment) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        finally:
            process.kill()
    return Said(process.returncode, out, err)


def is_running(pid: int) -> bool:
    """Whether a process is there and has not ended. A zombie has: whoever adopted it reaps it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):  # the second: it ended between opening the file and reading it
        return False


def processes(mark: str, word: str = "") -> list[int]:
    """The living processes that were started, directly or not, with `mark` in their environment."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if mark.encode() in (folder / "environ").read_bytes() and word in (folder / "cmdline").read_text():
                    found.append(int(folder.name))
    return found
