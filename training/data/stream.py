"""Batches from a weighted mixture of datasets, in an order that depends on the seed only and can be resumed anywhere.

The next trajectory comes from the dataset that is furthest behind its weight. Each epoch over a dataset has its own order:
its shards are shuffled, and then the trajectories of every OPEN_SHARDS consecutive shards, which are in memory together. The
trajectories of several batches are sorted by length before they are divided into batches, which reduces padding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.data.shards import BadData, Dataset, Shard, all_trajectories, read_shard
from training.data.targets import PolicyFrom, ValueFrom
from training.data.trajectory import COLUMNS, Trajectory

#: Shards in memory at once for each dataset, which is the shuffle buffer.
OPEN_SHARDS = 4
#: Number of batches whose trajectories are sorted by length together.
_SORTED_TOGETHER = 8

#: Seed of the validation sample: the same in all runs, so that validation metrics are comparable.
_SAMPLE_SEED = 20_000


@dataclass(frozen=True)
class Use:
    """Which sides of a dataset enter the losses. policy_from: the policy loss; value_from: the value loss."""

    policy_from: PolicyFrom = "all"
    value_from: ValueFrom = "all"

    def teaches_policy(self, result: float) -> bool:
        """Return whether a side with this result enters the policy loss."""
        return self.policy_from == "all" or (self.policy_from == "won" and result == 1.0)


@dataclass(frozen=True)
class Batch:
    """B trajectories of up to T decisions, padded at the end. The fields are those of `Trajectory` with a batch dimension.

    valid_mask: False at padding. policy_mask, value_mask: whether the trajectory enters the policy loss, the value loss.
    """

    token_ids: NDArray[np.int16]  # [B, T, 19, 12]
    features: NDArray[np.float16]  # [B, T, 19, 56]
    legal: NDArray[np.bool_]  # [B, T, 13]
    actions: NDArray[np.int8]  # [B, T]
    target_policy: NDArray[np.float16]  # [B, T, 13]
    targets: NDArray[np.int8]  # [B, T]
    values: NDArray[np.float16]  # [B, T]
    rejected: NDArray[np.int8]  # [B, T]
    results: NDArray[np.float32]  # [B]
    valid_mask: NDArray[np.bool_]  # [B, T]
    policy_mask: NDArray[np.bool_]  # [B]
    value_mask: NDArray[np.bool_]  # [B]
    remaining: NDArray[np.int64]  # [B]

    @property
    def decisions(self) -> int:
        return int(self.valid_mask.sum())

    def rows(self, start: int, step: int) -> Batch:
        """Return every `step`-th trajectory from `start`: the part of a process or of a micro-batch."""
        return Batch(**{name: array[start::step] for name, array in vars(self).items()})


class Stream:
    """Infinite iterator over batches of several datasets, resumable with `state` and `restore`.

    weights: sampling weight of each dataset, over trajectories. uses: the `Use` of each; None: everything. batch_size: in
    trajectories. max_length: longer trajectories are truncated to a random window of so many decisions. Raises BadData for
    a damaged or empty dataset.
    """

    def __init__(
        self,
        datasets: list[Dataset],
        weights: list[float],
        uses: list[Use] | None = None,
        *,
        batch_size: int,
        max_length: int,
        seed: int,
    ) -> None:
        for dataset in datasets:
            if not dataset.trajectories:
                raise BadData(f"dataset {dataset.folder}: contains no trajectory")
        self._weights = np.array(weights) / sum(weights)
        self._uses = uses or [Use()] * len(datasets)
        self._datasets, self._batch_size, self._max_length, self._seed = datasets, batch_size, max_length, seed
        means = [dataset.mean_length(max_length) for dataset in datasets]
        #: Mean number of decisions of a batch, over whole epochs of the mixture: a constant of the run.
        self.mean_decisions = batch_size * float(self._weights @ np.array(means))
        self._round, self._yielded = 0, 0
        self._positions = [0] * len(datasets)

    @property
    def state(self) -> dict[str, Any]:
        """The position, JSON-serializable: number of the current group of batches that are sorted together, batches of it
        yielded so far (`given`), and trajectories taken from each dataset before it (`began`)."""
        return {"round": self._round, "given": self._yielded, "began": list(self._positions)}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a `state`. Raises BadData if it has another number of datasets."""
        if len(state["began"]) != len(self._datasets):
            raise BadData(f"data: {len(state['began'])} datasets when it was saved, {len(self._datasets)} now")
        self._round, self._yielded, self._positions = state["round"], state["given"], list(state["began"])

    def __iter__(self) -> Iterator[Batch]:
        orders = [
            _Order(dataset, (self._seed, index), position)
            for index, (dataset, position) in enumerate(zip(self._datasets, self._positions, strict=True))
        ]
        sources = [iter(order) for order in orders]
        while True:
            drawn = [self._next(orders, sources) for _ in range(_SORTED_TOGETHER * self._batch_size)]
            generator = np.random.default_rng((self._seed, self._round))
            windows = [(_random_window(trajectory, self._max_length, generator), use) for trajectory, use in drawn]
            windows.sort(key=lambda sample: len(sample[0]))
            for batch in generator.permutation(_SORTED_TOGETHER)[self._yielded :]:
                self._yielded += 1
                chosen = windows[batch * self._batch_size : (batch + 1) * self._batch_size]
                yield padded([window for window, _ in chosen], [use for _, use in chosen])
            self._round, self._yielded = self._round + 1, 0
            self._positions = [order.position for order in orders]

    def _next(self, orders: list[_Order], sources: list[Iterator[Trajectory]]) -> tuple[Trajectory, Use]:
        counts = np.array([order.position for order in orders])
        index = int(np.argmax(self._weights * (counts.sum() + 1) - counts))
        return next(sources[index]), self._uses[index]


