"""The datasets of a training run: those that it is trained on, as batches, and the held-out ones that are only measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from training.data.rebuild_command import PREFERENCES
from training.data.shards import BadData, Dataset, digest, opened
from training.data.stream import Stream, Use
from training.offline.config import Config
from training.offline.tensors import Sums, Tensors
from training.offline.validation import held_out_parts, validated


class RunData:
    """The datasets of a run. trajectories: total over all training datasets. stream: their batches.

    team_preview: whether the network decides team previews of singles; None: if a training dataset has such decisions.
    Without, they are left out. Raises BadConfig and BadData if a dataset does not exist or cannot be used.
    """

    def __init__(self, config: Config, team_preview: bool | None = None) -> None:
        self._data, self._out = config.data, config.out
        sources = self._data.train
        self._datasets = datasets = [opened(Path(source.path)) for source in sources]
        for dataset in datasets:
            _check_use(dataset, config.algorithm.name)
        uses = [Use(source.policy_from, source.value_from) for source in sources]
        self._held_out = held_out_parts(self._data)
        paths = [source.path for source in sources] + self._data.validate_on
        validation = [part.dataset for part in self._held_out]
        #: Of a side in the battles: 1 in singles, 2 in doubles.
        self.slots = _slots([*datasets, *validation])
        has_previews = any(dataset.previews for dataset in datasets)
        #: Whether the network decides team previews of singles.
        self.team_preview = self.slots == 1 and (has_previews if team_preview is None else team_preview)
        #: Whether it can learn to from the data.
        self.has_previews = has_previews
        self._digests = {path: digest(dataset) for path, dataset in zip(paths, datasets + validation, strict=True)}
        if not self.team_preview:
            datasets = self._datasets = [dataset.without_previews() for dataset in datasets]
            self._held_out = [replace(part, dataset=part.dataset.without_previews()) for part in self._held_out]
        self.trajectories = sum(dataset.trajectories for dataset in datasets)
        self.stream = Stream(
            datasets,
            [source.weight for source in sources],
            uses,
            batch_size=self._data.batch_size,
            max_length=self._data.max_length,
            seed=config.seed,
        )

    def passes(self, steps: int) -> list[str]:
        """Return how many epochs over each dataset so many steps are, as text: "data/battles 2.0 times"."""
        total = sum(source.weight for source in self._data.train)
        sampled = steps * self._data.batch_size / total
        return [
            f"{source.path} {sampled * source.weight / dataset.trajectories:.1f} times"
            for source, dataset in zip(self._data.train, self._datasets, strict=True)
        ]

    @property
    def state(self) -> dict[str, Any]:
        """What a checkpoint stores: the position of the stream, and the digest of each dataset by its path."""
        return {"stream": self.stream.state, "datasets": self._digests}

    def restore(self, position: dict[str, Any]) -> None:
        """Restore a `state`. Raises BadData if a dataset has changed since then.

        With other data, the position in the data and the metric of the best checkpoint would have no meaning. Checkpoints
        of earlier versions have no digests; their datasets are not checked.
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
        """Return the mean of each metric on the validation datasets; empty without any."""
        return validated(network, self._held_out, self._data, device, loss) if self._held_out else {}


def _slots(datasets: Sequence[Dataset]) -> int:
    """Return the number of slots a side in the battles of all datasets. Raises BadData if they differ."""
    first = datasets[0]
    for dataset in datasets:
        if dataset.slots != first.slots:
            names = {1: "singles", 2: "doubles"}
            raise BadData(
                f"dataset {dataset.folder}: of {names[dataset.slots]}, and {first.folder} is of {names[first.slots]}: a "
                "network learns one of them: choose datasets of one kind"
            )
    return first.slots


def _check_use(dataset: Dataset, algorithm: str) -> None:
    """Raise BadData for a dataset that a rule cannot be trained on."""
    has_pairs = dataset.about.get("source") == PREFERENCES
    if algorithm == "dpo" and not has_pairs:
        raise BadData(
            f"dataset {dataset.folder}: holds no pairs: `train preferences build` makes a dataset for `dpo`; for this one "
            "use algorithm.name: cloning"
        )
    if algorithm == "offline-rl" and has_pairs:
        raise BadData(
            f"dataset {dataset.folder}: its battles end at their last pair, so they have no returns: use algorithm.name: "
            "dpo or cloning"
        )
