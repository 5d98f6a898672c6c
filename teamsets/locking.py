"""Locks between processes, on files: the one way in which this project keeps others out."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def file_lock(path: Path, *, wait: bool = True, remove: bool = False) -> Iterator[bool]:
    """Holds an exclusive lock (flock) on a file until left. Yields whether it does: False only where `wait` is False.

    wait: until whoever has the lock releases it; else the block runs without the lock, and must not use what it guards.
    The kernel releases the lock of a process that dies. While held, the file contains this process's id (see `holder`).
    The folder must exist; the file is created. remove: the file is deleted afterwards; every user of it must say so.
    Two locks in one process exclude each other, too. Raises OSError where the file cannot be opened or locked.
    """
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if _is_named(handle, path):
                break
        except BlockingIOError:
            os.close(handle)
            yield False
            return
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # the last holder has deleted it: this lock keeps nobody out
    try:
        os.ftruncate(handle, 0)
        os.write(handle, str(os.getpid()).encode())
        yield True
    finally:
        if remove:
            path.unlink(missing_ok=True)
        else:
            os.ftruncate(handle, 0)
        os.close(handle)


def holder(path: Path) -> str:
    """The id of the process that holds a lock file, for a message; "unknown" where it cannot be read."""
    try:
        return path.read_text(encoding="ascii").strip() or "unknown"
    except (OSError, ValueError):
        return "unknown"


def _is_named(handle: int, path: Path) -> bool:
    """Whether an open file is still the one of that name."""
    try:
        return os.fstat(handle).st_ino == path.stat().st_ino
    except FileNotFoundError:
        return False
