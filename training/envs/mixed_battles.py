"""Battles in batches on an engine, and beside them those in which an agent acts alone, which follow the protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from agents.observation.observation import Observations
from arena.fixture import Fixture
from training.envs.venue import Battles, Ints, Pair, not_legal


class BatchedBattles(Battles, Protocol):
    """Battles whose seats are all played by actions."""

    @property
    def engine(self) -> Any:
        """The engine; its rows are the battles."""

    def clear(self, rows: Ints) -> None:
        """Leaves these rows without a battle: nobody has a decision to make there."""


class MixedBattles:
    """See `Battles` (venue.py). In an agent's battles what a seat sees, and what happens, is the same as in the others.

    batched: the battles without such an agent, and the engine. open_hosts() -> those with one, in rows of the same numbers;
    called when the first begins.
    """

    def __init__(self, batched: BatchedBattles, open_hosts: Callable[[], Battles]) -> None:
        self._batched, self._open_hosts = batched, open_hosts
        self._opened: Battles | None = None
        self._is_hosted = np.zeros(len(batched.winners), np.bool_)

    @property
    def engine(self) -> Any:
        """The engine. A row with a hosted battle has none there: nobody is asked."""
        return self._batched.engine

    @property
    def winners(self) -> NDArray[np.signedinteger]:
        return self._of_both(lambda battles: battles.winners)

    @property
    def turns(self) -> NDArray[np.signedinteger]:
        return self._of_both(lambda battles: battles.turns)

    def begin(
        self, rows: Ints, fixtures: Sequence[Fixture], agents: Sequence[Pair], leads: NDArray[np.bool_] | None = None
    ) -> None:
        hosted = np.array([pair != (None, None) for pair in agents], np.bool_)
        for which, hosts in ((hosted, True), (~hosted, False)):
            if not which.any():
                continue
            places = np.flatnonzero(which).tolist()
            of_games = [fixtures[k] for k in places], [agents[k] for k in places]
            battles = self._hosts if hosts else self._batched
            battles.begin(rows[which], *of_games, None if leads is None else leads[which])
        self._batched.clear(rows[hosted])
        self._is_hosted[rows] = hosted

    def needs_decision(self, rows: Ints) -> NDArray[np.bool_]:
        needs, hosted = self._batched.needs_decision(rows), self._is_hosted[rows]
        if hosted.any():
            needs[hosted] = self._hosts.needs_decision(rows[hosted])
        return needs

    def masks(self, rows: Ints, seats: Ints) -> NDArray[np.bool_]:
        masks, hosted = self._batched.masks(rows, seats), self._is_hosted[rows]
        if hosted.any():
            masks[hosted] = self._hosts.masks(rows[hosted], seats[hosted])
        return masks

    def observe(self, rows: Ints, seats: Ints, out: Observations | None = None) -> Observations:
        hosted = self._is_hosted[rows]
        if not hosted.any():
            return self._batched.observe(rows, seats, out)
        out = Observations.room_for(len(rows), out)
        for which, battles in ((~hosted, self._batched), (hosted, self._hosts)):
            seen = battles.observe(rows[which], seats[which])
            out.token_ids[which], out.features[which], out.legal[which] = seen
        return out

    def answers(self, rows: Ints, seats: Ints) -> Ints:
        return self._hosts.answers(rows, seats)

    def play(self, rows: Ints, actions: Ints) -> None:
        hosted = self._is_hosted[rows]
        if hosted.any():
            self._check_batched(rows[~hosted], actions[~hosted])
            self._hosts.play(rows[hosted], actions[hosted])
        self._batched.play(rows[~hosted], actions[~hosted])

    def _check_batched(self, rows: Ints, actions: Ints) -> None:
        """Raises BadInput for an illegal action, before the hosts advance their battles."""
        places, seats = np.nonzero(self._batched.needs_decision(rows))
        chosen = actions[places, seats]
        illegal = (chosen < 0) | ~self._batched.masks(rows[places], seats)[np.arange(len(places)), chosen]
        if illegal.any():
            first = int(np.flatnonzero(illegal)[0])
            raise not_legal(int(rows[places[first]]), int(seats[first]), int(chosen[first]))

    def copy(self, sources: Ints, targets: Ints, seeds: Sequence[str], agents: Sequence[Pair] | None = None) -> None:
        hosted = self._is_hosted[sources]
        self._batched.copy(sources, targets, seeds)
        if hosted.any():
            of_hosts = np.flatnonzero(hosted).tolist()
            pairs = None if agents is None else [agents[k] for k in of_hosts]
            self._hosts.copy(sources[hosted], targets[hosted], [seeds[k] for k in of_hosts], pairs)
        self._is_hosted[targets] = hosted

    def close(self) -> None:
        self._batched.close()
        if self._opened is not None:
            self._opened.close()

    @property
    def _hosts(self) -> Battles:
        if self._opened is None:
            self._opened = self._open_hosts()
        return self._opened

    def _of_both(self, column: Callable[[Battles], NDArray[np.signedinteger]]) -> NDArray[np.signedinteger]:
        batched = column(self._batched)
        return batched if self._opened is None else np.where(self._is_hosted, column(self._opened), batched)
