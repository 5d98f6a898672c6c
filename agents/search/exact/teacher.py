"""A teacher on the engines: what a search says of the decisions of many seats."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.search.exact.game import ILLEGAL, UNKNOWN, Positions, SearchTree
from agents.search.exact.root_values import TreeSettings
from agents.search.exact.weights import read

#: How much below its position's value an action's first guess is.
_FIRST = TreeSettings().first


def positions_of(gen: int, weights: str, determinizations: int = 0) -> Positions:
    """A generation's positions. weights: as of `search:exact`. determinizations: as of Gen1Positions. Raises BadInput."""
    if gen == 9:
        from agents.search.exact.gen9.network import read_weights
        from agents.search.exact.gen9.positions import Gen9Positions

        return Gen9Positions(read_weights(weights))
    from agents.search.exact.positions import Gen1Positions

    return Gen1Positions(read(weights), determinizations)


class Searched(NamedTuple):
    """What the search says of n decisions.

    values: [n, actions], float32: the probability of winning after each legal action (`Positions.actions`); NaN for
    others, and in rows that have only one. value: [n], float32: that of the position; NaN in such rows. second_values:
    [n, actions], mean values by a second search, whose chance is independent of the first one's; the position's value for
    what it has not tried; NaN in rows without a second search.
    """

    values: NDArray[np.float32]
    value: NDArray[np.float32]
    second_values: NDArray[np.float32]

    def take(self, rows: NDArray[np.int64]) -> Searched:
        """These decisions."""
        return Searched(self.values[rows], self.value[rows], self.second_values[rows])


class Teacher:
    """Judges the actions of many seats by searches.

    iterations: of a battle's search where both seats share it, else of all of a seat's together. trust: visits at which an
    action's value counts as much as its first guess, the position's value minus 0.05. second_share: the share of decisions
    that are searched a second time. The first search does not depend on it. prior: the share of the priors at the root that
    is the policy which is judged; without it an action that the fitted priors think little of is hardly tried, however sure
    of it the policy is, and looks bad.
    """

    def __init__(
        self,
        positions: Positions,
        iterations: int,
        trust: float,
        seed: int,
        threads: int = 1,
        second_share: float = 0.0,
        prior: float = 0.0,
    ) -> None:
        self._positions, self._iterations, self._trust, self._seed = positions, iterations, trust, seed
        self._threads, self._second_share, self._prior = threads, second_share, prior
        self._rng, self._second_rng = random.Random(), random.Random()

    def begin(self, number: int) -> None:
        """Make what follows a function of the seed and this number."""
        self._rng.seed(f"teacher {self._seed} {number}")
        self._second_rng.seed(f"second {self._seed} {number}")

    def judge(
        self,
        engine: Any,
        rows: NDArray[np.int64],
        seats: NDArray[np.int64],
        policies: NDArray[np.float32] | None = None,
    ) -> Searched:
        """Judge the actions [n] of these seats. policies: probabilities [n, 13] of theirs; None: not known."""
        translated = self._positions.engine_actions(engine, rows, seats)
        unknown = np.full(translated.shape, np.nan, np.float32)
        searched = Searched(unknown, np.full(len(rows), np.nan, np.float32), unknown.copy())
        together: dict[tuple[int, int], list[int]] = {}  # what shares a search -> places of its decisions
        for place in np.flatnonzero((translated >= 0).sum(1) > 1).tolist():
            seat = -1 if self._positions.shared else int(seats[place])
            together.setdefault((int(rows[place]), seat), []).append(place)
        jobs = [(places, 1 + self._rng.getrandbits(60), self._second_seed()) for places in together.values()]

        def search(thread: int) -> None:
            for places, seed, second_seed in jobs[thread :: self._threads]:
                row, mine, actions = int(rows[places[0]]), seats[places], translated[places]
                of = engine, row, int(mine[0]), self._iterations
                guide = None if policies is None else self._guide(mine, actions, policies[places])
                found = _judged(self._positions.trees(*of, seed, thread, guide), mine, actions, self._trust, _FIRST)
                searched.values[places], searched.value[places] = found
                if second_seed:
                    trees = self._positions.trees(*of, second_seed, thread, guide)
                    searched.second_values[places] = _judged(trees, mine, actions, 0.0, 0.0)[0]

        if self._threads == 1:
            search(0)
        else:
            for _ in _pool(self._threads).map(search, range(self._threads)):
                pass
        return searched

    def _guide(
        self, seats: NDArray[np.int64], translated: NDArray[np.int32], policies: NDArray[np.float32]
    ) -> NDArray[np.float32] | None:
        """The policies of seats that share a search, with their share of the priors."""
        if not self._prior:
            return None
        guide = np.zeros((2, self._positions.engine_count), np.float32)
        for seat, actions, policy in zip(seats.tolist(), translated, policies, strict=True):
            known = np.flatnonzero(actions >= 0)
            guide[seat, actions[known]] = self._prior * policy[known]
        return guide

    def _second_seed(self) -> int:
        """The seed of a second search; 0 where there is none."""
        searched = self._second_rng.random() < self._second_share
        return 1 + self._second_rng.getrandbits(60) if searched else 0


def _judged(
    trees: Iterator[SearchTree], seats: NDArray[np.int64], translated: NDArray[np.int32], trust: float, first: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the values [k, actions] of a battle's seats' actions and those of their positions [k]: means over searches.

    trust, first: see `Tree.values`. An UNKNOWN action has its first guess: the search knows that it cannot be done.
    """
    values, value, searches = np.zeros(translated.shape), np.zeros(len(seats)), 0
    for tree in trees:
        searches += 1
        for k, seat in enumerate(seats.tolist()):
            position, of_actions = tree.values(seat, trust, first)
            values[k] += np.where(translated[k] == UNKNOWN, position - first, of_actions[translated[k]])
            value[k] += position
    return np.where(translated == ILLEGAL, np.nan, values / searches), value / searches


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="teacher")
