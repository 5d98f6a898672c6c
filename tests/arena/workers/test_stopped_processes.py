"""A run whose processes are all stopped and continued (Ctrl-Z, a paused container): no agent has thought meanwhile."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.command_line import processes, start_arena

from arena.store import rows

SLOW = ("bad_agents:Slow?ms=600", "bad_agents:Patient?ms=600")
ON_ARRAYS = ("array_agents:Slow", "array_agents:RandomAction")
#: Seconds of a decision; those of its agents are less, those of a stop are more.
THINK_LIMIT, STOPPED = 3, 5
#: Turns of the two battles, in each of which an agent sleeps for 0.6 s: the run outlasts two stops on any machine.
TURNS = 8
#: Seconds between two stops.
RUNS = 4


def _signal(pids: list[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agents", "options"),
    [
        (SLOW, ["--venue", "simulator"]),
        (SLOW, ["--venue", "simulator", "--isolate"]),
        (SLOW, ["--venue", "server"]),
        pytest.param(
            ON_ARRAYS, ["--venue", "engine"], marks=pytest.mark.skipif(find_spec("numba") is None, reason="needs Numba")
        ),
    ],
    ids=["simulator", "isolated", "server", "engine"],
)
def test_nobody_loses_by_the_time_for_which_all_processes_were_stopped(
    tmp_path: Path, agents: tuple[str, str], options: list[str]
) -> None:
    db, mark = tmp_path / "arena.duckdb", f"STOPPED_RUN={tmp_path}"
    played = ["--format", "gen1randombattle", "--battles", 2, "--workers", 1, "--think-limit", THINK_LIMIT]
    run = start_arena(
        "evaluate", *agents, *played, "--max-turns", TURNS, *options, "--db", db, STOPPED_RUN=str(tmp_path)
    )
    stops = 0
    while run.poll() is None:
        time.sleep(RUNS)
        stopped = processes(mark)
        _signal(stopped, signal.SIGSTOP)
        time.sleep(STOPPED)
        _signal(stopped, signal.SIGCONT)
        stops += bool(stopped)
    out, err = run.communicate()
    assert (run.returncode, err) == (0, ""), out
    assert rows("SELECT count(*) FROM battles", db) == [(2,)]
    assert rows("SELECT agent, detail FROM faults WHERE agent <> 'nobody'", db) == []
    assert stops > 1
