"""A process that reads battles may be killed, or be started by a script that knows nothing of processes."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from support.command_line import PROJECT, processes, wait

from teamsets.errors import ArenaError
from training.data.pooled import pooled


def test_the_results_are_in_order() -> None:
    assert list(pooled(abs, [range(-9, 0), range(3)], 2)) == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2]


def test_a_process_that_is_killed_ends_the_work_with_a_line_instead_of_a_wait() -> None:
    with pytest.raises(ArenaError, match="a process that reads battles ended: out of memory"):
        list(pooled(os._exit, [[9] * 8], 2))


def test_a_script_without_a_guard_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "unguarded.py"
    script.write_text("from training.data.pooled import pooled\nprint(list(pooled(abs, [[-1, -2]], 2)))\n")
    said = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, cwd=PROJECT)
    assert said.returncode != 0 and 'outside of `if __name__ == "__main__":`' in said.stderr


def test_nothing_outlives_who_asked(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    script = tmp_path / "asks.py"
    script.write_text(
        "import time\nfrom training.data.pooled import pooled\n"
        "if __name__ == '__main__':\n    list(pooled(time.sleep, [[0.01] * 8, [600] * 8], 2))\n"
    )
    with subprocess.Popen([sys.executable, script], cwd=PROJECT, env={**os.environ, "MARK": mark}) as process:
        wait(lambda: len(processes(mark)) >= 4)  # itself, two that work, and the server that forks them
        process.kill()
    wait(lambda: not processes(mark))
