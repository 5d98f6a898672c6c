"""The exact search from true positions of the engine: for an opponent in training, and for a teacher."""

from __future__ import annotations

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.engine.gen1.engine import Engine
from agents.search.exact.tree import Tree, TreeSettings, hidden_of
from agents.search.exact.weights import PositionWeights

#: A network's actions that are legal in generation 1.
_ACTIONS = 9
_SETTINGS = TreeSettings()


class Searched(NamedTuple):
    """What the search says of n decisions.

    values: [n, 9], float32: the probability of winning after each legal action of the first nine of a network; NaN for
    others, and in rows that have only one. value: [n], float32: that of the position; NaN in such rows.
    """

    values: NDArray[np.float32]
    value: NDArray[np.float32]

    def take(self, rows: NDArray[np.int64]) -> Searched:
        """These decisions."""
        return Searched(self.values[rows], self.value[rows])


def engine_actions(engine: Engine, rows: NDArray[np.int64], seats: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the engine's action of each of a network's first nine actions, [n, 9]; -1: not legal."""
    each = np.tile(np.arange(_ACTIONS), len(rows))
    return engine.translate(np.repeat(rows, _ACTIONS), np.repeat(seats, _ACTIONS), each).reshape(len(rows), _ACTIONS)


def grow_tree(
    position: NDArray[np.int32], iterations: int, weights: PositionWeights, seed: int, thread: int = 0
) -> Tree:
    """Return the search tree of a position [WORDS]. It is overwritten by the thread's next one. seed: not 0."""
    tree = _tree(iterations, thread)
    row = position.copy()
    tree.plant(row, hidden_of(row), np.full(2, 511, np.int64), _SETTINGS, weights, seed)
    tree.grow(iterations)
    return tree


class Teacher:
    """Judges the actions of many seats by one search for each battle, in which both sides know everything.

    trust: visits at which an action's value counts as much as its first guess, the position's value minus 0.05.
    """

    def __init__(self, iterations: int, trust: float, weights: PositionWeights, seed: int, threads: int = 1) -> None:
        self._iterations, self._trust, self._weights, self._seed = iterations, trust, weights, seed
        self._threads = threads
        self._rng = random.Random()

    def begin(self, number: int) -> None:
        """Make what follows a function of the seed and this number."""
        self._rng.seed(f"teacher {self._seed} {number}")

    def judge(self, engine: Engine, rows: NDArray[np.int64], seats: NDArray[np.int64]) -> Searched:
        """Judge the actions [n] of these seats."""
        translated = engine_actions(engine, rows, seats)
        searched = Searched(np.full((len(rows), _ACTIONS), np.nan, np.float32), np.full(len(rows), np.nan, np.float32))
        several = np.flatnonzero((translated >= 0).sum(1) > 1)
        together: dict[int, list[int]] = {}  # battle -> places of its decisions
        for place in several.tolist():
            together.setdefault(int(rows[place]), []).append(place)
        jobs = [(row, places, 1 + self._rng.getrandbits(60)) for row, places in together.items()]

        def search(thread: int) -> None:
            for row, places, seed in jobs[thread :: self._threads]:
                tree = grow_tree(engine.words[row], self._iterations, self._weights, seed, thread)
                for place in places:
                    searched.value[place], values = tree.values(int(seats[place]), self._trust)
                    searched.values[place] = np.where(translated[place] >= 0, values[translated[place]], np.nan)

        if self._threads == 1:
            search(0)
        else:
            for _ in _pool(self._threads).map(search, range(self._threads)):
                pass
        return searched


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
