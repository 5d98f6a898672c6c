"""A run that is resumed learns from the datasets that it was begun with, or says that it cannot."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from teamsets.checksums import CHECKSUMS  # noqa: E402
from training.data.shards import BadData, DatasetWriter, all_trajectories, digest, opened  # noqa: E402
from training.data.shards import Dataset as Made  # noqa: E402
from training.data.trajectory import Trajectory  # noqa: E402
from training.offline.config import Config  # noqa: E402
from training.offline.trainer import train  # noqa: E402
from training.runs.run_folder import RunFolder  # noqa: E402
from training.runs.state import POSITION, STATE  # noqa: E402

Small = Callable[..., Config]


def written(folder: Path, trajectories: list[Trajectory], by: str) -> None:
    with DatasetWriter(folder, {"where": by}, replace=True) as writer:
        for one in trajectories:
            writer.add(one)


@pytest.fixture
def sides(dataset: Made) -> list[Trajectory]:
    return list(all_trajectories(dataset))


@pytest.fixture(params=["data.train", "data.validate_on"])
def begun(request: pytest.FixtureRequest, small: Small, sides: list[Trajectory], tmp_path: Path) -> Config:
    """A run with a checkpoint, whose dataset under that key is `d`."""
    written(tmp_path / "d", sides, "test")
    path = str(tmp_path / "d")
    value = [{"path": path, "weight": 1.0}] if request.param == "data.train" else [path]
    config = small(**{request.param: value, "length.max_steps": 2, "checkpoints.every": 2})
    train(config)
    return config


def test_another_dataset_of_the_same_lengths_is_refused(begun: Config, sides: list[Trajectory], tmp_path: Path) -> None:
    before = opened(tmp_path / "d")
    written(tmp_path / "d", [replace(one, result=1 - one.result) for one in sides], "test")
    assert opened(tmp_path / "d") == before, "dataset.json is the same"
    with pytest.raises(
        BadData,
        match=r"^dataset .*/d: holds other data than when the run .*/run was started: restore the earlier dataset, or start "
        r"another run with this one \(network.start_from: .*/run@last\)$",
    ):
        train(begun)


def test_the_same_data_made_again_is_the_same(begun: Config, sides: list[Trajectory], tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "d")
    written(tmp_path / "d", sides, "another order, from a database elsewhere")
    assert train(begun).step == 2


def test_a_position_without_digests_is_read(begun: Config, sides: list[Trajectory], tmp_path: Path) -> None:
    """As earlier versions wrote it."""
    file = RunFolder(begun).step_folder(2) / STATE / POSITION
    position = torch.load(file)
    assert position.pop("datasets").keys() >= {str(tmp_path / "d")}
    torch.save(position, file)
    (RunFolder(begun).step_folder(2) / CHECKSUMS).unlink()
    written(tmp_path / "d", [replace(one, result=1 - one.result) for one in sides], "test")
    assert train(begun).step == 2


def test_a_digest_is_of_the_contents_and_names_a_missing_shard(sides: list[Trajectory], tmp_path: Path) -> None:
    for name, made in (("a", sides), ("b", sides), ("c", sides[::-1])):
        written(tmp_path / name, made, name)
    first, second, third = (digest(opened(tmp_path / name)) for name in "abc")
    assert first == second != third
    lost = opened(tmp_path / "a")
    (tmp_path / "a" / lost.names[0]).unlink()
    with pytest.raises(BadData, match=r"dataset .*/a: shard-00000.* cannot be read .*build it again"):
        digest(lost)
