"""Tries several choices at decisions of a stored battle, and plays each on to the end several times.

The battle is replayed once; at each wanted decision it is forked into a row for every choice and repetition. Then all forks
are played on together. What is drawn depends on the seed, the battle and the decision only, so that an interrupted command
continues with the same numbers.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from arena.fixture import SEATS, digest, showdown_seed
from arena.venue import NotOnEngine
from arena.venues.simulator.reproduction import StoredDecision
from training.envs.venue import STUCK, TIE, UNDECIDED, Ints
from training.preferences.attempts import TriedChoice, TriedDecision, TriedOutcome, TriedSide
from training.preferences.choices import SeatChoices
from training.preferences.forks import LEADER, ForkedSide, Forks
from training.preferences.players import Player

#: Begins the reason for a side that the engine cannot play.
NOT_ON_ENGINE = "not on the engine"
#: Forks that are played on at once, unless those of one decision are more.
_AT_ONCE = 256
#: The most legal choices that a decision is taken to have, where all are tried, by the number of slots: 4 moves, each in
#: three ways (Ultra Burst, Z-Move), and 5 switches; of one slot of two the same at 3 targets, and 4 switches.
_MOST_CHOICES = {1: 17, 2: 40}
#: (battle, role, indices of decisions) -> what was answered at each of them.
Asking = Callable[[int, str, Sequence[int]], dict[int, TriedDecision]]


@dataclass(frozen=True)
class Tries:
    """What is tried. decisions: per side of a battle, drawn from those with two legal choices or more; 0: all of them.

    choices: per decision, what was played and others drawn from the legal ones, 0: all; or the answers that are asked for.
    In doubles a decision is that of both slots, and the others differ in one slot, which is drawn, too (choices.py).
    playouts: of each choice. max_turns: a playout that goes beyond this turn counts as a tie.
    """

    decisions: int = 3
    choices: int = 3
    playouts: int = 8
    max_turns: int = 300
    seed: int = 0

    def rows(self, slots: int) -> int:
        """Return how many battles are played at once: the replayed one, and the forks of all decisions of a side.

        They are not more than is reasonable. slots: of a side in these battles, 1 or 2.
        """
        each = self.forks(slots)
        return 1 + each * max(1, min(self.decisions or _AT_ONCE, _AT_ONCE // each))

    def forks(self, slots: int) -> int:
        """Return how many forks a decision is taken to have."""
        return (self.choices or _MOST_CHOICES[slots]) * self.playouts


class ReplayDiffers(Exception):
    """A stored battle is not played again as it was."""


@dataclass
class _Fork:
    """A decision that was forked. rows: [choices, playouts]. actions: by which each choice is made."""

    seat: int
    decision: int
    turn: int
    seed: int
    legal: tuple[str, ...]
    choices: list[str]
    actions: list[list[int]]
    rows: Ints
    played: str
    answered: TriedDecision | None


class ForkPlayer:
    """Tries sides of battles, one after the other. forks, player: with as many rows as `tries` says.

    slots: of a side in these battles. asking: returns what a language model answered at decisions of a battle's side, by
    index; None: choices are drawn.
    """

    def __init__(self, forks: Forks, player: Player, tries: Tries, slots: int, asking: Asking | None = None) -> None:
        self._forks, self._player, self._tries, self._slots, self._asking = forks, player, tries, slots, asking
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
        free = [place for place, (_, decision) in enumerate(stored.choices[seat]) if _is_free(decision.legal)]
        rng = random.Random(digest(["decisions", self._tries.seed, stored.fixture.seed, seat]))
        most = self._tries.decisions or len(free)
        return sorted(rng.sample(free, min(most, len(free))))

    def _room(self) -> int:
        """How many decisions fit into the rows at once, with all choices of each."""
        return (self._tries.rows(self._slots) - 1) // self._tries.forks(self._slots)

    def _replayed(self, stored: ForkedSide, seat: int, wanted: set[int]) -> tuple[list[_Fork], dict[int, list[int]]]:
        """Replay the battle up to its last wanted decision. Returns the forks, and row -> its first actions."""
        forks: list[_Fork] = []
        first: dict[int, list[int]] = {}
        self._forks.begin(stored)
        self._player.begin(
            _number(["players", self._tries.seed, stored.fixture.seed, seat, min(wanted)]), stored.fixture
        )
        battles, leader = self._forks.battles, np.array([LEADER], np.int64)
        places, free_row = [0, 0], LEADER + 1
        pending: list[list[int]] = [[], []]  # actions of the present request, by seat
        while True:
            (deciding,) = np.nonzero(battles.needs_decision(leader)[0])
            new = [mover for mover in deciding.tolist() if not pending[mover]]
            if not len(deciding) or any(places[mover] >= len(stored.choices[mover]) for mover in new):
                raise ReplayDiffers("its battle ends before the decision when it is replayed")
            for mover in new:
                _, decided = stored.choices[mover][places[mover]]
                choices = self._forks.choices(mover)
                pending[mover] = _actions(choices, decided.choice)
                if mover == seat and places[mover] in wanted:
                    fork = self._fork(stored, seat, places[mover], choices, free_row)
                    free_row += fork.rows.size
                    forks.append(fork)
                    first |= {
                        row: actions
                        for actions, rows in zip(fork.actions, fork.rows.tolist(), strict=True)
                        for row in rows
                    }
                    wanted = wanted - {places[mover]}
                places[mover] += 1
            if not wanted:
                return forks, first
            self._player.watch(battles, leader.repeat(len(deciding)), deciding)
            actions = np.full((1, 2), -1, np.int64)
            actions[0, deciding] = [pending[mover].pop(0) for mover in deciding.tolist()]
            battles.play(leader, actions)

    def _fork(self, stored: ForkedSide, seat: int, place: int, choices: SeatChoices, free_row: int) -> _Fork:
        """Fork the battle at a decision. choices: what the seat may choose there."""
        index, decided = stored.choices[seat][place]
        seed = _number(["fork", self._tries.seed, stored.fixture.seed, seat, index])
        answered = None if self._asking is None else self._answered[index]
        if answered is None:
            labels, legal = self._drawn(choices, decided, seed)
        else:
            labels = list(dict.fromkeys(answer.action for answer in answered.answers if not answer.failure))
            legal = tuple(decided.legal)
        actions = [_actions(choices, label) for label in labels]
        if answered is not None and self._slots > 1:  # what differs from an answer in one slot, as all are hundreds
            near = (other for label in labels for group in choices.others(label) for other in group)
            legal = tuple(dict.fromkeys([*labels, *near]))
        rows = free_row + np.arange(len(labels) * self._tries.playouts).reshape(len(labels), self._tries.playouts)
        # The k-th playouts of all choices begin with the same random numbers.
        seeds = [showdown_seed("fork", seed, k) for _ in labels for k in range(self._tries.playouts)]
        if rows.size:
            self._forks.fork(rows.ravel(), seeds, self._player.fork(LEADER, rows.ravel(), seeds))
        return _Fork(seat, index, decided.turn, seed, legal, labels, actions, rows, decided.choice, answered)

    def _drawn(self, choices: SeatChoices, decided: StoredDecision, seed: int) -> tuple[list[str], tuple[str, ...]]:
        """Draw what is tried at a decision: its labels, none if nothing differs in one slot, and those it was drawn from."""
        groups = [labels for labels in choices.others(decided.choice) if labels]
        if not groups:
            return [], (decided.choice,)
        others = groups[0] if len(groups) == 1 else random.Random(f"slot {seed}").choice(groups)
        # In doubles the stored ones are those of each slot.
        legal = tuple(decided.legal) if self._slots == 1 else (decided.choice, *others)
        if self._tries.choices:
            others = random.Random(seed).sample(others, min(len(others), self._tries.choices - 1))
        return [decided.choice, *others], legal

    def _played_on(self, first: dict[int, list[int]], seat: int) -> int:
        """Play all forks to their ends. first: row -> the actions that `seat` begins with. Returns decisions played.

        Whoever plays on is asked for the first of these decisions, too, and only sees the others.
        """
        battles, steps = self._forks.battles, 0
        active, begun = np.array(sorted(first), np.int64), False
        given = {row: list(actions) for row, actions in first.items()}
        while len(active):
            place, seats = np.nonzero(battles.needs_decision(active))
            rows = active[place]
            is_given = (seats == seat) & np.array([bool(given[row]) for row in rows.tolist()], np.bool_)
            actions = np.full((len(active), 2), -1, np.int64)
            watched = is_given & begun
            if watched.any():
                self._player.watch(battles, rows[watched], seats[watched])
            if not watched.all():
                asked = ~watched
                actions[place[asked], seats[asked]] = self._player.act(battles, rows[asked], seats[asked])
            actions[place[is_given], seat] = [given[row].pop(0) for row in rows[is_given].tolist()]
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


def _is_free(legal: Sequence[str]) -> bool:
    """Return whether there is something to choose. legal: as stored, in doubles with the slot's letter (`slot_labels`)."""
    by_slot = Counter(label[:3] if label.startswith(("a: ", "b: ")) else "" for label in legal)
    return max(by_slot.values(), default=0) > 1


def _actions(choices: SeatChoices, label: str) -> list[int]:
    """Return the actions of a choice. Raises ReplayDiffers."""
    actions = choices.actions(label)
    if actions is None:
        raise ReplayDiffers(f"{label} is not legal when its battle is replayed")
    return actions


def _parts(wanted: Sequence[int], size: int) -> list[list[int]]:
    return [list(wanted[start : start + size]) for start in range(0, len(wanted), size)]


def _number(content: list[object]) -> int:
    return int(digest(content, 12), 16)
