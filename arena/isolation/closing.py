"""Linux process settings: no access for other processes, and termination with the parent. No effect elsewhere."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from pathlib import Path

_PDEATHSIG, _SET_DUMPABLE, _CHILD_SUBREAPER = 1, 4, 36  # of prctl(2)


def close_to_others() -> None:
    """Close this process's memory and descriptors to others of the same user (ptrace, /proc/PID/mem, /proc/PID/fd).

    Children by `fork` inherit this, programs started by `exec` do not. Root and CAP_SYS_PTRACE bypass it.
    """
    _prctl(_SET_DUMPABLE, 0)


def die_with(parent: int) -> None:
    """Request SIGKILL when the parent dies. parent: its process id; it may have ended already."""
    _prctl(_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def adopt_orphans() -> None:
    """Make this process the parent of orphaned descendants."""
    _prctl(_CHILD_SUBREAPER, 1)


def children() -> set[int]:
    """Return the process ids of this process's children, including adopted ones; empty without /proc."""
    try:
        return set(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()))
    except OSError:
        return set()


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").prctl(option, value)
