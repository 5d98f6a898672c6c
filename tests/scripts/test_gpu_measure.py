"""scripts/gpu/measure.py: parts for which no time is left are reported; a rehearsal runs on the CPU."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from support.command_line import PROJECT

pytest.importorskip("numba")

MEASURE = [sys.executable, str(PROJECT / "scripts" / "gpu" / "measure.py"), "--rehearse", "--out"]


def measured(out: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and each part's results."""
    done = subprocess.run([*MEASURE, str(out), *arguments], capture_output=True, text=True, timeout=500)
    results = json.loads((out / "results.json").read_text())
    assert results["machine"]["cores"] > 0
    return done.returncode, {told["part"]: told for told in results["parts"]}


def test_a_part_without_time_is_reported(tmp_path: Path) -> None:
    code, parts = measured(tmp_path / "out", "--seconds", "0", "--parts", "engine", "speeds")
    assert code == 1
    assert {told["ended"] for told in parts.values()} == {"not started"}
    assert (tmp_path / "out" / "log.txt").exists()


@pytest.mark.slow
def test_the_engine_is_compiled_and_plays(tmp_path: Path) -> None:
    code, parts = measured(tmp_path / "out", "--parts", "compiling", "engine")
    assert code == 0, parts
    assert [row["start"] for row in parts["compiling"]["rows"]] == ["first", "again"]
    assert [row["way"] for row in parts["engine"]["rows"]] == ["play", "play_observed"]
    assert all(row["decisions/s"] > 0 for row in parts["engine"]["rows"])


@pytest.mark.slow
@pytest.mark.torch
def test_a_rehearsal_learns_online_and_finds_that_play_and_learning_agree(tmp_path: Path) -> None:
    code, parts = measured(tmp_path / "out", "--parts", "online", "profile", "arms", "ppo")
    assert code == 0, parts
    (speed,) = parts["online"]["rows"]
    assert 0 < speed["decisions/s"] < speed["of play"]
    differences, *rows = parts["profile"]["rows"]
    assert differences["of log-probabilities"] < 1e-4 and differences["of values"] < 1e-4
    assert {row["where"] for row in rows if "kernel" in row} == {"learning", "play"}
    assert parts["ppo"]["rows"][-1] == {"iterations": 2}
    assert [row["step"] for row in parts["arms"]["rows"]] == [2, 2, 2]
    for name in ("ppo", "large", "small", "best-response"):
        with tarfile.open(tmp_path / "out" / f"{name}.tar") as tar:
            assert [member for member in tar.getnames() if member.endswith("model.safetensors")]


@pytest.mark.slow
@pytest.mark.torch
def test_a_run_that_does_not_end_in_time_keeps_its_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PROJECT / "scripts" / "gpu"))
    from parts import Job, pack_checkpoints, trained_online

    changes = {
        "compute.device": "cpu",
        "iterations": 10_000_000,
        "checkpoints.every": 1,
        "rollout.battles": 2,
        "rollout.max_turns": 3,
        "rollout.teams": [{"set": "competitive", "weight": 1.0}],
        "rollout.held_out": [],
    }
    lines = trained_online(Job(tmp_path, True, 0.0), "run", changes, 25.0)
    pack_checkpoints(tmp_path / "run", tmp_path / "run.tar")
    with tarfile.open(tmp_path / "run.tar") as tar:
        names = tar.getnames()
    assert lines[-1]["step"] > 3
    assert len([name for name in names if name.endswith("model.safetensors")]) == 3
    assert not [name for name in names if name.endswith("online.pt")]
