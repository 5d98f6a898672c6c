"""Showdown's choices in words ("move earthquake terastallize", "switch 3") as the engine's actions, and whole input logs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.engine.checks import check_pair
from agents.engine.gen9.layout import ROW
from agents.engine.gen9.teams import IDS, NUMBERS
from teamsets.errors import BadInput

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


def team_order(choice: str, size: int) -> list[int] | None:
    """The places (from 0) of "team 312456", "team 3, 1" or "default", completed with the others; None for what is none."""
    if choice == "default":
        return list(range(size))
    if not choice.startswith("team "):
        return None
    text = choice[5:].replace(" ", "")
    given = text.split(",") if "," in text else list(text)
    if not all(place.isdecimal() and 1 <= int(place) <= size for place in given) or len(set(given)) < len(given):
        return None
    chosen = [int(place) - 1 for place in given]
    return [*chosen, *(place for place in range(size) if place not in chosen)]


def _order(choices: list[str], team: str) -> list[int]:
    """A team's order at the preview, taken from the beginning of a seat's choices. Raises BadInput for what is no order."""
    size = team.count("]") + 1
    if not choices or not choices[0].startswith("team "):
        return list(range(size))
    order = team_order(choices[0], size)
    if order is None:
        raise BadInput(f"'{choices[0]}' is no order of a team of {size}.")
    del choices[0]
    return order


class InputLog(NamedTuple):
    """A battle as Showdown's input log has it. orders: both teams' at the preview. choices: both sides' after it."""

    teams: tuple[str, str]
    seed: str
    orders: tuple[list[int], list[int]]
    choices: tuple[list[str], list[str]]


def read_input_log(log: Sequence[str]) -> InputLog:
    """Read an input log. Raises BadInput for one that is of no battle, and names a line that cannot be read."""
    if not isinstance(log, Sequence) or not all(isinstance(line, str) for line in log):
        raise BadInput(f"input log {str(log)[:80]!r}: a list of its lines is needed, each as text.")
    entries = [line[1:].partition(" ")[::2] for line in log if line.startswith(">")]
    options: dict[str, Any] = {}
    teams: dict[str, Any] = {}
    for name, rest in entries:
        role, _, player = rest.partition(" ")
        if name == "start":
            options = _options(name, rest)
        elif name == "player":
            teams[role] = _options(f"{name} {role}", player).get("team")
    if "seed" not in options or set(teams) != {"p1", "p2"}:
        raise BadInput("the input log has no >start with a seed and no >player of both sides: it is of no battle.")
    pair = teams["p1"], teams["p2"]
    check_pair(pair)
    first, second = ([rest for name, rest in entries if name == role] for role in ("p1", "p2"))
    return InputLog(pair, options["seed"], (_order(first, pair[0]), _order(second, pair[1])), (first, second))


def _options(what: str, text: str) -> dict[str, Any]:
    """The options of a line of an input log. Raises BadInput."""
    try:
        options = json.loads(text)
    except ValueError:
        options = None
    if not isinstance(options, dict):
        raise BadInput(f"the input log's line >{what} has no options in JSON: {text[:80]!r}.")
    return options
