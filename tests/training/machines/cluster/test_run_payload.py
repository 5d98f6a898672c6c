"""What travels with a training run, and what cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from training.machines.cluster.run_payload import pack_run
from training.machines.cluster.scheduling import train_everywhere
from training.offline.config import Config
from training.online.config import OnlineConfig
from training.runs.config_reader import BadConfig, validated
from training.runs.shipped import resolve_path, text


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder with a dataset, a checkpoint and a team set, and the beginning of a run."""
    step = "runs/first/checkpoints/step-000000007"
    for name in (
        "data/mine/shard.bin",
        "runs/begun/metrics.jsonl",
        f"{step}/model.safetensors",
        f"{step}/checkpoint.json",
        f"{step}/optimizer.bin",
        "teams/gen1ou/one.txt",
        "unrelated.txt",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def of_data(**changes: Any) -> Config:
    told = yaml.safe_load(text("tiny", "preset"))
    told |= {"name": "one", "out": "runs/begun"}
    told["data"] |= {"train": [{"path": changes.pop("path", "data/mine"), "weight": 1.0}], "validate_on": []}
    told["network"]["start_from"] = "runs/first@7"
    told["evaluation"]["every"] = 0
    return validated(Config, told | changes, "test")


def of_play(start: str) -> OnlineConfig:
    told = yaml.safe_load(resolve_path("ppo", "online").read_text())
    told |= {"name": "two", "out": "runs/new"}
    told["learner"]["network"]["start_from"] = start
    told["rollout"]["teams"] = [{"set": "teams", "weight": 1.0}]
    told["league"]["members"].append(
        {"who": "checkpoint", "weight": 1.0, "checkpoint": "runs/first@7", "temperature": 0.0}
    )
    return validated(OnlineConfig, told, "test")


def names(run: Config | OnlineConfig) -> list[str]:
    return [piece.name for piece in pack_run(run).pieces]


STEP = [
    "runs/first/checkpoints/step-000000007/checkpoint.json",
    "runs/first/checkpoints/step-000000007/model.safetensors",
]


def test_datasets_checkpoints_and_the_beginning_of_a_run_travel(here: Path) -> None:
    assert names(of_data()) == ["data/mine/shard.bin", "runs/begun/metrics.jsonl", *STEP]


@pytest.mark.torch
def test_team_sets_and_members_of_the_league_travel(here: Path) -> None:
    assert names(of_play("gen1ou-tiny")) == [*STEP, "teams/gen1ou/one.txt"], "a shipped network is there already"


@pytest.mark.torch
def test_paths_that_mean_nothing_elsewhere_are_named(here: Path) -> None:
    for run, setting in (
        (of_data(out=str(here / "runs" / "begun")), "out"),
        (of_data(path=str(here / "data" / "mine")), "data.train"),
        (of_play(f"{here}/runs/first@7"), "learner.network.start_from"),
    ):
        with pytest.raises(BadConfig, match=rf"^{setting}: /.* is not below the current folder.*give a relative path$"):
            pack_run(run)


def test_what_plays_its_own_evaluation_is_trained_here(here: Path) -> None:
    run = of_data()
    evaluated = run.model_copy(update={"evaluation": run.evaluation.model_copy(update={"every": 20})})
    said: list[str] = []
    train_everywhere([evaluated], said.append)
    train_everywhere(["a curriculum"], said.append)
    assert "one: trained here: its evaluation battles go into" in said[0] and "curricula are trained here" in said[1]
