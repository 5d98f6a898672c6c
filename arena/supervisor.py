"""A process supervisor: when a process ends, everything that it has started is killed.

Two ways. `python supervisor.py LOG COMMAND...` runs a program of other people: it gets a process group of its own, whose
number is our one line of output; what it prints goes to the file LOG. When it ends, or our stdin is closed (our owner ended
us, or is gone, however that came), everything that it has started is killed, what left its group included. Our exit status
is the program's; 128 and the signal's number when a signal ended it.

`supervise_rest()` keeps what runs after it in the same program: a worker with the agents in it.

Linux: what is kept dies with the supervisor, too. Elsewhere what has left the group of a kept process is not found.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

# From Linux's prctl.h: get a signal when the parent dies; be the parent of orphaned descendants.
_SIGNAL_AT_PARENTS_DEATH, _ADOPT_ORPHANS = 1, 36
#: How long what a kept process has started may take to end by itself once that is dead, in seconds: a host or a server
#: sees its input closed, and a server still clears its folder away.
LEAVE_SECONDS = 3.0
_LOOK_SECONDS = 0.02
#: Servers that a worker starts and that serve other workers and runs, too; they end when their last client has gone.
_SHARED = b"agents.policy.serve"


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(OSError, AttributeError):  # Linux alone has it
        ctypes.CDLL(None).prctl(option, value)


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _children() -> list[int]:
    """Living processes whose parent we are, or have become, without the shared servers."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent = stat.read_text(errors="replace").rpartition(")")[2].split()[:2]
            if int(parent) == os.getpid() and state not in "ZX":
                words = (stat.parent / "cmdline").read_bytes().split(b"\0")
                if _SHARED not in words:
                    found.append(int(stat.parent.name))
    return found


def _end_orphans(patience: float) -> None:
    """Kills what is left after `patience` seconds, and what that leaves in turn, until nothing is."""
    deadline = time.monotonic() + patience
    while children := _children():
        if time.monotonic() >= deadline:
            for child in children:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue
        time.sleep(_LOOK_SECONDS)


def supervise_rest() -> None:
    """Forks. Returns in a new process with a session of its own; the old one keeps that, and ends when it has ended.

    The supervisor's exit status is that of what it keeps (128 and the number for a signal). SIGTERM, or the death of its
    parent, has it kill everything. To be called first of all: the supervisor holds in memory what was imported by then.
    """
    parent, supervisor, kept = os.getppid(), os.getpid(), 0

    def end_kept(*_: Any) -> None:
        if kept:
            os.kill(kept, signal.SIGKILL)

    _prctl(_ADOPT_ORPHANS, 1)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])  # until it is known whom to kill
    signal.signal(signal.SIGTERM, end_kept)
    _prctl(_SIGNAL_AT_PARENTS_DEATH, signal.SIGTERM)
    kept = os.fork()
    if kept == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        _prctl(_SIGNAL_AT_PARENTS_DEATH, signal.SIGKILL)
        if os.getppid() != supervisor:
            os._exit(1)
        return
    # Its pipes are the kept one's alone: who reads them must see them end with it.
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.closerange(3, 256)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    if os.getppid() != parent:
        end_kept()
    ended = status = 0
    while ended != kept:
        ended, status = os.waitpid(-1, 0)
    _end(kept)
    _end_orphans(LEAVE_SECONDS)
    code = os.waitstatus_to_exitcode(status)
    os._exit(128 - code if code < 0 else code)


def main() -> int:
    """Runs a program. Returns the status to exit with."""
    _prctl(_ADOPT_ORPHANS, 1)
    log = open(sys.argv[1], "ab")  # noqa: SIM115 (open until we end)
    try:
        program = subprocess.Popen(
            sys.argv[2:],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=lambda: _prctl(_SIGNAL_AT_PARENTS_DEATH, signal.SIGKILL),
        )
    except OSError as error:
        log.write(f"{sys.argv[2]}: {error.strerror}\n".encode())
        log.flush()
        return 127
    print(program.pid, flush=True)

    def end_with_owner() -> None:
        while os.read(0, 4096):
            pass
        _end(program.pid)

    threading.Thread(target=end_with_owner, daemon=True).start()
    status = program.wait()
    _end(program.pid)
    _end_orphans(0.0)
    return 128 - status if status < 0 else status


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # the thread that reads our stdin may still be in it
