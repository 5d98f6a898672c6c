"""N generation-9 battles at once: started, stepped and forked as arrays, equal to Showdown's decision by decision."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.engine.batch import Batch, Words, check_counts
from agents.engine.checks import check_number, check_seed, seed_words, whole_numbers
from agents.engine.gen9.choices import ILLEGAL, read_input_log, translate
from agents.engine.gen9.layout import CONSTANTS, ROW, SHOWN, SHOWN_WORDS, WORDS
from agents.engine.gen9.library import address, library
from agents.engine.gen9.log import BattleLog
from agents.engine.gen9.shown import initial_shown
from agents.engine.gen9.teams import side_words
from teamsets.errors import BadInput

#: A name that a protocol line can have.
_NAME = re.compile(r"[^|\x00-\x1f\x85\u2028\u2029]*")
#: Both teams' orders at the preview.
Orders = tuple[Sequence[int], Sequence[int]]
SLOTS = CONSTANTS["ACTIVE"]
UNDECIDED, TIE = CONSTANTS["UNDECIDED"], CONSTANTS["TIE"]
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


#: For so many battles to step, or seats to observe, another thread is worth the wait for it; the same of legal actions.
PER_THREAD, LISTED_PER_THREAD = 64, 8192


def records(words: Words) -> NDArray[Any]:
    """Words [N, WORDS] by name: [N] of layout.ROW, sharing memory."""
    return words.view(ROW)[:, 0]


class Engine(Batch):
    """N battles. `words` [N, WORDS] int32 is all of their state (src/layout.h); a copy of a row is a fork of its battle.

    An action: 0 to 3 a move, 4 to 7 the same after terastallizing, 8 to 12 a switch to the Pokémon in position 1 to 5. A
    seat has an action for each of its SLOTS, so that `step` takes [N, 2, SLOTS]; in singles the second is ignored.

    battles: N. threads: at most so many at once. Raises BadInput for fewer than 0 battles or 1 thread.
    shows: whether it keeps what both seats have been shown: `shown` [N, 2, SHOWN_WORDS] (src/shown/shown.h), else empty.
    """

    gen = 9
    shape = (2, SLOTS)

    def __init__(self, battles: int, threads: int = CORES, shows: bool = False) -> None:
        check_number("battles", battles, 0)
        check_number("threads", threads, 1)
        self.words: Words = np.zeros((battles, WORDS), np.int32)
        self.shown: Words = np.zeros((battles if shows else 0, 2, SHOWN_WORDS), np.int32)
        self.shows = shows
        self.threads = threads
        self._players: dict[int, tuple[str, str]] = {}
        self._logs: dict[int, BattleLog] = {}

    def threads_for(self, count: int, each: int = PER_THREAD) -> int:
        """The number of threads for so many battles. each: for which another thread is worth the wait for it."""
        return min(self.threads, 1 + count // each)

    def record(self, row: int, players: tuple[str, str] = ("p1", "p2")) -> None:
        """Keeps Showdown's protocol lines of the battles that reset starts in a row from now on (`lines`).

        players: both names. Raises BadInput for a row that is not there, and for names that a line cannot have.
        """
        place = int(self._rows([row])[0])
        if len(players) != 2 or not all(isinstance(name, str) and _NAME.fullmatch(name) for name in players):
            raise BadInput(
                f"players {players!r}: two names are needed, without | and line breaks, which end one in a line."
            )
        self._players[place] = players

    def lines(self, row: int) -> list[str]:
        """The protocol lines that a recorded row wrote since the last call (agents/engine/gen9/log.py: for_seat).

        Raises BadInput for a row in which no recorded battle was started.
        """
        if row not in self._logs:
            raise BadInput(f"row {row} is not recorded: record({row}) comes before its reset.")
        return self._logs[row].take()

    def _initial(self, teams: Sequence[tuple[str, str]], seeds: Sequence[str], count: int) -> Words:
        return initial_rows(teams, seeds, count)

    def _start(self, words: Words) -> None:
        library().gen9_start(address(words), ctypes.c_int64(len(words)), self.threads_for(len(words)))

    def _legal(self, rows: NDArray[np.int64], masks: NDArray[np.int32]) -> None:
        threads = self.threads_for(len(rows), LISTED_PER_THREAD)
        library().gen9_legal(address(self.words), address(rows), ctypes.c_int64(len(rows)), address(masks), threads)

    def _step(self, rows: NDArray[np.int64], actions: NDArray[np.int32]) -> None:
        if self._logs:
            recorded = np.array([row in self._logs for row in rows.tolist()], bool)
            for row, chosen in zip(rows[recorded].tolist(), actions[recorded], strict=True):
                self._logs[row].play(self.words[row].copy() if self.shows else self.words[row], chosen)
            if not self.shows:
                rows, actions = rows[~recorded], np.ascontiguousarray(actions[~recorded])
        battles = address(self.words), address(rows), ctypes.c_int64(len(rows)), address(actions)
        if self.shows:
            library().gen9_step_shown(*battles, address(self.shown), self.threads_for(len(rows)))
        else:
            library().gen9_step(*battles, self.threads_for(len(rows)))

    def _empty(self) -> Engine:
        return Engine(0, self.threads, self.shows)

    def fork(self, rows: Sequence[int]) -> Engine:
        copies = super().fork(rows)
        copies.shown = self.shown[rows] if self.shows else self.shown
        return copies

    def reset(
        self,
        teams: Sequence[tuple[str, str]],
        seeds: Sequence[str],
        rows: Sequence[int] | None = None,
        orders: Sequence[Orders] | None = None,
        previewed: Words | None = None,
    ) -> None:
        """As Batch.reset. orders: of each battle both teams' orders at the preview: places in the team, from 0, lead first;
        None: as the teams are. previewed: the battles at their preview, as the method of that name returns them, whose seed
        may be another one since. Raises BadInput also for what is no order of a team.
        """
        places = self._rows(rows)
        started = initial_rows(teams, seeds, len(places)) if previewed is None else previewed.copy()
        if orders is not None:
            _order_teams(started, orders)
        recorded = [n for n, row in enumerate(places.tolist()) if row in self._players]
        logged = started[recorded]
        if self.shows:
            shown = initial_shown(teams)
            threads = self.threads_for(len(started))
            library().gen9_start_shown(address(started), ctypes.c_int64(len(started)), address(shown), threads)
            self.words[places], self.shown[places] = started, shown
        else:
            self._begin(started, places)
        for n, words in zip(recorded, logged, strict=True):
            row = int(places[n])
            self._logs[row] = BattleLog(teams[n], self._players[row])
            self._logs[row].play(words)
            self.words[row] = words

    def previewed(self, teams: Sequence[tuple[str, str]], seeds: Sequence[str]) -> Words:
        """Words [N, WORDS] of battles at their team preview, with what is drawn before it. Raises BadInput as reset does."""
        words = self._initial(teams, seeds, len(teams))
        library().gen9_prepare(address(words), ctypes.c_int64(len(words)), self.threads)
        return words

    def preview(
        self,
        teams: Sequence[tuple[str, str]],
        seeds: Sequence[str],
        rows: Sequence[int] | NDArray[np.int64],
        choosing: NDArray[np.bool_],
    ) -> None:
        """Puts these rows at the team preview of a battle, from which `lead` begins it: the battle that `reset` begins.

        Until then a step leaves them as they are. choosing [N, 2]: the seats that choose who leads; they are observed, and
        have legal actions of networks (agents/observation/gen9_observation.py). Raises BadInput as reset does, for rows that
        are recorded, and for an engine that does not keep what is shown.
        """
        places = self._rows(rows)
        if not self.shows or not self._players.keys().isdisjoint(places.tolist()):
            raise BadInput(
                "a team preview needs Engine(..., shows=True) and rows that are not recorded: use reset with orders."
            )
        started, shown = self._initial(teams, seeds, len(places)), initial_shown(teams)
        library().gen9_preview_shown(
            address(started),
            ctypes.c_int64(len(started)),
            address(np.ascontiguousarray(choosing, np.uint8)),
            address(shown),
            self.threads_for(len(started)),
        )
        self.words[places], self.shown[places] = started, shown

    def choosing_leads(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """[N, 2]: which seats of these rows choose who leads, at a team preview."""
        chooses: NDArray[np.bool_] = self.shown.view(SHOWN)[:, :, 0]["choosesLead"][rows] != 0
        return chooses

    def lead(self, rows: Sequence[int] | NDArray[np.int64], leads: NDArray[np.int32]) -> None:
        """Begins the battles of rows that are at their team preview. leads [N, 2]: the places in both teams, from 0, of who
        leads; the others keep their order. Raises BadInput for rows that are not there, or not at a team preview.
        """
        places = self._rows(rows)
        started, shown = self.words[places], self.shown[places]
        sides = records(started)["sides"]
        if not self.choosing_leads(places).any(axis=1).all():
            raise BadInput("lead: a row is not at its team preview: `preview` puts it there.")
        for n, seat in np.argwhere(leads != 0).tolist():
            first = int(leads[n, seat])
            others = [place for place in range(int(sides[n, seat]["size"])) if place != first]
            _order(sides[n, seat], [first, *others])
        threads = self.threads_for(len(started))
        library().gen9_start_shown(address(started), ctypes.c_int64(len(started)), address(shown), threads)
        self.words[places], self.shown[places] = started, shown

    def locked(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """[N, 2, SLOTS]: of Pokémon that are asked for a move in these rows, the one that they are locked into; 0: none."""
        moves = np.zeros((len(rows), *self.shape), np.int32)
        threads = self.threads_for(len(rows), LISTED_PER_THREAD)
        library().gen9_locked(address(self.words), address(rows), ctypes.c_int64(len(rows)), address(moves), threads)
        return moves

    def read_choices(self, rows: Sequence[int], seats: Sequence[int], choices: Sequence[str]) -> NDArray[np.int32]:
        """The actions [N] (for `step`) of Showdown's choices in words, such as "move 2 terastallize"; -1: not legal.

        Raises BadInput for a row or seat that is not there, and for another number of choices.
        """
        places, of_seats = self.pairs(rows, seats)
        if not hasattr(choices, "__len__"):
            raise BadInput(f"choices of type {type(choices).__name__}: a list with one for each seat is needed.")
        if len(choices) != len(places):
            raise BadInput(f"{len(choices)} choices for {len(places)} seats: as many are needed.")
        for choice in choices:
            if not isinstance(choice, str):
                raise BadInput(f"choice {choice!r}: must be text, as 'move 2 terastallize' or 'switch 3'.")
        legal = self.legal(places)[np.arange(len(places)), of_seats, 0]
        return translate(self.words, places.tolist(), of_seats.tolist(), legal.tolist(), choices)

    def replay(self, log: Sequence[str]) -> None:
        """Plays a battle from Showdown's input log, as far as it goes, in the only row.

        Raises BadInput for teams or a seed that the engine does not play, and for a choice that is not legal.
        """
        if len(self.words) != 1:
            raise BadInput(f"an input log is replayed in an engine of one battle, not of {len(self.words)}.")
        teams, seed, orders, choices = read_input_log(log)
        self.reset([teams], [seed], orders=[orders])
        number = [0, 0]
        while True:
            legal = self.legal()[0, :, 0].tolist()
            asked = [seat for seat in range(2) if legal[seat]]
            if not asked or any(number[seat] == len(choices[seat]) for seat in asked):
                return
            given = [choices[seat][number[seat]] for seat in asked]
            actions = np.zeros((1, *self.shape), np.int32)
            actions[0, asked, 0] = self.read_choices([0] * len(asked), asked, given)
            for seat, choice in zip(asked, given, strict=True):
                if actions[0, seat, 0] == ILLEGAL:
                    raise BadInput(f"p{seat + 1}'s choice {number[seat] + 1}, '{choice}', is not legal for the engine.")
                number[seat] += 1
            self.step(actions)

    def rollout(self, fresh: Words, states: NDArray[np.uint64], steps: int) -> tuple[int, int, int]:
        """Plays `steps` steps of each battle at random; returns finished battles, choices, turns of finished battles.

        fresh [N, WORDS]: each before its start (initial_rows), from which a finished battle begins anew with another seed.
        states [N]: random states of the players, none of them 0; changed.
        """
        counts = np.zeros((len(self.words), 3), np.int64)
        library().gen9_rollout(
            address(self.words),
            address(fresh),
            address(states),
            ctypes.c_int64(len(counts)),
            steps,
            address(counts),
            self.threads,
        )
        battles, choices, turns = counts.sum(axis=0).tolist()
        return battles, choices, turns


def initial_rows(teams: Sequence[tuple[str, str]], seeds: Sequence[str], count: int) -> Words:
    """Words [count, WORDS] of battles before their start. Raises BadInput, also for another number of teams or seeds."""
    check_counts(teams, seeds, count)
    words = np.zeros((count, WORDS), np.int32)
    named = records(words)
    for n, (pair, seed) in enumerate(zip(teams, seeds, strict=True)):
        check_seed(seed)
        named["seed"][n] = seed_words(seed)
        named["activePerSide"][n] = 1
        for seat, packed in enumerate(pair):
            named["sides"][n, seat] = side_words(packed, seat)
    return words


def _order_teams(words: Words, orders: Sequence[Orders]) -> None:
    """Orders both teams of battles before their start. Raises BadInput."""
    if len(orders) != len(words):
        raise BadInput(f"{len(orders)} pairs of orders for {len(words)} battles: as many are needed.")
    sides = records(words)["sides"]
    for n, pair in enumerate(orders):
        if not hasattr(pair, "__len__") or len(pair) != 2:
            raise BadInput(f"orders of battle {n}, {pair!r}: one for each side's team is needed.")
        for seat, order in enumerate(pair):
            _order(sides[n, seat], order)


def _order(side: Any, order: Sequence[int]) -> None:
    size = int(side["size"])
    places = whole_numbers("order", order).tolist()
    if sorted(places) != list(range(size)):
        raise BadInput(f"order {places} of a team of {size}: each place from 0 to {size - 1} is needed once.")
    members = side["order"][places]
    side["order"][:size] = members
    side["pokemon"]["position"][(members - 1) % 6] = np.arange(size)
