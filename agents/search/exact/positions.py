"""The exact search from positions of generation 1's engine: for an opponent in training, and for a teacher."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

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


def grow_tree(
    position: NDArray[np.int32],
    iterations: int,
    weights: PositionWeights,
    seed: int,
    thread: int = 0,
    hidden: NDArray[np.int64] | None = None,
    guide: NDArray[np.float32] | None = None,
) -> Tree:
    """Return the search tree of a position [WORDS]. It is overwritten by the thread's next one. seed: not 0.

    hidden, guide: as `Tree.plant` takes them; None: hidden is that of a true position.
    """
    tree = _tree(iterations, thread)
    row = position.copy()
    hidden = hidden_of(row) if hidden is None else hidden
    tree.plant(row, hidden, np.full(2, 511, np.int64), _SETTINGS, weights, seed, guide)
    tree.grow(iterations)
    return tree


class Gen1Positions:
    """See game.Positions.

    determinizations: 0: one search for each battle from the true position, in which both sides know everything. N: for each
    seat that decides N searches, each with a sample of what the opponent has not shown (determinized.py).
    """

    actions = engine_count = _ACTIONS

    def __init__(self, weights: PositionWeights, determinizations: int = 0) -> None:
        self._weights, self._determinizations = weights, determinizations
        self.shared = not determinizations

    def engine_actions(self, engine: Engine, rows: NDArray[np.int64], seats: NDArray[np.int64]) -> NDArray[np.int32]:
        each = np.tile(np.arange(_ACTIONS), len(rows))
        return engine.translate(np.repeat(rows, _ACTIONS), np.repeat(seats, _ACTIONS), each).reshape(
            len(rows), _ACTIONS
        )

    def trees(
        self,
        engine: Engine,
        row: int,
        seat: int,
        iterations: int,
        seed: int,
        thread: int,
        guide: NDArray[np.float32] | None,
    ) -> Iterator[Tree]:
        if not self._determinizations:
            yield grow_tree(engine.words[row], iterations, self._weights, seed, thread, guide=guide)
            return
        rng = random.Random(seed)
        for _ in range(self._determinizations):
            root = determinized(engine.words[row], seat, engine.format_id, rng)
            share = iterations // self._determinizations
            yield grow_tree(root.row, share, self._weights, 1 + rng.getrandbits(60), thread, root.hidden, guide)


@cache
def _tree(iterations: int, thread: int) -> Tree:
    """A tree with room for so many iterations, kept for the next position."""
    return Tree(1 << max(10, iterations.bit_length()))
