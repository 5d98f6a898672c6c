"""The exact search from positions of the engine: for an opponent in training, and for a teacher."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.engine.gen1.engine import Engine
from agents.search.exact.determinized import determinized
from agents.search.exact.root_values import TreeSettings
from agents.search.exact.tree import Tree, hidden_of
from agents.search.exact.weights import PositionWeights

#: A network's actions that are legal in generation 1.
_ACTIONS = 9
_SETTINGS = TreeSettings()


class Searched(NamedTuple):
    """What the search says of n decisions.

    values: [n, 9], float32: the probability of winning after each legal action of the first nine of a network; NaN for
    others, and in rows that have only one. value: [n], float32: that of the position; NaN in such rows. second_values:
    [n, 9], mean values by a second search, whose chance is independent of the first one's; the position's value for what it
    has not tried; NaN in rows without a second search.
    """

    values: NDArray[np.float32]
    value: NDArray[np.float32]
    second_values: NDArray[np.float32]

    def take(self, rows: NDArray[np.int64]) -> Searched:
        """These decisions."""
        return Searched(self.values[rows], self.value[rows], self.second_values[rows])


def engine_actions(engine: Engine, rows: NDArray[np.int64], seats: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the engine's action of each of a network's first nine actions, [n, 9]; -1: not legal."""
    each = np.tile(np.arange(_ACTIONS), len(rows))
    return engine.translate(np.repeat(rows, _ACTIONS), np.repeat(seats, _ACTIONS), each).reshape(len(rows), _ACTIONS)


def grow_tree(
    position: NDArray[np.int32],
    iterations: int,
    weights: PositionWeights,
    seed: int,
    thread: int = 0,
    hidden: NDArray[np.int64] | None = None,
) -> Tree:
    """Return the search tree of a position [WORDS]. It is overwritten by the thread's next one. seed: not 0.

    hidden: as `Tree.plant` takes it; None: that of a true position.
    """
    tree = _tree(iterations, thread)
    row = position.copy()
    tree.plant(row, hidden_of(row) if hidden is None else hidden, np.full(2, 511, np.int64), _SETTINGS, weights, seed)
    tree.grow(iterations)
    return tree


class Teacher:
    """Judges the actions of many seats by searches.

    determinizations: 0: one search for each battle from the true position, in which both sides know everything. N: for each
    seat that decides N searches, each with a sample of what the opponent has not shown (determinized.py); their values are
    averaged. iterations: of a battle's search, or of a seat's N searches together. trust: visits at which an action's value
    counts as much as its first guess, the position's value minus 0.05. second_share: the share of decisions that are
    searched a second time. The first search does not depend on it.
    """

    def __init__(
        self,
        iterations: int,
        trust: float,
        weights: PositionWeights,
        seed: int,
        threads: int = 1,
        determinizations: int = 0,
        second_share: float = 0.0,
    ) -> None:
        self._iterations, self._trust, self._weights, self._seed = iterations, trust, weights, seed
        self._threads, self._determinizations, self._second_share = threads, determinizations, second_share
        self._rng, self._second_rng = random.Random(), random.Random()

    def begin(self, number: int) -> None:
        """Make what follows a function of the seed and this number."""
        self._rng.seed(f"teacher {self._seed} {number}")
        self._second_rng.seed(f"second {self._seed} {number}")

    def judge(self, engine: Engine, rows: NDArray[np.int64], seats: NDArray[np.int64]) -> Searched:
        """Judge the actions [n] of these seats."""
        translated = engine_actions(engine, rows, seats)
        unknown = np.full((len(rows), _ACTIONS), np.nan, np.float32)
        searched = Searched(unknown, np.full(len(rows), np.nan, np.float32), unknown.copy())
        together: dict[tuple[int, int], list[int]] = {}  # what shares a search -> places of its decisions
        for place in np.flatnonzero((translated >= 0).sum(1) > 1).tolist():
            seat = int(seats[place]) if self._determinizations else -1
            together.setdefault((int(rows[place]), seat), []).append(place)
        jobs = [(places, 1 + self._rng.getrandbits(60), self._second_seed()) for places in together.values()]

        def search(thread: int) -> None:
            for places, seed, second_seed in jobs[thread :: self._threads]:
                row, mine, actions = int(rows[places[0]]), seats[places], translated[places]
                trees = self._trees(engine, row, int(mine[0]), seed, thread)
                found = _judged(trees, mine, actions, self._trust, _SETTINGS.first)
                searched.values[places], searched.value[places] = found
                if second_seed:
                    trees = self._trees(engine, row, int(mine[0]), second_seed, thread)
                    searched.second_values[places] = _judged(trees, mine, actions, 0.0, 0.0)[0]

        if self._threads == 1:
            search(0)
        else:
            for _ in _pool(self._threads).map(search, range(self._threads)):
                pass
        return searched

    def _second_seed(self) -> int:
        """The seed of a second search; 0 where there is none."""
        searched = self._second_rng.random() < self._second_share
        return 1 + self._second_rng.getrandbits(60) if searched else 0

    def _trees(self, engine: Engine, row: int, seat: int, seed: int, thread: int) -> Iterator[Tree]:
        """The searches of one seat, one after the other, or the one of both seats."""
        if not self._determinizations:
            yield grow_tree(engine.words[row], self._iterations, self._weights, seed, thread)
            return
        rng = random.Random(seed)
        for _ in range(self._determinizations):
            root = determinized(engine.words[row], seat, engine.format_id, rng)
            share = self._iterations // self._determinizations
            yield grow_tree(root.row, share, self._weights, 1 + rng.getrandbits(60), thread, root.hidden)


def _judged(
    trees: Iterator[Tree], seats: NDArray[np.int64], translated: NDArray[np.int32], trust: float, first: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the values [k, 9] of the actions of a battle's seats and those of their positions [k]: means over searches.

    trust, first: see `Tree.values`.
    """
    values, value, searches = np.zeros((len(seats), _ACTIONS)), np.zeros(len(seats)), 0
    for tree in trees:
        searches += 1
        for k, seat in enumerate(seats.tolist()):
            position, of_actions = tree.values(seat, trust, first)
            values[k] += of_actions[translated[k]]
            value[k] += position
    return np.where(translated >= 0, values / searches, np.nan), value / searches


def legal_visits(tree: Tree, seat: int, translated: NDArray[np.int32]) -> tuple[Sequence[int], NDArray[np.int32]]:
    """Return a seat's legal actions, as a network's, and their visits at the root."""
    legal = np.flatnonzero(translated >= 0)
    return legal.tolist(), tree.edges(seat)[0][translated[legal]]


@cache
def _tree(iterations: int, thread: int) -> Tree:
    """A tree with room for so many iterations, kept for the next position."""
    return Tree(1 << max(10, iterations.bit_length()))


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="teacher")
