"""Datasets of really played battles, and small configurations."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.command_line import Said

from training import cli
from training.data.from_store import selected, trajectories
from training.data.shards import Dataset, DatasetWriter, opened
from training.data.trajectory import Trajectory
from training.offline.config import Config
from training.runs.config_reader import validated
from training.runs.shipped import text


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Datasets are built without further processes, which take longer to start than small datasets to build."""
    monkeypatch.setattr(
        "training.data.from_store.pooled",
        lambda work, batches, processes: (work(one) for batch in batches for one in batch),
    )


@pytest.fixture
def train_command(in_process: Callable[..., Said]) -> Callable[..., Said]:
    """Runs `train` in this process, which has torch: `train_command("data", "stats", "d", cwd=folder)`."""
    return functools.partial(in_process, "train", cli.main)


@pytest.fixture(scope="session")
def observed_sides(played: Path) -> list[Trajectory]:
    """Both sides of the gen1ou and gen9ou battles of `played`, in an order that does not depend on which ended first."""
    chosen = selected(played, "format IN ('gen1ou', 'gen9ou')")
    found = list(trajectories(played, chosen, processes=1))
    return sorted(found, key=lambda one: [one.about[key] for key in ("format", "pair", "agent", "seat")])


@pytest.fixture(scope="session")
def dataset(observed_sides: list[Trajectory], tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Those sides in several small shards."""
    folder = tmp_path_factory.mktemp("data") / "battles"
    with DatasetWriter(folder, {"where": "test"}, shard_decisions=120) as writer:
        for one in observed_sides:
            writer.add(one)
    return opened(folder)


@pytest.fixture
def small(dataset: Dataset, tmp_path: Path) -> Callable[..., Config]:
    """A preset made small: `small(**{"length.max_steps": 4})`."""

    def make(preset: str = "tiny", **changes: Any) -> Config:
        told = yaml.safe_load(text(preset, "preset"))
        changes = {
            "out": str(tmp_path / "run"),
            "data.train": [{"path": str(dataset.folder), "weight": 1.0}],
            "data.validate_on": [],
            "data.batch_size": 4,
            "data.max_length": 24,
            "optimizer.warmup_steps": 2,
            "length.epochs": 3,
            "length.max_steps": 8,
            "compute.threads": 1,
            "checkpoints.every": 3,
            "tracking.wandb": "disabled",
            "tracking.every": 1,
            **changes,
        }
        for key, value in changes.items():
            place = told
            *way, last = key.split(".")
            for name in way:
                place = place[name]
            place[last] = value
        return validated(Config, told, "test")

    return make
