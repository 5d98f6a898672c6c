"""Tries several choices at decisions of a stored battle, and plays each on to the end several times.

The battle is replayed once; at each wanted decision it is forked into a row for every choice and repetition. Then all forks
are played on together. What is drawn depends on the seed, the battle and the decision only, so that an interrupted command
continues with the same numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from arena.fixture import SEATS, digest, showdown_seed
from arena.venue import NotOnEngine
from training.envs.venue import STUCK, TIE, UNDECIDED, Ints
from training.preferences.attempts import TriedChoice, TriedDecision, TriedOutcome, TriedSide
from training.preferences.forks import LEADER, ForkedSide, Forks
from training.preferences.players import Player

#: Begins the reason for a side that the engine cannot play.
NOT_ON_ENGINE = "not on the engine"
#: Forks that are played on at once, unless those of one decision are more.
_AT_ONCE = 256
#: The most legal choices that a decision is taken to have, where all are tried: 4 moves, each in two ways, and 5 switches.
_MOST_CHOICES = 13
#: (battle, role, indices of decisions) -> what was answered at each of them.
Asking = Callable[[int, str, Sequence[int]], dict[int, TriedDecision]]


@dataclass(frozen=True)
class Tries:
    """What is tried. decisions: per side of a battle, drawn from those with two legal choices or more; 0: all of them.

    choices: per decision, what was played and others drawn from the legal ones, 0: all; or the answers that are asked for.
    playouts: of each choice. max_turns: a playout that goes beyond this turn counts as a tie.
    """

    decisions: int = 3
    choices: int = 3
    playouts: int = 8
    max_turns: int = 300
    seed: int = 0

    @property
    def rows(self) -> int:
        """How many battles are played at once: the replayed one, and the forks of all decisions of a side, within reason."""
        each = (self.choices or _MOST_CHOICES) * self.playouts
        return 1 + each * max(1, min(self.decisions or _AT_ONCE, _AT_ONCE // each))


class ReplayDiffers(Exception):
    """A stored battle is not played again as it was."""


@dataclass
class _Fork:
    """A decision that was forked. rows: [choices, playouts]. first: the action of each row's first step."""

    seat: int
    decision: int
    turn: int
    seed: int
    legal: tuple[str, ...]
    choices: list[str]
    rows: Ints
    played: str
    answered: TriedDecision | None


