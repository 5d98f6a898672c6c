"""The datasets of a training run: those that it learns from, as batches, and those that it is only measured on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from training.algorithms.tensors import Sums, Tensors
from training.config import Config
from training.data.shards import BadData, digest, opened
from training.data.stream import Stream, Use
from training.validation import held_out_parts, validated


class RunData:
    """trajectories: in all datasets that are learned from. stream: their batches.

    Raises BadConfig and BadData for a dataset that is not there or cannot be used.
    """

    def __init__(self, config: Config) -> None:
        self._data, self._out = config.data, config.out
        sources = self._data.train
        self._datasets = datasets = [opened(Path(source.path)) for source in sources]
        uses = [Use(source.policy_from, source.value_from) for source in sources]
        self._held_out = held_out_parts(self._data)
        paths = [source.path for source in sources] + self._data.validate_on
        measured = [part.dataset for part in self._held_out]
        self._digests = {path: digest(dataset) for path, dataset in zip(paths, datasets + measured, strict=True)}
        self.trajectories = sum(dataset.trajectories for dataset in datasets)
        self.stream = Stream(
            datasets,
            [source.weight for source in sources],
            uses,
            size=self._data.batch_size,
            longest=self._data.max_length,
            seed=config.seed,
        )

    def passes(self, steps: int) -> list[str]:
        """How often each dataset is gone through in so many steps, in words: "data/battles 2.0 times"."""
        total = sum(source.weight for source in self._data.train)
        drawn = steps * self._data.batch_size / total
        return [
            f"{source.path} {drawn * source.weight / dataset.trajectories:.1f} times"
            for source, dataset in zip(self._data.train, self._datasets, strict=True)
        ]

    @property
    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps of it. datasets: the digest of each, by its path."""
        return {"stream": self.stream.state, "datasets": self._digests}

    def restore(self, position: dict[str, Any]) -> None:
        """Continues from a position that holds a `state`. Raises BadData where a dataset was exchanged since then.

        The place in the data would be one in another order, and the best checkpoint one of another measure. Positions of
        earlier versions hold no digests: their datasets are taken as they are.
        """
        before = position.get("datasets", {})
        for path, now in self._digests.items():
            if before.get(path, now) != now:
                raise BadData(
                    f"dataset {path}: holds other data than when the run {self._out} was started: restore the earlier "
                    f"dataset, or start another run with this one (network.start_from: {self._out}@last)"
                )
        self.stream.restore(position["stream"])

    def validated(
        self,
        network: nn.Module,
        device: torch.device,
        loss: Callable[[nn.Module, Tensors], tuple[Tensor, Sums]],
    ) -> dict[str, float]:
        """The means of the rule's measurements on the data held out; nothing where there is none."""
        return validated(network, self._held_out, self._data, device, loss) if self._held_out else {}
