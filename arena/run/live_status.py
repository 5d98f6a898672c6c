"""The live status of a run: `FILE.live` beside its database, JSON, replaced every two seconds.

The dashboard (arena/dashboard) reads from it what the database does not have: the speed of this invocation, the remark of
the schedule, and which machines play. The file is deleted at the end. One that a killed run leaves is ignored: its process
is gone.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from arena.workers.progress import RunProgress
from teamsets.atomic import write_atomic
from teamsets.locking import holder

EVERY_SECONDS = 2.0
#: A file that nobody has replaced for so long is of a process that hangs or was stopped.
STALE_SECONDS = 30.0


def path_of(db: Path) -> Path:
    """The status file of a database."""
    return Path(f"{db}.live")


class LiveStatus:
    """Writes the status of one run. seconds: its time limit, if it has one."""

    def __init__(self, db: Path, run_id: str, seconds: float | None) -> None:
        self._path, self._run_id, self._seconds = path_of(db), run_id, seconds
        self._next = 0.0

    def show(self, progress: RunProgress) -> None:
        """Replaces the file, at most every EVERY_SECONDS."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + EVERY_SECONDS
        remaining = None if self._seconds is None else max(0.0, self._seconds - progress.seconds)
        status = {
            "run": self._run_id,
            "pid": os.getpid(),
            "done": progress.done,
            "total": progress.total,
            "played": progress.played,
            "speed": round(progress.speed, 3),
            "limit_left": remaining,
            "faults": progress.faults.total(),
            "aborted": progress.aborted,
            "moved": progress.moved.total(),
            "remark": progress.remark,
            "nodes": _machines(progress),
        }
        with contextlib.suppress(OSError):  # a full disk ends the run where a battle is lost by it, not here
            write_atomic(self._path, orjson.dumps(status))


def _machines(progress: RunProgress) -> dict[str, str]:
    """Return machine -> a description of what it does; this machine if there is no cluster."""
    if not progress.nodes:
        return {socket.gethostname(): "plays all battles"}
    return {
        name: f"{workers} worker{'s' * (workers != 1)}, {played:,} battles"
        for name, (workers, played) in progress.nodes.items()
    }


@contextmanager
def live_status(db: Path, run_id: str, seconds: float | None) -> Iterator[LiveStatus]:
    """The status of a run while it is played; its file is deleted at the end."""
    try:
        yield LiveStatus(db, run_id, seconds)
    finally:
        path_of(db).unlink(missing_ok=True)


def read_status(db: Path) -> dict[str, Any] | None:
    """The status of the run that is being played into the database; None if there is none, or it does not say."""
    path = path_of(db)
    try:
        status = orjson.loads(path.read_bytes())
        age = time.time() - path.stat().st_mtime
    except (OSError, orjson.JSONDecodeError):
        return None
    return status if age < STALE_SECONDS and _lives(str(status.get("pid"))) else None


def is_being_written(db: Path) -> bool:
    """Whether a process holds the database for a run. It only looks: taking the lock could keep a run from starting."""
    return _lives(holder(Path(f"{db}.lock")))


def _lives(pid: str) -> bool:
    """Whether a process of that id exists."""
    try:
        os.kill(int(pid), 0)
    except (ValueError, ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # another user's
        return True
    return True
