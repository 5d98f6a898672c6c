"""Linux process settings: no access for other processes, and termination with the parent. No effect elsewhere."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from pathlib import Path

_PDEATHSIG, _SET_DUMPABLE, _CHILD_SUBREAPER = 1, 4, 36  # of prctl(2)


def close_to_others() -> None:
    """Closes this process's memory and descriptors to others of the same user (ptrace, /proc/PID/mem, /proc/PID/fd).

    Children of `fork` inherit it, programs started by `exec` do not. Root, and whoever has CAP_SYS_PTRACE, gets past it.
    """
    _prctl(_SET_DUMPABLE, 0)


def die_with(parent: int) -> None:
    """Asks the kernel for SIGKILL when the parent dies. parent: its process id, which may have ended already."""
    _prctl(_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def adopt_orphans() -> None:
    """Makes this process the parent of all that its children start and leave behind."""
    _prctl(_CHILD_SUBREAPER, 1)


def children() -> set[int]:
    """The process ids of this process's children, those that it has adopted included; none where /proc does not say."""
    try:
        return set(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()))
    except OSError:
        return set()


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").prctl(option, value)
