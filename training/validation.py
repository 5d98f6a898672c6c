"""What a network is worth on datasets that are never learned from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor, nn

from training.algorithms.tensors import Sums, Tensors, added, local_means, on_device
from training.config import BadConfig, Data
from training.data.orders import HELD_OUT
from training.data.shards import Dataset, opened
from training.data.stream import Use, in_order

#: So many batches of each dataset are measured.
_BATCHES = 64


def held_out(path: str) -> Dataset:
    """A dataset of `data.validate_on`. Raises BadConfig that says how to make it, or how to train without it."""
    if not Path(path).exists():
        made = path.removesuffix(HELD_OUT)
        raise BadConfig(
            f"data.validate_on: {path} is not there: make it with `train data build --out {made} --hold-out 0.03` (and "
            "--replace where the dataset is there), or train without it: --set data.validate_on=[]"
        )
    return opened(Path(path))


def validated(
    network: nn.Module,
    datasets: Sequence[tuple[Dataset, Use]],
    data: Data,
    device: torch.device,
    loss: Callable[[nn.Module, Tensors], tuple[Tensor, Sums]],
) -> dict[str, float]:
    """The means over decisions of what the learning rule measures. datasets: each with what is learned from the like of it.

    loss: the rule's, for a network and a batch.
    """
    network.eval()
    gathered: Sums = {}
    for dataset, use in datasets:
        for batch in islice(in_order(dataset, data.batch, data.longest, use), _BATCHES):
            with torch.no_grad():
                _, sums = loss(network, on_device(batch, device))
            gathered = added(gathered, sums)
    return local_means(gathered)
