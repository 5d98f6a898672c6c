"""A process supervisor: when a process ends, all processes that it has started are killed.

There are three uses. `python supervisor.py LOG COMMAND...` runs an external program in its own process group, and prints the
group's id as its only line of output; the program's output goes to the file LOG. When the program ends, or stdin is closed
(the owner closed it, or died), all processes that the program has started are killed, including those that left the group.
The exit status is the program's, or 128 plus the signal's number.

`supervise_rest()` supervises the rest of the calling program: a worker with its agents. `end_children_at_exit()` ends what a
command's own process has started, or agents whose code it has imported.

On Linux the supervised process also dies with the supervisor. Elsewhere, processes that left its group are not found.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

# From Linux's prctl.h: get a signal when the parent dies; be the parent of orphaned descendants.
_SIGNAL_AT_PARENTS_DEATH, _ADOPT_ORPHANS = 1, 36
#: Seconds that child processes have to end by themselves after the supervised process: a host or a server notices that its
#: input is closed, and a server removes its folder.
LEAVE_SECONDS = 3.0
#: The same where a command exits: those that are left are an agent's.
_EXIT_SECONDS = 1.0
#: Seconds between two looks at the child processes that are left: at first, doubled each time, and at most.
_FIRST_LOOK_SECONDS, _LOOK_SECONDS = 0.002, 0.02
#: Servers that a worker starts, but that also serve other workers and runs; they end after their last client.
SHARED = (b"agents.policy.serve", b"agents.llm.serve")
#: Python's own helpers, which end with the program and clean up after it.
_HELPERS = (b"multiprocessing.resource_tracker", b"multiprocessing.forkserver")


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(OSError, AttributeError):  # Linux only
        ctypes.CDLL(None).prctl(option, value)


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _children(spared: Collection[bytes]) -> list[int]:
    """Return the living child processes, adopted ones included, without those whose command line has one of these words."""
    children = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent = stat.read_text(errors="replace").rpartition(")")[2].split()[:2]
            if int(parent) == os.getpid() and state not in "ZX":
                command = (stat.parent / "cmdline").read_bytes()
                if not any(word in command for word in spared):
                    children.append(int(stat.parent.name))
    return children


def _end_orphans(patience: float, spared: Collection[bytes], before: Collection[int] = ()) -> None:
    """Kill the remaining child processes after `patience` seconds, and their orphans, until none are left.

    spared: words of the command lines of those that stay. before: ids of more of them.
    """
    deadline = time.monotonic() + patience
    pause = _FIRST_LOOK_SECONDS
    while children := [child for child in _children(spared) if child not in before]:
        if time.monotonic() >= deadline:
            for child in children:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue
        time.sleep(pause)
        pause = min(2 * pause, _LOOK_SECONDS)


def end_children_at_exit(needed: Callable[[], bool]) -> None:
    """At this program's exit, after all that is registered later, end the processes that it or its orphans have started.

    Those that it had before stay. needed: called then, whether there may be any that nobody else ends.
    """
    _prctl(_ADOPT_ORPHANS, 1)
    before, program = _children(()), os.getpid()

    def end() -> None:
        if os.getpid() == program and needed():
            _end_orphans(_EXIT_SECONDS, (*SHARED, *_HELPERS), before)

    atexit.register(end)


def supervise_rest(patience: float = LEAVE_SECONDS, spared: Collection[bytes] = SHARED) -> None:
    """Fork: return in a new process with its own session; the old process becomes its supervisor, and ends after it.

    The supervisor's exit status is the new process's (128 plus the number for a signal). At SIGTERM, or the death of its
    parent, it kills everything. Call this first: what was imported before stays in the supervisor's memory.

    patience: seconds that child processes have to end by themselves after the new process. spared: words of the command
    lines of those that are not ended.
    """
    parent, supervisor, kept = os.getppid(), os.getpid(), 0

    def end_kept(*_: Any) -> None:
        if kept:
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.kill(kept, signal.SIGKILL)

    _prctl(_ADOPT_ORPHANS, 1)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])  # until the process to kill is known
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
    # The pipes belong to the supervised process: their readers must see them close with it.
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
    kept = 0  # a further SIGTERM finds nothing to kill
    _end_orphans(patience, spared)
    code = os.waitstatus_to_exitcode(status)
    os._exit(128 - code if code < 0 else code)


def main() -> int:
    """Run a program. Returns the exit status."""
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
    _end_orphans(0.0, SHARED)
    return 128 - status if status < 0 else status


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # the thread that reads stdin may still be blocked
