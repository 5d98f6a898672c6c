"""Showdown's choices in words ("move earthquake terastallize", "switch 3") as the engine's actions, and whole input logs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agents.engine.gen9.layout import ROW
from agents.engine.gen9.teams import IDS, NUMBERS
from teamsets.errors import BadInput

if TYPE_CHECKING:
    from agents.engine.gen9.engine import Engine

#: Of an action: where moves after terastallizing and switches begin.
TERASTALLIZING, SWITCHING = 4, 8
ILLEGAL = -1


def action_of(side: Any, legal: int, choice: str) -> int:
    """The action of a seat's choice, ILLEGAL if it has none. side: its record (layout.SIDE); legal: its actions as bits.

    A move is named by its number in the request or by its id, as Showdown's input log has it: a Pokémon that can use one
    move alone (it is locked, it must Struggle) is asked for that one.
    """
    kind, _, rest = choice.partition(" ")
    what, _, extra = rest.partition(" ")
    if kind == "switch" and what.isdecimal() and int(what) >= 2:
        action = SWITCHING + int(what) - 2
    elif kind == "move" and extra in ("", "terastallize"):
        mon = side["pokemon"][(side["order"][0] - 1) % 6]
        known = mon["moveSlots"]["id"][: mon["moveCount"]].tolist()
        number = NUMBERS["moves"].get(what, 0)
        slots = [
            slot for slot, move in enumerate(known) if (what == str(slot + 1) if what.isdecimal() else move == number)
        ]
        single = legal & 15 == 1 and not what.isdecimal()
        action = next((slot for slot in slots if legal >> slot & 1), 0 if single else ILLEGAL)
        if extra and action >= 0:
            action += TERASTALLIZING
    else:
        return ILLEGAL
    return action if action >= 0 and legal >> action & 1 else ILLEGAL


def words_of(side: Any, action: int, locked: int) -> str:
    """A seat's action as Showdown's input log has it, such as "move earthquake terastallize" or "switch 3".

    side: its record; locked: the move (by number) that it must go on with, or 0.
    """
    if action >= SWITCHING:
        return f"switch {action - SWITCHING + 2}"
    mon = side["pokemon"][(side["order"][0] - 1) % 6]
    slots = mon["moveSlots"][: mon["moveCount"]]
    usable = ((slots["pp"] > 0) & (slots["disabled"] == 0)).any()
    move = IDS[locked] if locked else IDS[int(slots["id"][action % TERASTALLIZING])] if usable else "struggle"
    return f"move {move}{' terastallize' * (action >= TERASTALLIZING)}"


def translate(
    words: NDArray[np.int32], rows: Sequence[int], seats: Sequence[int], legal: Sequence[int], choices: Sequence[str]
) -> NDArray[np.int32]:
    """The actions [N] of choices of those seats of battles; legal: their actions as bits."""
    sides = words.view(ROW)[:, 0]["sides"]
    asked = zip(rows, seats, legal, choices, strict=True)
    return np.array([action_of(sides[row, seat], mask, choice) for row, seat, mask, choice in asked], np.int32)


def _order(choices: list[str], team: str) -> list[int]:
    """A team's order at the preview, taken from the beginning of a seat's choices."""
    size = team.count("]") + 1
    named = choices.pop(0)[5:] if choices and choices[0].startswith("team ") else ""
    order = [int(place) - 1 for place in named.replace(" ", "").split(",") if place.isdecimal()]
    return order + [place for place in range(size) if place not in order]


def replay(engine: Engine, log: Sequence[str]) -> None:
    """Plays a battle from Showdown's input log in the engine's only row, as far as the log goes.

    Raises BadInput for teams or a seed that the engine does not play, and for a choice that is not legal.
    """
    entries = [line[1:].partition(" ")[::2] for line in log if line.startswith(">")]
    options = {name: json.loads(rest) for name, rest in entries if name == "start"}.get("start", {})
    players = dict(rest.split(" ", 1) for name, rest in entries if name == "player")
    if "seed" not in options or set(players) != {"p1", "p2"}:
        raise BadInput("the input log has no >start with a seed and no >player of both sides: it is of no battle.")
    teams = json.loads(players["p1"])["team"], json.loads(players["p2"])["team"]
    choices: list[list[str]] = [[rest for name, rest in entries if name == role] for role in ("p1", "p2")]
    orders = _order(choices[0], teams[0]), _order(choices[1], teams[1])
    engine.reset([teams], [options["seed"]], orders=[orders])
    number = [0, 0]
    while True:
        legal = engine.legal()[0, :, 0].tolist()
        asked = [seat for seat in range(2) if legal[seat]]
        if not asked or any(number[seat] == len(choices[seat]) for seat in asked):
            return
        given = [choices[seat][number[seat]] for seat in asked]
        actions = np.zeros((1, 2, 2), np.int32)
        actions[0, asked, 0] = engine.translate([0] * len(asked), asked, given)
        for seat, choice in zip(asked, given, strict=True):
            if actions[0, seat, 0] == ILLEGAL:
                raise BadInput(f"p{seat + 1}'s choice {number[seat] + 1}, '{choice}', is not legal for the engine.")
            number[seat] += 1
        engine.step(actions)
