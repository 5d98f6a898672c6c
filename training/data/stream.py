"""Batches out of datasets: mixed by weights, in an order that the seed fixes, from any point on again.

The next trajectory always comes from the dataset that is furthest behind its weight. Within a dataset each epoch has its own
order: the shards are shuffled, and of every OPEN_SHARDS of them, which are in memory together, the trajectories. Some
batches' worth of trajectories are sorted by length before they are cut into batches, so that little is padding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.policy.actions import ACTIONS
from agents.policy.observation import NUMBERS, TOKENS, WORDS
from training.config import PolicyFrom, ValueFrom
from training.data.shards import BadData, Dataset, Shard, all_trajectories, read_shard
from training.data.targets import Target
from training.data.trajectory import BY_DECISION, MISSING, Trajectory

#: Shards in memory at once for each dataset: among their trajectories an epoch is shuffled.
OPEN_SHARDS = 4
#: Of so many batches the trajectories are sorted by length together.
_SORTED_TOGETHER = 8

#: Which trajectories of a large dataset are measured never changes in a run.
_SAMPLE_SEED = 20_000


@dataclass(frozen=True)
class Use:
    """What is learned from a dataset. policy_from: from which of its sides the policy learns; value_from: the value."""

    policy_from: PolicyFrom = "all"
    value_from: ValueFrom = "all"

    def teaches_policy(self, result: float) -> bool:
        """Whether the policy learns from a side with this result."""
        return self.policy_from == "all" or (self.policy_from == "won" and result == 1.0)


@dataclass(frozen=True)
class Batch:
    """B trajectories of up to T decisions, padded at the end. Arrays as in `Trajectory`, with B in front.

    real: bool [B, T], false where padded. results: float32 [B]. policy_mask, value_mask: bool [B], whether the policy, and
    whether the value, learns from the trajectory. remaining: int64 [B].
    """

    ids: NDArray[np.int16]
    numbers: NDArray[np.float16]
    legal: NDArray[np.bool_]
    actions: NDArray[np.int8]
    shares: NDArray[np.float16]
    targets: NDArray[np.int8]
    values: NDArray[np.float16]
    results: NDArray[np.float32]
    real: NDArray[np.bool_]
    policy_mask: NDArray[np.bool_]
    value_mask: NDArray[np.bool_]
    remaining: NDArray[np.int64]

    @property
    def decisions(self) -> int:
        return int(self.real.sum())

    def rows(self, start: int, step: int) -> Batch:
        """Every `step`-th trajectory from `start` on: one process's, or one micro-batch's, part."""
        return Batch(**{name: array[start::step] for name, array in vars(self).items()})


class Stream:
    """Batches without end out of several datasets. `state` and `restore` make it go on from where it was.

    weights: of each dataset, in trajectories. uses: of each what is learned from it; None: everything from all. size:
    trajectories a batch. longest: more decisions than this are cut to a window of that length, drawn by the seed. Raises
    BadData for a dataset that is damaged or empty.
    """

    def __init__(
        self,
        datasets: list[Dataset],
        weights: list[float],
        uses: list[Use] | None = None,
        *,
        size: int,
        longest: int,
        seed: int,
    ) -> None:
        for dataset in datasets:
            if not dataset.trajectories:
                raise BadData(f"dataset {dataset.folder}: contains no trajectory")
        self._weights = np.array(weights) / sum(weights)
        self._uses = uses or [Use()] * len(datasets)
        self._datasets, self._size, self._longest, self._seed = datasets, size, longest, seed
        means = [dataset.mean_length(longest) for dataset in datasets]
        #: Decisions of a batch, the mean over whole epochs of the mixture: the same number at every step.
        self.mean_decisions = size * float(self._weights @ np.array(means))
        self._round, self._given = 0, 0
        self._began = [0] * len(datasets)

    @property
    def state(self) -> dict[str, Any]:
        """Where it stands, JSON-able: the round of batches sorted together, those given of it, what came before it."""
        return {"round": self._round, "given": self._given, "began": list(self._began)}

    def restore(self, state: dict[str, Any]) -> None:
        """Goes on from a `state`. Raises BadData when it is of another number of datasets."""
        if len(state["began"]) != len(self._datasets):
            raise BadData(f"data: {len(state['began'])} datasets when it was saved, {len(self._datasets)} now")
        self._round, self._given, self._began = state["round"], state["given"], list(state["began"])

    def __iter__(self) -> Iterator[Batch]:
        orders = [
            _Order(dataset, (self._seed, place), taken)
            for place, (dataset, taken) in enumerate(zip(self._datasets, self._began, strict=True))
        ]
        sources = [iter(order) for order in orders]
        while True:
            drawn = [self._next(orders, sources) for _ in range(_SORTED_TOGETHER * self._size)]
            generator = np.random.default_rng((self._seed, self._round))
            cut = [(_drawn_window(one, self._longest, generator), use) for one, use in drawn]
            cut.sort(key=lambda one: len(one[0]))
            for batch in generator.permutation(_SORTED_TOGETHER)[self._given :]:
                self._given += 1
                chosen = cut[batch * self._size : (batch + 1) * self._size]
                yield padded([one for one, _ in chosen], [use for _, use in chosen])
            self._round, self._given = self._round + 1, 0
            self._began = [order.taken for order in orders]

    def _next(self, orders: list[_Order], sources: list[Iterator[Trajectory]]) -> tuple[Trajectory, Use]:
        taken = np.array([order.taken for order in orders])
        place = int(np.argmax(self._weights * (taken.sum() + 1) - taken))
        return next(sources[place]), self._uses[place]


class _Order:
    """The trajectories of one dataset without end, from the `taken`-th on: epoch after epoch, each shuffled anew."""

    def __init__(self, dataset: Dataset, seed: tuple[int, int], taken: int) -> None:
        self._dataset, self._seed, self.taken = dataset, seed, taken
        self._counts = [len(lengths) for lengths in dataset.lengths]

    def __iter__(self) -> Iterator[Trajectory]:
        while True:
            epoch, skip = divmod(self.taken, sum(self._counts))
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
        places = [(shard, place) for shard in group for place in range(self._counts[shard])]
        for index in np.random.default_rng((*self._seed, epoch, group[0])).permutation(len(places))[skip:]:
            shard, place = places[index]
            self.taken += 1
            yield shards[shard][place]


def _window(trajectory: Trajectory, start: int, longest: int) -> Trajectory:
    """Its decisions from `start` on, at most `longest`."""
    parts: dict[str, Any] = {name: getattr(trajectory, name)[start : start + longest] for name in BY_DECISION}
    return replace(trajectory, **parts, remaining=max(0, len(trajectory) - start - longest))


def _drawn_window(trajectory: Trajectory, longest: int, generator: np.random.Generator) -> Trajectory:
    return _window(trajectory, int(generator.integers(max(1, len(trajectory) - longest + 1))), longest)


def padded(trajectories: list[Trajectory], uses: Sequence[Use] | None = None) -> Batch:
    """A batch of whole trajectories. Padding has id 0, number 0, every action legal and none known.

    uses: of each trajectory what is learned from its dataset; None: everything.
    """
    uses = uses or [Use()] * len(trajectories)
    shape = (len(trajectories), max(map(len, trajectories)))
    empty: dict[str, Any] = {
        "ids": np.zeros((*shape, TOKENS, WORDS), np.int16),
        "numbers": np.zeros((*shape, TOKENS, NUMBERS), np.float16),
        "legal": np.ones((*shape, ACTIONS), np.bool_),
        "actions": np.full(shape, MISSING, np.int8),
        "shares": np.zeros((*shape, ACTIONS), np.float16),
        "targets": np.full(shape, Target.CHOICE, np.int8),
        "values": np.full(shape, np.nan, np.float16),
    }
    real = np.zeros(shape, np.bool_)
    for row, one in enumerate(trajectories):
        real[row, : len(one)] = True
        for name, array in empty.items():
            array[row, : len(one)] = getattr(one, name)
    teaches = [use.teaches_policy(one.result) for one, use in zip(trajectories, uses, strict=True)]
    return Batch(
        **empty,
        real=real,
        results=np.array([one.result for one in trajectories], np.float32),
        policy_mask=np.array(teaches, np.bool_),
        value_mask=np.array([use.value_from == "all" for use in uses], np.bool_),
        remaining=np.array([one.remaining for one in trajectories], np.int64),
    )


def sampled(dataset: Dataset, size: int, longest: int, most: int, use: Use | None = None) -> Iterator[Batch]:
    """Up to `most` of its trajectories, each once, drawn without replacement: the same whenever it is asked, for measuring.

    Of one that is longer than `longest` a window is drawn. use: what is learned from datasets like it; None: everything.
    """
    generator = np.random.default_rng(_SAMPLE_SEED)
    drawn = {int(place) for place in generator.permutation(dataset.trajectories)[:most]}
    uses = [use or Use()] * size
    waiting: list[Trajectory] = []
    for place, one in enumerate(all_trajectories(dataset)):
        if place in drawn:
            waiting.append(_drawn_window(one, longest, generator))
        if len(waiting) == size:
            yield padded(waiting, uses)
            waiting = []
    if waiting:
        yield padded(waiting, uses[: len(waiting)])
