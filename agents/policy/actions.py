"""One space of actions for singles of every generation: 4 moves, 5 switches, the 4 moves with terastallizing.

| action | means |
|---|---|
| 0 – 3 | the moves of our Pokémon on the field, by their ids in alphabetical order |
| 4 – 8 | our Pokémon not on the field, by their idents in alphabetical order, the fainted ones too |
| 9 – 12 | the moves as in 0 – 3, terastallizing at once |

Mega evolution, Z-moves and Dynamax have no action: a model never chooses them. Team preview is no decision of a model: the
team keeps its own order.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.choices import Choice

ACTIONS = 13
MOVES, SWITCHES, TERA = range(0, 4), range(4, 9), range(9, 13)


def ordered_moves(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The moves of the Pokémon on the field as a request has them, in the order of the actions 0 to 3."""
    active = request.get("active")
    return sorted(active[0]["moves"], key=itemgetter("id"))[:4] if active else []


def ordered_bench(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Our Pokémon that are not on the field as a request has them, in the order of the actions 4 to 8."""
    return sorted([mon for mon in request["side"]["pokemon"] if not mon["active"]], key=itemgetter("ident"))[:5]


def legal_actions(request: dict[str, Any], legal: list[Choice]) -> dict[int, Choice]:
    """Each action that a request allows -> the choice that it means. Empty at team preview."""
    return ordered_actions(request, legal, ordered_moves(request), ordered_bench(request))


def ordered_actions(
    request: dict[str, Any], legal: list[Choice], moves: list[dict[str, Any]], bench: list[dict[str, Any]]
) -> dict[int, Choice]:
    """The same for one who has the moves and the bench in their order at hand."""
    if not legal or legal[0].kind == "team":
        return {}
    places: dict[str, int] = {}
    for place, move in enumerate(moves):
        places.setdefault(move["id"], place)
    benched = {mon["ident"]: place for place, mon in enumerate(bench, SWITCHES[0])}
    team, listed = request["side"]["pokemon"], request["active"][0]["moves"] if moves else []
    found: dict[int, Choice] = {}
    for choice in legal:
        _, _, kind, slot, extra = choice
        if kind == "switch":
            found.setdefault(benched[team[slot - 1]["ident"]], choice)
        elif not extra:
            found.setdefault(places[listed[slot - 1]["id"]], choice)
        elif extra == "terastallize":
            found.setdefault(places[listed[slot - 1]["id"]] + TERA[0], choice)
    return found


def legal_mask(actions: Iterable[int]) -> NDArray[np.bool_]:
    """bool [13]: which actions are legal."""
    mask = bytearray(ACTIONS)
    for action in actions:
        mask[action] = 1
    return np.frombuffer(mask, dtype=np.bool_)


def action_of(words: str, actions: dict[int, Choice]) -> int | None:
    """The action that means a stored choice ("switch snorlax"); None for one that has no action."""
    return next((action for action, choice in actions.items() if choice.words == words), None)
