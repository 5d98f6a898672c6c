"""Training runs on the machines of a Ray cluster: their folders are those of runs here, whatever happens to machines."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support.ray_cluster import ray_cluster

pytest.importorskip("torch")

from agents.policy import checkpoint
from training.data.shards import Dataset
from training.machines.cluster import scheduling
from training.offline.config import Config

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed: make ray"),
]


@pytest.fixture
def runs(small: Any, dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Config]:
    """Three runs with a dataset below the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(dataset.folder, "data")
    data = {"data.train": [{"path": "data", "weight": 1.0}], "length.max_steps": 3}
    return [small(**data, name=f"run {seed}", out=f"cells/{seed}", seed=seed) for seed in (1, 2, 3)]


def identities(runs: list[Config]) -> list[str]:
    return [checkpoint.identity(checkpoint.find(f"{run.out}@3")) for run in runs]


def test_runs_on_a_cluster_that_loses_a_machine_are_those_of_one_machine(runs: list[Config]) -> None:
    from training.offline.trainer import train

    said: list[str] = []
    with ray_cluster() as (cluster, other):

        def say(line: str) -> None:
            said.append(line)
            if sum("trained on" in each for each in said) == 2 and "" not in said:  # one on either machine
                said.append("")
                cluster.remove_node(other, allow_graceful=False)

        scheduling.train_everywhere(runs, say)
        assert sum("it is trained again" in line for line in said) == 1
        assert sum("home from" in line for line in said) == 3
        there = identities(runs)
        before = len(said)
        scheduling.train_everywhere(runs, say)
        assert len(said) == before, "what is home already is not trained again"
    shutil.rmtree("cells")
    for run in runs:
        train(run)
    assert identities(runs) == there
