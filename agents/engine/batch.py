"""What the engines of all generations share: N battles as rows of words, begun, stepped and forked together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from agents.engine.checks import check_actions_shape, check_pair, indices, whole_numbers
from teamsets.errors import BadInput

Words = NDArray[np.int32]
B = TypeVar("B", bound="Batch")


class Batch:
    """N battles. `words` [N, WORDS] int32 is all of their state; a copy of a row is a fork of its battle.

    A generation has the methods with an underscore, which need not check what they are given.
    """

    gen: ClassVar[int]
    #: Of a battle's actions: its seats, and where a seat acts for several Pokémon these.
    shape: ClassVar[tuple[int, ...]]
    words: Words

    def _initial(self, teams: Sequence[tuple[str, str]], seeds: Sequence[str], count: int) -> Words:
        """Words [count, WORDS] of battles before their start. Raises BadInput."""
        raise NotImplementedError

    def _start(self, words: Words) -> None:
        """Starts the battles of these words."""
        raise NotImplementedError

    def _legal(self, rows: NDArray[np.int64], masks: NDArray[np.int32]) -> None:
        """Writes the legal actions of rows as bits."""
        raise NotImplementedError

    def _step(self, rows: NDArray[np.int64], actions: NDArray[np.int32]) -> None:
        """Plays rows on by legal actions. Finished battles and seats that wait ignore theirs."""
        raise NotImplementedError

    def _empty(self: B) -> B:
        """An engine of the same kind without battles."""
        raise NotImplementedError

    def reset(self, teams: Sequence[tuple[str, str]], seeds: Sequence[str], rows: Sequence[int] | None = None) -> None:
        """Starts a battle in each row (of `rows`): both packed teams, and a seed "gen5,…" (16 hexadecimal digits).

        Raises BadInput for a team or seed that the engine cannot play, a row that is not there, or another number of
        teams, seeds or rows; then no row is changed.
        """
        places = self._rows(rows)
        self._begin(self._initial(teams, seeds, len(places)), places)

    def _begin(self, initial: Words, rows: NDArray[np.int64]) -> None:
        """Starts battles of words before their start, and puts them into rows."""
        self._start(initial)
        self.words[rows] = initial

    def fork(self: B, rows: Sequence[int]) -> B:
        """A new engine with copies of those battles, in that order; a row may be named several times.

        Raises BadInput for a row that is not there.
        """
        copies = self._empty()
        copies.words = self.words[indices("rows", rows, len(self.words))]
        return copies

    def legal(self, rows: NDArray[np.int64] | None = None) -> NDArray[np.int32]:
        """[N, *shape]: legal actions as bits; 0 where a seat waits or the battle is over.

        rows: of these battles, in this order; None: all. Raises BadInput for a row that is not there.
        """
        rows = self._rows(rows)
        masks = np.zeros((len(rows), *self.shape), np.int32)
        self._legal(rows, masks)
        return masks

    def step(self, actions: NDArray[np.int32], rows: NDArray[np.int64] | None = None) -> None:
        """Plays `actions` [N, *shape] on to each battle's next request. Finished battles and seats that wait ignore theirs.

        rows: of these battles alone, in this order; None: all. Raises BadInput for an illegal action or another shape, and
        for a row that is not there or comes twice; then no battle is stepped.
        """
        rows = self._rows(rows)
        if len(rows) and np.bincount(rows).max() > 1:
            raise BadInput(f"rows: {np.bincount(rows).argmax()} comes more than once.")
        actions = whole_numbers("actions", actions)
        check_actions_shape(actions, (len(rows), *self.shape))
        legal = self.legal(rows)
        illegal = (legal != 0) & ((legal >> actions) & 1 == 0)
        if illegal.any():
            place, seat, *_ = found = tuple(np.argwhere(illegal)[0])
            raise BadInput(f"battle {rows[place]}, seat {seat}: action {actions[found]} is not legal; none was played.")
        self._step(rows, np.ascontiguousarray(actions, np.int32))

    def _rows(self, rows: Sequence[int] | NDArray[np.int64] | None) -> NDArray[np.int64]:
        return np.arange(len(self.words)) if rows is None else indices("rows", rows, len(self.words))

    def pairs(self, rows: Any, seats: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return rows and as many seats as arrays. Raises BadInput for one that is not there."""
        rows = indices("rows", rows, len(self.words))
        return rows, indices("seats", seats, 2, len(rows))


def check_counts(teams: Sequence[tuple[str, str]], seeds: Sequence[str], count: int) -> None:
    """Raises BadInput unless there are `count` pairs of packed teams and `count` seeds."""
    for name, given in (("teams", teams), ("seeds", seeds)):
        if not hasattr(given, "__len__"):
            raise BadInput(f"{name} of type {type(given).__name__}: a list with one entry for each row is needed.")
    if not len(teams) == len(seeds) == count:
        raise BadInput(f"{len(teams)} pairs of teams and {len(seeds)} seeds for {count} rows: as many are needed.")
    for pair in teams:
        check_pair(pair)
