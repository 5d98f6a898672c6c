"""Trials of a sweep on the machines of a Ray cluster."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.ray_cluster import ray_cluster

pytest.importorskip("torch")
pytest.importorskip("numba")
pytest.importorskip("optuna")

from support.sweeps import toy_settings

from agents.policy import checkpoint
from training.experiments.sweep.config import Sweep
from training.experiments.sweep.loop import run_sweep
from training.experiments.sweep.trainers import ClusterTrainers
from training.machines.cluster.scheduling import FILE
from training.runs.config_reader import validated

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1500),
    pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed: make ray"),
]


def test_trials_are_trained_side_by_side_and_come_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sweep = validated(Sweep, toy_settings(Path("there"), workers=2), "there")
    said: list[str] = []
    with ray_cluster():
        results = run_sweep(sweep, ClusterTrainers(said.append), said.append)
    assert [trial["trial"] for trial in results["trials"]] == [0, 1]
    for trial in results["trials"]:
        run = Path("there") / "trials" / f"{trial['trial']:03d}"
        assert max(checkpoint.steps_of(run)) == trial["at"]
        assert "seconds" in json.loads((run / FILE).read_text())
    first = [line for line in said if "trained on" in line or "home from" in line][:2]
    assert all("trained on" in line for line in first), "both are under way before one is home"
    # Each was trained on from its first length: what a machine had done was sent along.
    assert sum("home from" in line for line in said) == sum(2 if trial["at"] == 2 else 1 for trial in results["trials"])
