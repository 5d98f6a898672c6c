"""Two processes of which one fails, in each of the ways in which processes fail; what `train` then prints."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

torch = pytest.importorskip("torch")

from training.offline.config import Config  # noqa: E402
from training.runs.distributed.rank_files import RankFiles  # noqa: E402
from training.runs.run_folder import RunFolder  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

Small = Callable[..., Config]

#: Fails in the loss of step 4, in the second process: `fail` of FAULTS.
PROGRAM = """
import os, signal, sys, time, torch
from training.offline.losses import LOSSES
from training.cli import main

plain, calls = LOSSES["cloning"], 0

def fail():
    {fault}

def failing(*arguments):
    global calls
    calls += 1
    if os.environ["RANK"] == "1" and calls == 4:
        fail()
    return plain(*arguments)

LOSSES["cloning"] = failing
main()
"""
FAULTS = {
    "is killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "sleeps": "time.sleep(1000)",
    "is stopped": "os.kill(os.getpid(), signal.SIGSTOP)",
    "needs too much memory": "torch.empty(1 << 50)",
}


def train_in_two(config: Config, fault: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Trains in two processes of a program with this fault, started by our launcher."""
    settings, program, starter = folder / "settings.yaml", folder / "failing.py", folder / "start.py"
    settings.write_text(yaml.safe_dump(config.model_dump(mode="json")))
    program.write_text(PROGRAM.format(fault=FAULTS[fault]))
    starter.write_text(
        "import sys\nfrom pathlib import Path\nfrom training.runs.distributed.launch import launch\n"
        f"sys.exit(launch(['base', {str(settings)!r}], Path({config.out!r}), 2, [{str(program)!r}]))\n"
    )
    command = [sys.executable, str(starter)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path.cwd())}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200, check=False)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("is killed", "rank 1 of 2 failed first, in step 4, forward: killed by SIGKILL"),
        ("needs too much memory", "rank 1 of 2 failed first, in step 4, forward: RuntimeError: "),
    ],
)
def test_the_rank_that_failed_first_is_named_with_place_reason_and_log(
    fault: str, words: str, small: Small, tmp_path: Path
) -> None:
    config = small(out=str(tmp_path / "run"))
    result = train_in_two(config, fault, tmp_path)
    log = RankFiles(Path(config.out), 1).log
    assert result.returncode == 1, result.stderr
    (line,) = [line for line in result.stderr.splitlines() if "failed first" in line]
    assert words in line and line.endswith(f"log: {log}")
    assert "train: rank 0 after it: " in result.stderr
    assert ("`train plan CONFIG" in line) == (fault == "needs too much memory")
    if fault != "is killed":
        assert f", at {tmp_path}/failing.py:" in line and "in fail" in log.read_text()
    assert RunFolder(config).steps() == [3]


@pytest.mark.parametrize("fault", ["sleeps", "is stopped"])
def test_a_collective_that_hangs_ends_after_its_limit_and_names_the_missing_rank(
    fault: str, small: Small, tmp_path: Path
) -> None:
    limit = 20.0  # seconds: on busy cores two ranks reach their first step many seconds apart
    config = small(out=str(tmp_path / "run"), **{"compute.collective_timeout": limit})
    result = train_in_two(config, fault, tmp_path)
    assert result.returncode == 1, result.stderr
    (line,) = [line for line in result.stderr.splitlines() if "collective operation hung" in line]
    assert "a collective operation hung (step 4, backward): missing rank 1 (for " in line
    assert "s in step 4, forward, process " in line and "`train doctor`" in line
    if fault == "sleeps":  # the stack of the rank that is missing, written by itself
        assert f"reported by rank 1 of 2, at {tmp_path}/failing.py:" in line
        assert "in fail" in RankFiles(Path(config.out), 1).log.read_text()
