"""Every decision weighs the same in what is learned, whether its battle was short or long."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402

from agents.observation.actions import ACTIONS  # noqa: E402
from agents.observation.observation import FEATURES, IDS_PER_TOKEN, TOKENS  # noqa: E402
from training.data.shards import DatasetWriter  # noqa: E402
from training.data.targets import Target  # noqa: E402
from training.data.trajectory import Trajectory  # noqa: E402
from training.offline.config import Config  # noqa: E402
from training.offline.losses import LOSSES  # noqa: E402
from training.offline.tensors import Sums, Tensors  # noqa: E402
from training.offline.trainer import train  # noqa: E402
from training.runs.config_reader import validated  # noqa: E402
from training.runs.shipped import text  # noqa: E402

#: Decisions of the two battles.
SHORT, LONG = 5, 90


def trajectory(length: int) -> Trajectory:
    """Decisions whose first word is the length of their battle."""
    return Trajectory(
        token_ids=np.full((length, TOKENS, IDS_PER_TOKEN), length, np.int16),
        features=np.zeros((length, TOKENS, FEATURES), np.float16),
        legal=np.ones((length, ACTIONS), np.bool_),
        actions=np.zeros(length, np.int8),
        target_policy=np.zeros((length, ACTIONS), np.float16),
        targets=np.full(length, Target.CHOICE, np.int8),
        values=np.full(length, np.nan, np.float16),
        result=1.0,
        about={"format": "gen1ou"},
    )


def configured(folder: Path, batch: int, accumulate: int) -> Config:
    """Four passes over a dataset of a short and a long battle."""
    with DatasetWriter(folder / "d", {}) as writer:
        for length in (SHORT, LONG):
            writer.add(trajectory(length))
    told = yaml.safe_load(text("tiny", "preset")) | {"out": str(folder / "run")}
    told["data"] |= {
        "train": [{"path": str(folder / "d"), "weight": 1.0}], "validate_on": [], "batch_size": batch, "max_length": LONG,
    }  # fmt: skip
    told["length"] = {"epochs": 4, "max_steps": 0}
    told["compute"] |= {"gradient_accumulation_steps": accumulate, "threads": 1}
    told["tracking"] |= {"wandb": "disabled"}
    return validated(Config, told, "test")


def weighing(seen: list[tuple[Tensors, Tensor]]) -> Callable[..., tuple[Tensor, Sums]]:
    """A rule whose loss is 1 a decision, times a weight [B, T] of which the gradient is what the decision counts."""

    def loss(output: Any, batch: Tensors, settings: Any) -> tuple[Tensor, Sums]:
        weights = torch.ones_like(batch.valid_mask, dtype=torch.float64).requires_grad_()
        seen.append((batch, weights))
        total = (weights * batch.valid_mask).sum()
        return total + 0.0 * output.value.sum(), {"policy_loss": (total.detach(), batch.valid_mask.sum())}

    return loss


@pytest.mark.parametrize(("batch", "accumulate"), [(1, 1), (2, 1), (2, 2)])
def test_decisions_of_short_and_long_battles_weigh_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int, accumulate: int
) -> None:
    seen: list[tuple[Tensors, Tensor]] = []
    monkeypatch.setitem(LOSSES, "cloning", weighing(seen))
    train(configured(tmp_path, batch, accumulate))
    counted: dict[int, Tensor] = {}
    for tensors, weights in seen:
        assert weights.grad is not None
        for ids, real, gradient in zip(tensors.token_ids, tensors.valid_mask, weights.grad, strict=True):
            length = int(ids[0, 0, 0])
            counted[length] = counted.get(length, torch.zeros(length, dtype=torch.float64)) + gradient[real]
    assert counted.keys() == {SHORT, LONG}
    # Four passes; a batch has `batch` battles of (SHORT + LONG) / 2 decisions in the mean.
    assert set(torch.cat([*counted.values()]).tolist()) == {4 / (batch * (SHORT + LONG) / 2)}