class ForkPlayer:
    """Tries sides of battles, one after the other. forks, player: with as many rows as `tries` says.

    asking: returns what a language model answered at decisions of a battle's side, by index; None: choices are drawn.
    """

    def __init__(self, forks: Forks, player: Player, tries: Tries, asking: Asking | None = None) -> None:
        self._forks, self._player, self._tries, self._asking = forks, player, tries, asking
        self._answered: dict[int, TriedDecision] = {}

    def side(self, stored: ForkedSide, seat: int) -> TriedSide:
        """Try the wanted decisions of a seat (0 or 1). A battle that cannot be replayed here is skipped, with the reason."""
        empty = TriedSide(stored.battle, SEATS[seat])
        wanted = self._wanted(stored, seat)
        if not wanted:
            return TriedSide(stored.battle, SEATS[seat], skipped="no decision with two legal choices")
        if self._asking is not None:
            index = {place: stored.choices[seat][place][0] for place in wanted}
            self._answered = self._asking(stored.battle, SEATS[seat], list(index.values()))
            wanted = [place for place in wanted if index[place] in self._answered]
        outcomes: list[TriedOutcome] = []
        steps = 0
        try:
            for part in _parts(wanted, self._room()):
                forks, first = self._replayed(stored, seat, set(part))
                steps += self._played_on(first, seat)
                outcomes += [self._tried(fork) for fork in forks]
        except NotOnEngine as error:
            return TriedSide(empty.battle, empty.seat, skipped=f"{NOT_ON_ENGINE}: {error}")
        except ReplayDiffers as error:
            return TriedSide(empty.battle, empty.seat, skipped=str(error))
        return TriedSide(empty.battle, empty.seat, tuple(outcomes), steps)

    def _wanted(self, stored: ForkedSide, seat: int) -> list[int]:
        """The places of the decisions to be tried among the seat's, ascending."""
        free = [place for place, (_, decision) in enumerate(stored.choices[seat]) if len(decision.legal) > 1]
        rng = random.Random(digest(["decisions", self._tries.seed, stored.fixture.seed, seat]))
        most = self._tries.decisions or len(free)
        return sorted(rng.sample(free, min(most, len(free))))

    def _room(self) -> int:
        """How many decisions fit into the rows at once, with all choices of each."""
        each = (self._tries.choices or _MOST_CHOICES) * self._tries.playouts
        return (self._tries.rows - 1) // each

    def _replayed(self, stored: ForkedSide, seat: int, wanted: set[int]) -> tuple[list[_Fork], dict[int, int]]:
        """Replay the battle up to its last wanted decision. Returns the forks, and row -> the action of its first step."""
        forks: list[_Fork] = []
        first: dict[int, int] = {}
        self._forks.begin(stored)
        self._player.begin(
            _number(["players", self._tries.seed, stored.fixture.seed, seat, min(wanted)]), stored.fixture
        )
        battles, leader = self._forks.battles, np.array([LEADER], np.int64)
        places, free_row = [0, 0], LEADER + 1
        while True:
            (deciding,) = np.nonzero(battles.needs_decision(leader)[0])
            if not len(deciding) or any(places[mover] >= len(stored.choices[mover]) for mover in deciding.tolist()):
                raise ReplayDiffers("its battle ends before the decision when it is replayed")
            actions = np.full((1, 2), -1, np.int64)
            for mover in deciding.tolist():
                _, decided = stored.choices[mover][places[mover]]
                labels = self._forks.labels(mover)
                if decided.choice not in labels:
                    raise ReplayDiffers(f"{decided.choice} is not legal when its battle is replayed")
                actions[0, mover] = labels[decided.choice]
                if mover == seat and places[mover] in wanted:
                    fork = self._fork(stored, seat, places[mover], free_row)
                    free_row += fork.rows.size
                    forks.append(fork)
                    first |= {
                        row: labels[label]
                        for label, rows in zip(fork.choices, fork.rows.tolist(), strict=True)
                        for row in rows
                    }
                    wanted = wanted - {places[mover]}
                places[mover] += 1
            if not wanted:
                return forks, first
            self._player.watch(battles, leader.repeat(len(deciding)), deciding)
            battles.play(leader, actions)

    def _fork(self, stored: ForkedSide, seat: int, place: int, free_row: int) -> _Fork:
        index, decided = stored.choices[seat][place]
        seed = _number(["fork", self._tries.seed, stored.fixture.seed, seat, index])
        labels = self._forks.labels(seat)
        answered = None if self._asking is None else self._answered[index]
        if answered is None:
            others = sorted(label for label in labels if label != decided.choice)
            if self._tries.choices:
                others = random.Random(seed).sample(others, min(len(others), self._tries.choices - 1))
            choices = [decided.choice, *others]
        else:
            choices = list(dict.fromkeys(answer.action for answer in answered.answers if not answer.failure))
        for label in choices:
            if label not in labels:
                raise ReplayDiffers(f"{label} is not legal when its battle is replayed")
        rows = free_row + np.arange(len(choices) * self._tries.playouts).reshape(len(choices), self._tries.playouts)
        # The k-th playouts of all choices begin with the same random numbers.
        seeds = [showdown_seed("fork", seed, k) for _ in choices for k in range(self._tries.playouts)]
        if rows.size:
            self._forks.fork(rows.ravel(), seeds, self._player.fork(LEADER, rows.ravel(), seeds))
        return _Fork(seat, index, decided.turn, seed, tuple(decided.legal), choices, rows, decided.choice, answered)

    def _played_on(self, first: dict[int, int], seat: int) -> int:
        """Play all forks to their ends. first: row -> the action of `seat` in its first step. Returns decisions played."""
        battles, steps = self._forks.battles, 0
        active, begun = np.array(sorted(first), np.int64), False
        while len(active):
            deciding = battles.needs_decision(active)  # [n, 2]
            place, seats = np.nonzero(deciding)
            actions = np.full((len(active), 2), -1, np.int64)
            actions[place, seats] = self._player.act(battles, active[place], seats)
            if not begun:
                actions[:, seat] = [first[row] for row in active.tolist()]
                begun = True
            battles.play(active, actions)
            steps += len(place)
            going = (battles.winners[active] == UNDECIDED) & (battles.turns[active] <= self._tries.max_turns)
            active = active[going]
        return steps

    def _tried(self, fork: _Fork) -> TriedOutcome:
        winners = self._forks.battles.winners
        by_label: dict[str, tuple[float, ...]] = {}
        for label, rows in zip(fork.choices, fork.rows, strict=True):
            ends = [int(winner) for winner in winners[rows] if winner != STUCK]
            results = tuple(0.5 if end in (TIE, UNDECIDED) else float(end == fork.seat) for end in ends)
            if results:
                by_label[label] = results
        tried = (fork.decision, fork.turn, fork.seed, fork.legal, fork.played)
        if fork.answered is None:
            return TriedOutcome(*tried, tuple(TriedChoice(label, results) for label, results in by_label.items()))
        attempts = [
            attempt
            if attempt.failure
            else replace(attempt, results=by_label[attempt.action], shared=fork.choices.index(attempt.action))
            for attempt in fork.answered.answers
            if attempt.failure or attempt.action in by_label
        ]
        return TriedOutcome(*tried, tuple(attempts), fork.answered.hot)


def _parts(wanted: Sequence[int], size: int) -> list[list[int]]:
    return [list(wanted[start : start + size]) for start in range(0, len(wanted), size)]


def _number(content: list[object]) -> int:
    return int(digest(content, 12), 16)
