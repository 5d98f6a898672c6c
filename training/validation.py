"""What a network is worth on datasets that are never learned from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from training.algorithms.tensors import Sums, Tensors, added, local_means, on_device, scaled
from training.config import BadConfig, Data
from training.data.orders import HELD_OUT
from training.data.shards import Dataset, opened
from training.data.stream import Use, sampled

#: So many trajectories of each dataset are measured, at most.
_MOST = 2048


@dataclass(frozen=True)
class HeldOut:
    """A dataset of `data.validate_on`. use: what is learned from the like of it; weight: in trajectories; name: its own.

    What was held out of a dataset that is learned from has that one's use and weight; any other is measured with everything
    in it, and weighs as the mixture's datasets do on average.
    """

    dataset: Dataset
    use: Use
    weight: float
    name: str


def held_out_parts(data: Data) -> list[HeldOut]:
    """The datasets of `data.validate_on`. Raises BadConfig that says how to make one, or how to train without it."""
    learned = {f"{source.path.rstrip('/')}{HELD_OUT}": source for source in data.train}
    sources = [learned.get(path.rstrip("/")) for path in data.validate_on]
    known = [source.weight for source in sources if source is not None]
    average = sum(known) / len(known) if known else 1.0
    return [
        HeldOut(_opened(path), Use(), average, name)
        if source is None
        else HeldOut(_opened(path), Use(source.policy_from, source.value_from), source.weight, name)
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
    parts: Sequence[HeldOut],
    data: Data,
    device: torch.device,
    loss: Callable[[nn.Module, Tensors], tuple[Tensor, Sums]],
) -> dict[str, float]:
    """The means over decisions of what the learning rule measures, of all datasets together, weighed as the mixture.

    Where there are several, of each by itself, too: "NAME/METRIC". loss: the rule's, for a network and a batch.
    """
    network.eval()
    gathered: Sums = {}
    by_dataset: dict[str, float] = {}
    for part in parts:
        sums: Sums = {}
        for batch in sampled(part.dataset, data.batch_size, data.max_length, _MOST, part.use):
            with torch.no_grad():
                _, more = loss(network, on_device(batch, device))
            sums = added(sums, more)
        by_dataset |= {f"{part.name}/{metric}": value for metric, value in local_means(sums).items()}
        gathered = added(gathered, scaled(sums, part.weight / min(_MOST, part.dataset.trajectories)))
    return {**local_means(gathered), **(by_dataset if len(parts) > 1 else {})}


def in_words(measured: dict[str, float]) -> str:
    """The losses and accuracies of `validated`, for a line: of all datasets together."""
    told = {"policy loss": "policy_loss", "value loss": "value_loss"}
    shares = {"accuracy": "agreement", "agreement with the expert's action": "expert_agreement"}
    losses = [f"{words} {measured[name]:.4f}" for words, name in told.items() if name in measured]
    return ", ".join(
        losses + [f"{words} {100 * measured[name]:.1f}%" for words, name in shares.items() if name in measured]
    )


def _names(paths: Sequence[str]) -> list[str]:
    """The folders' own names, with as many of those above them as it takes to tell them apart."""
    parts = [Path(path).parts for path in paths]
    for depth in range(1, max(map(len, parts), default=0) + 1):
        names = ["-".join(each[-depth:]).replace("/", "") for each in parts]
        if len(set(names)) == len(names):
            return names
    return [str(number) for number in range(1, len(paths) + 1)]
