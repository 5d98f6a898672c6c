"""An isolated run leaves no process behind, however its worker or its coordinator ends."""

from __future__ import annotations

import os
import signal
import uuid
from pathlib import Path

import pytest
from support.command_line import processes, start_arena, wait

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found through /proc"),
]


def test_killed_workers_and_a_killed_run_leave_no_process(tmp_path: Path) -> None:
    mark = f"ARENA_TEST_MARK={uuid.uuid4()}"
    name, value = mark.split("=")
    words = ("evaluate", "random", "heuristic:max-damage", "--format", "gen1randombattle", "--battles", 100_000)
    with start_arena(*words, "--isolate", "--workers", 1, cwd=tmp_path, **{name: value}) as run:
        (first,) = wait(lambda: processes(mark, "arena.venues.isolation.nursery")[:1])
        worker = Path(f"/proc/{first}/stat").read_text().rpartition(")")[2].split()[1]  # who started it
        os.kill(int(worker), signal.SIGKILL)
        wait(lambda: first not in processes(mark))
        wait(lambda: processes(mark, "arena.venues.isolation.nursery"))  # the worker that took the place has its own
        run.kill()
        run.communicate()
    wait(lambda: not processes(mark))
