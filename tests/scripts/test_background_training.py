"""scripts/background_training.sh: one run that is paused, stopped and resumed. The training itself is a stand-in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.command_line import PROJECT

#: `train online`: adds a line of metrics each time it begins, then works until it is ended.
STAND_IN = """#!/bin/sh
mkdir -p runs/background/run
echo '{"step": 1234, "total_decisions": 5600000.0, "total_seconds": 7200.0}' >>runs/background/run/metrics.jsonl
echo $$ >child
exec sleep 300
"""


@pytest.fixture
def script(tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Runs the script with a word, in a checkout of its own on a machine where nothing else runs. Returns what it prints."""
    for folder in ("scripts", ".venv/bin", "path"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(PROJECT / "scripts" / "background_training.sh", tmp_path / "scripts")
    (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
    for name, text in ((".venv/bin/train", STAND_IN), ("path/pgrep", "#!/bin/sh\nexit 1\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    surroundings = {**os.environ, "PATH": f"{tmp_path / 'path'}{os.pathsep}{os.environ['PATH']}"}

    def run(word: str) -> str:
        done = subprocess.run(
            ["bash", "scripts/background_training.sh", word],
            cwd=tmp_path,
            env=surroundings,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return done.stdout

    yield run
    run("stop")


def state(folder: Path) -> str:
    """The state of the stand-in's process, as /proc has it; "" while there is none, or only what is left of an ended one."""
    try:
        stat = Path("/proc", (folder / "child").read_text().strip(), "stat").read_text()
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[0].replace("Z", "")


def wait_for(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads the state of processes from /proc")
def test_a_run_is_paused_stopped_and_resumed(script: Callable[[str], str], tmp_path: Path) -> None:
    assert script("status").strip() == "does not run"
    assert "started" in script("start")
    wait_for(lambda: state(tmp_path) == "S")
    assert "runs already" in script("start")
    assert script("status").splitlines()[:2] == [
        "runs",
        "iteration 1,234, 5.60 million decisions, 2.0 hours of playing and learning",
    ]
    pause = tmp_path / "runs/background/pause"
    pause.touch()
    wait_for(lambda: state(tmp_path) == "T")
    assert script("status").startswith("stands still\n")
    pause.unlink()
    wait_for(lambda: state(tmp_path) == "S")
    script("stop")
    assert state(tmp_path) == ""
    assert script("status").startswith("does not run\n")
    (tmp_path / "child").unlink()
    script("start")
    wait_for(lambda: state(tmp_path) == "S")
    assert len((tmp_path / "runs/background/run/metrics.jsonl").read_text().splitlines()) == 2
