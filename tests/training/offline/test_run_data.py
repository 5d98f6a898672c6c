"""The datasets of a run: what is held out of one is measured as that one is learned from."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from training.data.shards import Dataset  # noqa: E402
from training.offline.config import Config  # noqa: E402
from training.offline.run_data import RunData  # noqa: E402
from training.offline.tensors import Tensors  # noqa: E402


def test_the_masks_of_a_dataset_are_those_of_its_part_held_out(
    small: Callable[..., Config], dataset: Dataset, tmp_path: Path
) -> None:
    for name in ("battles", "battles-held-out", "others"):
        shutil.copytree(dataset.folder, tmp_path / name)
    source = {"path": str(tmp_path / "battles"), "weight": 1.0, "policy_from": "won", "value_from": "none"}
    held_out = [str(tmp_path / name) for name in ("battles-held-out", "others")]
    data = RunData(small(**{"data.train": [source], "data.validate_on": held_out}))
    for batch in islice(data.stream, 8):
        assert (batch.policy_mask == (batch.results == 1)).all() and not batch.value_mask.any()

    measured: list[Tensors] = []

    def loss(network: Any, batch: Tensors) -> Any:
        measured.append(batch)
        return torch.zeros(()), {}

    data.validated(torch.nn.Identity(), torch.device("cpu"), loss)
    of_it, of_others = measured[: len(measured) // 2], measured[len(measured) // 2 :]
    assert sum(len(batch.results) for batch in of_it) == dataset.trajectories
    for batch in of_it:
        assert torch.equal(batch.policy_mask, batch.results == 1) and not batch.value_mask.any()
    assert all(batch.policy_mask.all() and batch.value_mask.all() for batch in of_others)
