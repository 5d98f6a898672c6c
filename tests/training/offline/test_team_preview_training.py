"""A network learns team previews where its data has them, and a checkpoint keeps what it does at them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from agents.observation.columns import at_preview  # noqa: E402
from agents.policy import checkpoint  # noqa: E402
from agents.policy.network import Network  # noqa: E402
from agents.policy.shape import PRESETS  # noqa: E402
from training.data.shards import Dataset, DatasetWriter, all_trajectories  # noqa: E402
from training.offline.config import Config  # noqa: E402
from training.offline.learner import inherited_team_preview  # noqa: E402
from training.offline.run_data import RunData  # noqa: E402
from training.offline.trainer import train  # noqa: E402
from training.runs.config_reader import BadConfig  # noqa: E402


def saved(folder: Path, *, team_preview: bool) -> str:
    network = Network(replace(PRESETS["micro"], team_preview=team_preview))
    return str(checkpoint.save(checkpoint.folder_of(folder, 1), network, 1))


@pytest.fixture
def without(dataset: Dataset, tmp_path: Path) -> str:
    """The same battles without their previews, as earlier versions built them."""
    with DatasetWriter(tmp_path / "without", {}) as writer:
        for one in all_trajectories(dataset.without_previews()):
            writer.add(one)
    return str(tmp_path / "without")


def learned(config: Config) -> Any:
    finished = train(config)
    return checkpoint.read(checkpoint.folder_of(finished.folder, finished.step))


def test_a_new_network_decides_previews_if_its_data_has_them(
    small: Callable[..., Config], without: str, tmp_path: Path
) -> None:
    changes: dict[str, Any] = {"network.preset": "micro", "length.max_steps": 3}
    assert learned(small(**changes)).decides_previews
    of_former = {"data.train": [{"path": without, "weight": 1.0}], "out": str(tmp_path / "other")}
    assert not learned(small(**changes, **of_former)).decides_previews
    assert not learned(
        small(**changes, **{"network.team_preview": False, "out": str(tmp_path / "off")})
    ).decides_previews
    with pytest.raises(BadConfig, match=r"network\.team_preview: true: no dataset has decisions at a team preview"):
        train(small(**changes, **of_former | {"network.team_preview": True, "out": str(tmp_path / "on")}))


def test_a_network_that_does_not_decide_them_is_trained_without_them(
    small: Callable[..., Config], dataset: Dataset
) -> None:
    config = small(**{"data.validate_on": [str(dataset.folder)]})
    for decides in (True, False):
        data = RunData(config, decides)
        batches = list(islice(data.stream, 12))
        assert any(at_preview(batch.features).any() for batch in batches) == decides
        measured: list[bool] = []

        def loss(network: Any, batch: Any) -> Any:
            measured.append(bool(at_preview(batch.features.numpy()).any()))  # noqa: B023 - called before the next one
            return torch.zeros(()), {}

        data.validated(torch.nn.Identity(), torch.device("cpu"), loss)
        assert any(measured) == decides == data.team_preview


def test_a_checkpoint_is_trained_on_as_it_plays_unless_the_setting_says_otherwise(
    small: Callable[..., Config], tmp_path: Path
) -> None:
    deciding, former = (saved(tmp_path / str(decides), team_preview=decides) for decides in (True, False))
    for start, setting, expected in (
        ("", "auto", None), (deciding, "auto", True), (former, "auto", False), (former, True, True),
        (deciding, False, False),
    ):  # fmt: skip
        network = small(**{"network.start_from": start, "network.team_preview": setting}).network
        assert inherited_team_preview(network, None) is expected
    changes: dict[str, Any] = {"network.preset": "micro", "network.start_from": former, "length.max_steps": 1}
    assert not learned(small(**changes)).decides_previews
    assert learned(small(**changes, **{"network.team_preview": True, "out": str(tmp_path / "on")})).decides_previews
    kl: dict[str, Any] = {"reference.coefficient": 0.1, "network.team_preview": True, "out": str(tmp_path / "kl")}
    with pytest.raises(
        BadConfig, match=r"reference.checkpoint: .+ does not decide team previews, and the network does"
    ):
        train(small(**changes, **kl))
