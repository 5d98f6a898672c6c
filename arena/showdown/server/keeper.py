"""Runs one program of other people and sees to it that nothing of it is left: `python keeper.py LOG COMMAND...`.

The program gets a process group of its own, whose number is our one line of output; what it prints goes to the file LOG.
When it ends, or our stdin is closed (our owner ended us, or is gone, however that came), everything that it has started is
killed, what left its group included. Linux: the program dies with the keeper, too. Our exit status is the program's; 128
and the signal's number when a signal ended it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

# From Linux's prctl.h: be killed when the parent dies; be the parent of orphaned descendants.
_DIE_WITH_PARENT, _ADOPT_ORPHANS = 1, 36


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(OSError, AttributeError):  # Linux alone has it
        ctypes.CDLL(None).prctl(option, value)


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _children() -> list[int]:
    """Processes whose parent we are, or have become."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[1]) == os.getpid():
                found.append(int(stat.parent.name))
    return found


def _end_orphans() -> None:
    while children := _children():
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)


def main() -> int:
    """Returns the status to exit with."""
    _prctl(_ADOPT_ORPHANS, 1)
    log = open(sys.argv[1], "ab")  # noqa: SIM115 (open until we end)
    try:
        program = subprocess.Popen(
            sys.argv[2:],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=lambda: _prctl(_DIE_WITH_PARENT, signal.SIGKILL),
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
    _end_orphans()
    return 128 - status if status < 0 else status


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # the thread that reads our stdin may still be in it
