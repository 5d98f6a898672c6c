"""`tracking.tensorboard: true`: the metrics of a run as event files, also after it was interrupted."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

pytest.importorskip("torch")

from teamsets.errors import MissingTool
from training.offline.config import Config
from training.offline.trainer import train
from training.runs.config_reader import validated
from training.runs.run_folder import json_lines
from training.runs.shipped import text
from training.runs.tracking import TENSORBOARD, Tracking

INSTALLED = importlib.util.find_spec("tensorboard") is not None


def _scalars(folder: Path, name: str) -> dict[int, float]:
    """Step -> value, as TensorBoard shows them."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder / TENSORBOARD))
    events.Reload()
    return {event.step: event.value for event in events.Scalars(name)}


def _config(out: Path) -> Config:
    told = yaml.safe_load(text("tiny", "preset"))
    told["out"], told["tracking"] = str(out), told["tracking"] | {"wandb": "disabled", "tensorboard": True}
    return validated(Config, told, "test")


@pytest.mark.skipif(not INSTALLED, reason="tensorboard is not installed")
def test_an_interrupted_run_continues_its_curves(tmp_path: Path) -> None:
    config = _config(tmp_path)
    with Tracking(config, tmp_path, 0, 5) as tracking:
        for step in range(1, 6):
            tracking.note(step, {"loss": 10.0 - step, "lr": 0.1})
    with Tracking(config, tmp_path, 3, 5) as tracking:  # the steps after the checkpoint are done again
        for step in (4, 5):
            tracking.note(step, {"loss": 2.0, "lr": 0.1})
    assert _scalars(tmp_path, "loss") == {1: 9.0, 2: 8.0, 3: 7.0, 4: 2.0, 5: 2.0}


@pytest.mark.skipif(not INSTALLED, reason="tensorboard is not installed")
def test_it_has_what_metrics_jsonl_has(small: Callable[..., Config]) -> None:
    run = train(small(**{"tracking.tensorboard": True}))
    lines = [line for line in json_lines(run.folder / "metrics.jsonl") if "loss" in line]
    assert _scalars(run.folder, "loss") == pytest.approx({line["step"]: line["loss"] for line in lines})


@pytest.mark.skipif(INSTALLED, reason="tensorboard is installed")
def test_without_the_package_one_line_names_the_fix(tmp_path: Path) -> None:
    with pytest.raises(MissingTool, match=r"battle-arena\[tensorboard\]"), Tracking(_config(tmp_path), tmp_path, 0, 5):
        pass


def test_files_of_earlier_versions_have_no_such_key() -> None:
    told = yaml.safe_load(text("tiny", "preset"))
    del told["tracking"]["tensorboard"]
    assert validated(Config, told, "test").tracking.tensorboard is False
