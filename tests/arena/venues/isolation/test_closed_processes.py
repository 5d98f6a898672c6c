"""A process that is closed to others of the same user, not to root, which the tests may run as; and one that is confined."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.isolation_playing import facts, fixture, play

from arena.venues.isolation.describing import describe_agents
from teamsets.processes import close_to_others, confine

NOBODY = 65534
#: Prints whether other processes of the user could trace this one when the code of an isolated agent is imported.
_DUMPABLE = """
import ctypes
from arena.venues.isolation import describing
def describe_agents(*_):
    print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
    return [describing.Description("mine:Agent", "", True, "", False, {})]
describing.describe_agents = describe_agents
describing.isolated_sources(("mine:Agent",), ("gen1ou",))
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can close a process")


def _in_child(act: Callable[[], int]) -> int:
    """Return what `act` returns in a child process."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = act()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


needs_landlock = pytest.mark.skipif(
    sys.platform != "linux" or _in_child(confine) == 0, reason="this kernel has no Landlock, or not switched on"
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


@pytest.mark.skipif(os.geteuid() != 0, reason="two processes of another user can be made by root only")
def test_the_memory_of_a_closed_process_cannot_be_opened_by_others_of_its_user() -> None:
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    if scope.is_file() and scope.read_text().strip() != "0":
        pytest.skip("this kernel closes every process")
    assert _open_victim(closed=False)
    assert not _open_victim(closed=True)


def test_a_run_is_closed_before_the_code_of_an_isolated_agent_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", _DUMPABLE], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


@needs_landlock
def test_a_confined_process_reaches_only_what_it_has_started() -> None:
    """Also as root: the test's own process is neither read nor signalled; a child of the confined one is both."""
    victim = os.getpid()

    def attack() -> int:
        confine()
        reached = 0
        for reach in (lambda: open(f"/proc/{victim}/mem", "rb"), lambda: os.kill(victim, 0)):  # noqa: SIM115
            try:
                reach()
                reached += 1
            except PermissionError:
                continue
        child = os.fork()
        if child == 0:
            signal.pause()
        os.kill(child, signal.SIGKILL)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return reached if ended == -signal.SIGKILL else 98

    assert _in_child(attack) == 0


@needs_landlock
def test_code_that_runs_at_import_opens_no_process_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENED", str(tmp_path / "opened"))
    (found,) = describe_agents(["opens_when_imported:Agent"], ["gen1ou"])
    assert found.documentation == "Plays badly."
    assert (tmp_path / "opened").read_text() == ""


@needs_landlock
def test_an_isolated_agent_opens_and_signals_no_process_of_a_run() -> None:
    """Neither the worker, its nursery and its simulator nor the opponent's process, also as root."""
    (record,) = play([fixture("attackers:Tracer", "attackers:Honest")], isolate=True)
    assert (record.fault, facts(record)["loot"]) == (None, [[]])
