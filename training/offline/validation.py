"""Validation metrics: a learning rule's loss and metrics on held-out datasets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from training.data.rebuild_command import HELD_OUT
from training.data.shards import Dataset, opened
from training.data.stream import Use, validation_batches
from training.offline.config import Data
from training.offline.tensors import Sums, Tensors, add_sums, local_means, scale_sums, to_device
from training.runs.config_reader import BadConfig

#: Maximum number of trajectories of each dataset that are measured.
_MAX_TRAJECTORIES = 2048


@dataclass(frozen=True)
class HeldOutData:
    """A dataset of `data.validate_on`. use, weight: as in training; name: prefix of its metrics.

    The held-out part of a training dataset has its use and weight. Of any other dataset all sides are used, with the mean
    weight of the former.
    """

    dataset: Dataset
    use: Use
    weight: float
    name: str


def held_out_parts(data: Data) -> list[HeldOutData]:
    """Open the datasets of `data.validate_on`. Raises BadConfig that says how to build one, or how to train without it."""
    learned = {f"{source.path.rstrip('/')}{HELD_OUT}": source for source in data.train}
    sources = [learned.get(path.rstrip("/")) for path in data.validate_on]
    known = [source.weight for source in sources if source is not None]
    average = sum(known) / len(known) if known else 1.0
    return [
        HeldOutData(_opened(path), Use(), average, name)
        if source is None
        else HeldOutData(_opened(path), Use(source.policy_from, source.value_from), source.weight, name)
        for path, source, name in zip(data.validate_on, sources, _names(data.validate_on), strict=True)
    ]


def _opened(path: str) -> Dataset:
    if not Path(path).exists():
        made = path.removesuffix(HELD_OUT)
        raise BadConfig(
            f"data.validate_on: {path} does not exist: build it with `train data build --out {made} --hold-out 0.03` (and "
            "--replace where the dataset is there), or train without it: --set data.validate_on=[]"
        )
    return opened(Path(path))


def validated(
    network: nn.Module,
    parts: Sequence[HeldOutData],
    data: Data,
    device: torch.device,
    loss: Callable[[nn.Module, Tensors], tuple[Tensor, Sums]],
) -> dict[str, float]:
    """Return the mean over decisions of each metric, over all datasets with their weights.

    With several datasets, also those of each as "NAME/METRIC". loss: the objective, called with the network and a batch.
    """
    network.eval()
    total: Sums = {}
    by_dataset: dict[str, float] = {}
    for part in parts:
        sums: Sums = {}
        for batch in validation_batches(part.dataset, data.batch_size, data.max_length, _MAX_TRAJECTORIES, part.use):
            with torch.no_grad():
                _, more = loss(network, to_device(batch, device))
            sums = add_sums(sums, more)
        by_dataset |= {f"{part.name}/{metric}": value for metric, value in local_means(sums).items()}
        total = add_sums(total, scale_sums(sums, part.weight / min(_MAX_TRAJECTORIES, part.dataset.trajectories)))
    return {**local_means(total), **(by_dataset if len(parts) > 1 else {})}


def summary(metrics: dict[str, float]) -> str:
    """Format the losses and accuracies over all datasets on one line. metrics: of `validated`."""
    losses = {"policy loss": "policy_loss", "value loss": "value_loss"}
    accuracies = {
        "pair accuracy": "pair_accuracy",
        "accuracy": "agreement",
        "agreement with the expert's action": "expert_agreement",
    }
    return ", ".join(
        [
            *(f"{label} {metrics[name]:.4f}" for label, name in losses.items() if name in metrics),
            *(f"{label} {100 * metrics[name]:.1f}%" for label, name in accuracies.items() if name in metrics),
        ]
    )


def _names(paths: Sequence[str]) -> list[str]:
    """Return the folders' names, with as many parent folders as it takes to make them unique."""
    parts = [Path(path).parts for path in paths]
    for depth in range(1, max(map(len, parts), default=0) + 1):
        names = ["-".join(each[-depth:]).replace("/", "") for each in parts]
        if len(set(names)) == len(names):
            return names
    return [str(number) for number in range(1, len(paths) + 1)]
