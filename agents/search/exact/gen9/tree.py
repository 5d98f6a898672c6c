"""The tree search in C++ (agents/engine/gen9/src/search): what Python plants, grows and reads."""

from __future__ import annotations

import ctypes
import weakref

import numpy as np
from numpy.typing import NDArray

from agents.engine.gen9.library import library
from agents.search.exact.gen9.position import Root
from agents.search.exact.gen9.weights import PositionWeights
from agents.search.exact.root_values import TreeSettings, root_values

ACTIONS = 13


def _at(array: NDArray[np.generic]) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


class Tree:
    """One tree with its memory, which is kept from one search to the next."""

    def __init__(self, nodes: int = 1 << 16) -> None:
        """nodes: at most, a power of 2. Raises MemoryError."""
        made = library().gen9_search_new
        made.restype = ctypes.c_void_p
        self._tree = ctypes.c_void_p(made(ctypes.c_int64(nodes)))
        if not self._tree:
            raise MemoryError(f"no memory for a tree of {nodes} nodes")
        weakref.finalize(self, library().gen9_search_delete, self._tree)
        self._first = 0.0

    def plant(
        self,
        root: Root,
        allowed: NDArray[np.int32],
        settings: TreeSettings,
        weights: PositionWeights,
        seed: int,
        guide: NDArray[np.float32] | None = None,
    ) -> None:
        """Begins a new tree. allowed [2]: actions at the root as bits; seed: not 0.

        guide: probabilities [2, ACTIONS] of both seats' actions that are mixed into the root's priors. A row's sum is its
        share; the rest of 1 is left to the priors of the weights. None: nothing is mixed in.
        """
        numbers = np.array([settings.exploration, settings.first, settings.trust, settings.steps], np.float32)
        shares = np.zeros((2, ACTIONS), np.float32) if guide is None else np.ascontiguousarray(guide, np.float32)
        self._first, self._weights = settings.first, weights  # which the tree reads as long as it grows
        library().gen9_search_plant(
            self._tree, _at(np.ascontiguousarray(root.row)), _at(np.ascontiguousarray(root.hidden)),
            _at(np.ascontiguousarray(allowed, np.int32)), _at(shares), _at(numbers), _at(weights.value), _at(weights.choice),
            None if weights.network is None else weights.network.pointer, ctypes.c_uint64(seed),
        )  # fmt: skip

    def grow(self, iterations: int) -> None:
        """Adds iterations. Other threads run meanwhile."""
        library().gen9_search_grow(self._tree, ctypes.c_int64(iterations))

    def edges(self, seat: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """A seat's actions at the root: visits [ACTIONS] and sums of values [ACTIONS]."""
        visits, totals = np.zeros(ACTIONS, np.int32), np.zeros(ACTIONS, np.float32)
        library().gen9_search_edges(self._tree, seat, _at(visits), _at(totals))
        return visits, totals

    def values(self, seat: int, trust: float, first: float | None = None) -> tuple[float, NDArray[np.float64]]:
        """As root_values.root_values."""
        return root_values(*self.edges(seat), trust, self._first if first is None else first)