class _Order:
    """Infinite iterator over one dataset from its `position`-th trajectory on, reshuffled in each epoch."""

    def __init__(self, dataset: Dataset, seed: tuple[int, int], position: int) -> None:
        self._dataset, self._seed, self.position = dataset, seed, position
        self._counts = [len(lengths) for lengths in dataset.lengths]

    def __iter__(self) -> Iterator[Trajectory]:
        while True:
            epoch, skip = divmod(self.position, sum(self._counts))
            for group in self._groups(epoch):
                size = sum(self._counts[shard] for shard in group)
                if skip < size:
                    yield from self._from_group(epoch, group, skip)
                skip = max(0, skip - size)

    def _groups(self, epoch: int) -> list[list[int]]:
        shards = [int(shard) for shard in np.random.default_rng((*self._seed, epoch)).permutation(len(self._counts))]
        return [shards[start : start + OPEN_SHARDS] for start in range(0, len(shards), OPEN_SHARDS)]

    def _from_group(self, epoch: int, group: list[int], skip: int) -> Iterator[Trajectory]:
        shards: dict[int, Shard] = {shard: read_shard(self._dataset, shard) for shard in group}
        entries = [(shard, index) for shard in group for index in range(self._counts[shard])]
        for number in np.random.default_rng((*self._seed, epoch, group[0])).permutation(len(entries))[skip:]:
            shard, index = entries[number]
            self.position += 1
            yield shards[shard][index]


def _window(trajectory: Trajectory, start: int, max_length: int) -> Trajectory:
    """Return its decisions from `start` on, at most `max_length`."""
    parts: dict[str, Any] = {name: getattr(trajectory, name)[start : start + max_length] for name in COLUMNS}
    return replace(trajectory, **parts, remaining=max(0, len(trajectory) - start - max_length))


def _random_window(trajectory: Trajectory, max_length: int, generator: np.random.Generator) -> Trajectory:
    return _window(trajectory, int(generator.integers(max(1, len(trajectory) - max_length + 1))), max_length)


def padded(trajectories: list[Trajectory], uses: Sequence[Use] | None = None) -> Batch:
    """Pad trajectories to a batch. Padding has token ids and features 0, all actions legal and an unknown action.

    uses: the `Use` of each trajectory's dataset; None: everything.
    """
    uses = uses or [Use()] * len(trajectories)
    shape, layout = (len(trajectories), max(map(len, trajectories))), trajectories[0].layout
    arrays: dict[str, Any] = {
        name: np.full((*shape, *column.shape(layout)), column.padding, column.dtype) for name, column in COLUMNS.items()
    }
    valid_mask = np.zeros(shape, np.bool_)
    for row, trajectory in enumerate(trajectories):
        valid_mask[row, : len(trajectory)] = True
        for name, array in arrays.items():
            array[row, : len(trajectory)] = getattr(trajectory, name)
    policy_mask = [use.teaches_policy(trajectory.result) for trajectory, use in zip(trajectories, uses, strict=True)]
    return Batch(
        **arrays,
        valid_mask=valid_mask,
        results=np.array([trajectory.result for trajectory in trajectories], np.float32),
        policy_mask=np.array(policy_mask, np.bool_),
        value_mask=np.array([use.value_from == "all" for use in uses], np.bool_),
        remaining=np.array([trajectory.remaining for trajectory in trajectories], np.int64),
    )


def validation_batches(
    dataset: Dataset, batch_size: int, max_length: int, max_trajectories: int, use: Use | None = None
) -> Iterator[Batch]:
    """Yield batches of a fixed random sample of up to `max_trajectories` trajectories, for validation.

    The sample, and the window of a trajectory longer than `max_length`, are the same in every call. use: that of the
    training dataset; None: everything.
    """
    generator = np.random.default_rng(_SAMPLE_SEED)
    drawn = {int(index) for index in generator.permutation(dataset.trajectories)[:max_trajectories]}
    uses = [use or Use()] * batch_size
    waiting: list[Trajectory] = []
    for index, trajectory in enumerate(all_trajectories(dataset)):
        if index in drawn:
            waiting.append(_random_window(trajectory, max_length, generator))
        if len(waiting) == batch_size:
            yield padded(waiting, uses)
            waiting = []
    if waiting:
        yield padded(waiting, uses[: len(waiting)])
