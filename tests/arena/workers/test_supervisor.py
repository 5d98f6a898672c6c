"""Nothing that a kept process has started outlives it, however it and its supervisor's parent end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from support.command_line import is_running, wait

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found through /proc")

#: A kept process with a child in its group and one that has left it and its parent, as daemons do; it says their pids.
_DAEMONS = """
import os, subprocess, sys, time
from arena.processes import supervisor
supervisor.LEAVE_SECONDS = 0.2
supervisor.supervise_rest()
sleeper = subprocess.Popen(["sleep", "600"])
daemon = "import os; os.setsid(); os.fork() and os._exit(0); print(os.getpid(), flush=True)"
daemon += "; os.execlp('sleep', 'sleep', '600')"
started = subprocess.Popen([sys.executable, "-c", daemon], stdout=subprocess.PIPE)
gone = int(started.stdout.readline())
started.wait()
shared = [sys.executable, "-c", "import time; time.sleep(600)", "agents.policy.serve"]
server = subprocess.Popen(shared, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
print(os.getpid(), sleeper.pid, gone, server.pid, flush=True)
"""


def _kept(then: str) -> tuple[subprocess.Popen[str], list[int]]:
    """The supervisor, and the pids of the kept process, of its two children, and of a server that others share."""
    script = _DAEMONS + textwrap.dedent(then)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    supervisor = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment)
    assert supervisor.stdout is not None
    return supervisor, list(map(int, supervisor.stdout.readline().split()))


def _assert_gone(pids: list[int]) -> None:
    """All but the shared server, which is ended here."""
    *mortal, server = pids
    try:
        wait(lambda: not any(map(is_running, mortal)))
        assert is_running(server)
    finally:
        os.kill(server, signal.SIGKILL)


@pytest.mark.parametrize(("then", "code"), [("os._exit(7)", 7), ("os.kill(os.getpid(), 9)", 137)])
def test_when_the_kept_process_ends_so_does_all_that_it_started(then: str, code: int) -> None:
    supervisor, pids = _kept(then)
    with supervisor:
        assert supervisor.wait(120) == code
        assert not any(map(is_running, pids[:-1]))  # at once: the supervisor ends last
    _assert_gone(pids)


def test_a_supervisor_that_is_terminated_kills_all_that_it_supervises_even_if_it_is_stopped() -> None:
    supervisor, pids = _kept("os.kill(os.getpid(), 19)")
    with supervisor:
        wait(lambda: Path(f"/proc/{pids[0]}/stat").read_text().rpartition(")")[2].split()[0] == "T")
        supervisor.terminate()
        assert supervisor.wait(120) == 137
    _assert_gone(pids)


def test_further_signals_do_not_keep_a_supervisor_from_ending_what_is_left() -> None:
    supervisor, pids = _kept("time.sleep(600)")
    with supervisor:
        while supervisor.poll() is None:  # also when the kept process has ended and its children have not
            supervisor.terminate()
            time.sleep(0.01)
        assert supervisor.returncode == 137
    _assert_gone(pids)


@pytest.mark.parametrize("dies", ["supervisor", "its parent"])
def test_a_killed_supervisor_or_parent_leaves_no_kept_process(dies: str) -> None:
    supervisor = _DAEMONS + "time.sleep(600)"
    script = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {supervisor!r}]); time.sleep(600)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        pids = list(map(int, parent.stdout.readline().split()))
        if dies == "supervisor":
            stat = Path(f"/proc/{pids[0]}/stat").read_text()
            os.kill(int(stat.rpartition(")")[2].split()[1]), signal.SIGKILL)
            wait(lambda: not is_running(pids[0]))
            for pid in pids[1:]:  # of these nobody knows any more: that is what documentation says cannot be prevented
                os.kill(pid, signal.SIGKILL)
        parent.kill()
    if dies != "supervisor":
        _assert_gone(pids)
