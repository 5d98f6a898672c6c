"""Linux process settings: who may read a process's memory and signal others, and termination with the parent.

No effect elsewhere: macOS has none of them.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import struct
import sys
from pathlib import Path

_PDEATHSIG, _SET_DUMPABLE, _CHILD_SUBREAPER, _NO_NEW_PRIVS = 1, 4, 36, 38  # of prctl(2)
_CREATE_RULESET, _RESTRICT_SELF = 444, 446  # Landlock's system calls, the same on all architectures
#: The only right that is taken from a confined process where Landlock cannot limit signals alone: making block devices.
_MAKE_BLOCK = 1 << 11
_SCOPE_SIGNAL = 1 << 1
#: Landlock's version from which it can limit signals (Linux 6.12).
_SCOPES_SINCE = 6


def close_to_others() -> None:
    """Close this process's memory and descriptors to others of the same user (ptrace, /proc/PID/mem, /proc/PID/fd).

    Children by `fork` inherit this, programs started by `exec` do not. Root and CAP_SYS_PTRACE bypass it.
    """
    _prctl(_SET_DUMPABLE, 0)


def confine() -> bool:
    """Keep this process and all that it starts from tracing, reading and signalling processes other than these.

    By Landlock, from Linux 5.13 (signals: from 6.12); it holds for root as well, and cannot be taken back. Call it before
    threads are started: those that run already stay free. Set-user-ID programs gain nothing
    any more. Returns whether the kernel does it.
    """
    if sys.platform != "linux":
        return False
    try:
        libc = ctypes.CDLL(None)
        version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
        if version < 1:
            return False
        # struct landlock_ruleset_attr: handled_access_fs, handled_access_net, scoped
        scoped = version >= _SCOPES_SINCE
        attributes = struct.pack("=QQQ", 0 if scoped else _MAKE_BLOCK, 0, _SCOPE_SIGNAL if scoped else 0)
        size = len(attributes) if scoped else 8
        ruleset = libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
        if ruleset < 0:
            return False
        try:
            _prctl(_NO_NEW_PRIVS, 1)
            return bool(libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0)
        finally:
            os.close(ruleset)
    except (OSError, AttributeError):
        return False


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
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))
