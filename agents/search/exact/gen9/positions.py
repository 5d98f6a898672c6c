"""The exact search from positions of the generation-9 engine, for a teacher."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from agents.engine.gen9.engine import Engine
from agents.observation.actions import ACTIONS
from agents.observation.gen9_observation import engine_actions, legal_masks
from agents.search.exact.game import ILLEGAL, UNKNOWN
from agents.search.exact.gen9.position import HIDDEN, Root
from agents.search.exact.gen9.tree import ACTIONS as ENGINE_ACTIONS
from agents.search.exact.gen9.tree import Tree
from agents.search.exact.gen9.weights import PositionWeights
from agents.search.exact.root_values import TreeSettings

_ALL = np.full(2, (1 << ENGINE_ACTIONS) - 1, np.int32)
_SETTINGS = TreeSettings()


class Gen9Positions:
    """See game.Positions.

    The true position is searched, once for both seats of a battle: both sides know everything, turns of sleep and confusion
    that are left included, but not the random numbers to come.
    """

    actions = ACTIONS
    engine_count = ENGINE_ACTIONS
    shared = True

    def __init__(self, weights: PositionWeights) -> None:
        self._weights = weights

    def engine_actions(self, engine: Engine, rows: NDArray[np.int64], seats: NDArray[np.int64]) -> NDArray[np.int32]:
        legal = legal_masks(engine, rows, seats)
        legal[engine.choosing_leads(rows)[np.arange(len(rows)), seats]] = False  # the search begins with the first turn
        copies = engine.fork(rows.tolist())  # to be asked changes what a seat has been shown
        places = np.arange(len(rows))
        found = np.full(legal.shape, ILLEGAL, np.int32)
        for action in range(ACTIONS):
            copies.shown[:] = engine.shown[rows]
            found[:, action] = engine_actions(copies, places, seats, np.full(len(rows), action))
        return np.where(legal, np.where(found < 0, np.int32(UNKNOWN), found), np.int32(ILLEGAL))

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
        tree = _tree(1 << max(10, iterations.bit_length()), thread)
        root = Root(engine.words[row], np.full((2, HIDDEN), -1, np.int32))
        tree.plant(root, _ALL, _SETTINGS, self._weights, seed, guide)
        tree.grow(iterations)
        yield tree


@cache
def _tree(nodes: int, thread: int) -> Tree:
    """A tree that is kept for the thread's next position."""
    return Tree(nodes)
