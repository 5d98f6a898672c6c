"""A process that is closed to others of the same user: not to root, which the tests may run as."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from arena.isolation.closing import close_to_others

NOBODY = 65534

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="two processes of another user can be made by root only"
)


def _open_victim(closed: bool) -> bool:
    """Whether a process of an ordinary user can open the memory of another one of the same user, which is its child."""
    ready, tell = os.pipe()
    victim = os.fork()
    if victim == 0:
        os.setresuid(NOBODY, NOBODY, NOBODY)
        _make_dumpable()
        if closed:
            close_to_others()
        os.write(tell, b"x")
        signal.pause()
    os.read(ready, 1)
    spy = os.fork()
    if spy == 0:
        code = 2
        try:
            os.setresuid(NOBODY, NOBODY, NOBODY)
            with open(f"/proc/{victim}/mem", "rb"):
                code = 0
        except PermissionError:
            code = 1
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(spy, 0)[1])
    os.kill(victim, signal.SIGKILL)
    os.waitpid(victim, 0)
    os.close(ready)
    os.close(tell)
    assert code in (0, 1)
    return code == 0


def _make_dumpable() -> None:
    """As a program of that user is from its start; changing the user takes it away."""
    import ctypes

    ctypes.CDLL("libc.so.6").prctl(4, 1)


def test_the_memory_of_a_closed_process_cannot_be_opened_by_others_of_its_user() -> None:
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    if scope.is_file() and scope.read_text().strip() != "0":
        pytest.skip("this kernel closes every process")
    assert _open_victim(closed=False)
    assert not _open_victim(closed=True)
