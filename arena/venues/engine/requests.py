"""What each seat of a battle on the engine is asked: Showdown's request, as far as a choice needs it."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from poke_env.data import to_id_str

from agents.battle.choices import Choice, legal_choices
from agents.engine.compiled import compiled, kernel
from agents.engine.gen1 import layout as W
from agents.engine.gen1.engine import shown_name
from agents.engine.gen1.requests import legal_actions, locked_entry, must_struggle, only_entry
from agents.engine.gen1.state import out
from agents.engine.gen1.tables import ENTRIES, FIGHT_ENTRY, MOVE_IDS, STRUGGLE
from agents.observation.actions import legal_actions as network_actions
from arena.venue import NotOnEngine

#: Two locks at once: what Showdown lists then depends on the order of its events.
TWO_LOCKS = 201

#: What `_describe` writes of a seat: legal actions, the only move that is listed (0: all), the move that is noted whichever
#: is chosen (0: the chosen one), and after those the moves and the order of the team.
_LEGAL, _LISTED, _NOTED, _COUNT, _MOVES, _ORDER = 0, 1, 2, 3, 4, 8
_PARTS = 14


@compiled
def _has_two_locks(b, s):
    hard = (b[s + W.RECHARGE] != 0) + (b[s + W.THRASH] != 0) + (b[s + W.TWO_TURN] != 0) + (b[s + W.RAGE] != 0)
    soft = (b[s + W.BIDE_TIME] != 0) + (b[s + W.TRAPPING] != 0)
    return hard > 1 or (hard == 0 and soft > 1)


@compiled
def _logged_entry(b, s):
    """Return the move that Showdown's input log notes for any choice of a move; 0: the chosen one."""
    locked, status = locked_entry(b, s), b[out(b, s) + W.MON_STATUS]
    if locked:
        return locked
    if status in (W.FREEZE, W.SLEEP) or b[s + W.TRAPPED] != 0:
        return FIGHT_ENTRY
    return STRUGGLE if must_struggle(b, s) else 0


@compiled
def _describe_seat(b, s, parts):
    parts[_LEGAL] = legal_actions(b, s)
    parts[_LISTED] = parts[_NOTED] = parts[_COUNT] = 0
    if b[s + W.REQUEST] == W.CHOOSE_MOVE:
        two = _has_two_locks(b, s)
        parts[_LISTED] = TWO_LOCKS if two else only_entry(b, s)
        parts[_NOTED] = TWO_LOCKS if two else _logged_entry(b, s)
        parts[_COUNT] = b[s + W.MOVE_COUNT]
    for slot in range(4):
        parts[_MOVES + slot] = b[s + W.MOVES + slot]
    for position in range(6):
        parts[_ORDER + position] = b[s + W.ORDER + position] if position < b[s + W.TEAM_SIZE] else -1


@kernel
def _describe(battles, results, parts):
    for n in numba.prange(len(battles)):
        results[n, 0], results[n, 1] = battles[n, W.WINNER], battles[n, W.TURN]
        for seat in range(2):
            _describe_seat(battles[n], W.SIDES + seat * W.SIDE_WORDS, parts[n, seat])


def describe_rows(battles: NDArray[np.int32]) -> tuple[list[list[int]], list[list[list[int]]]]:
    """Of each battle: [winner, turn], and what each seat is asked, for `QuestionBuilder.ask`."""
    results, parts = np.empty((len(battles), 2), np.int32), np.empty((len(battles), 2, _PARTS), np.int32)
    _describe(battles, results, parts)
    return results.tolist(), parts.tolist()


@dataclass(frozen=True)
class SeatQuestion:
    """What a seat is asked.

    request: Showdown's, as far as reading an answer needs it. legal: its choices. labels: of those. noted: choice's
    wire -> how Showdown's input log notes it.
    """

    request: dict[str, Any]
    legal: list[Choice]
    labels: list[str]
    noted: dict[str, str]

    @functools.cached_property
    def by_action(self) -> dict[int, Choice]:
        """Action of a network (agents/observation/actions.py) -> choice."""
        return network_actions(self.request, self.legal)


@dataclass
class QuestionBuilder:
    """Makes the questions of one seat of one battle. role: "p1" or "p2"; members: (ident, details) in the team's order."""

    role: str
    members: list[tuple[str, str]]
    _known: dict[tuple[int, ...], SeatQuestion] = field(default_factory=dict)

    def ask(self, parts: list[int]) -> SeatQuestion | None:
        """The question to a seat, by its parts of `describe_rows`; None if it waits. Raises NotOnEngine."""
        if not parts[_LEGAL]:
            return None
        key = tuple(parts)
        question = self._known.get(key)
        if question is None:
            question = self._known[key] = self._question(parts)
        return question

    def _question(self, parts: list[int]) -> SeatQuestion:
        if TWO_LOCKS in (parts[_LISTED], parts[_NOTED]):
            raise NotOnEngine("a Pokémon is locked into two moves at once")
        legal, order = parts[_LEGAL], [index for index in parts[_ORDER:] if index >= 0]
        pokemon = [
            {
                "ident": self.members[index][0],
                "details": self.members[index][1],
                "active": position == 0,
                "condition": "1/1" if position == 0 or legal >> 3 + position & 1 else "0 fnt",
            }
            for position, index in enumerate(order)
        ]
        request: dict[str, Any] = {"side": {"pokemon": pokemon}}
        if parts[_COUNT]:
            listed = [ENTRIES[parts[_LISTED]]] if parts[_LISTED] else None
            moves = listed or [MOVE_IDS[number] for number in parts[_MOVES : _MOVES + parts[_COUNT]]]
            request["active"] = [
                {
                    "moves": [
                        {"move": name, "id": name, "disabled": not legal >> slot & 1} for slot, name in enumerate(moves)
                    ]
                }
            ]
        else:
            request["forceSwitch"] = [True]
        choices = legal_choices(request)
        always = ENTRIES[parts[_NOTED]] if parts[_NOTED] else None
        noted = {
            c.wire: f"move {always or moves[c.slot - 1]}" if c.kind == "move" else f"switch {c.slot}" for c in choices
        }
        return SeatQuestion(request, choices, [c.label for c in choices], noted)


def members_of(role: str, packed: str) -> list[tuple[str, str]]:
    """The ident and details of each Pokémon of a packed team, as Showdown's requests have them."""
    members = []
    for member in packed.split("]"):
        name, species, *_ = member.split("|")
        members.append((f"{role}: {shown_name(member)}", to_id_str(species or name)))
    return members


def engine_action(choice: Choice) -> int:
    """The engine's action (agents/engine/gen1/layout.py) of a choice."""
    return choice.slot - 1 if choice.kind == "move" else choice.slot + 2
