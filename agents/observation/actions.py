"""The action space for singles of all generations: 4 moves, 5 switches, 4 moves with terastallization.

| action | meaning |
|---|---|
| 0 – 3 | the moves of our active Pokémon, in alphabetical order of their ids |
| 4 – 8 | our benched Pokémon, in alphabetical order of their idents, fainted ones included |
| 9 – 12 | the moves as in 0 – 3, with terastallization |

Mega evolution, Z-moves and Dynamax have no action and are never chosen. At team preview the actions choose the lead: 0 the
team's first Pokémon, 4 – 8 one of the others; the rest of the team keeps its order.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.battle.choices import Choice
from agents.observation.layout import SINGLES

ACTIONS = SINGLES.actions
MOVES, SWITCHES, TERA = range(0, 4), range(4, 9), range(9, 13)
#: At team preview: the team's first Pokémon leads.
FIRST_LEADS = 0


def ordered_moves(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the request's entries of the active Pokémon's moves, in the order of the actions 0 to 3."""
    active = request.get("active")
    return sorted(active[0]["moves"], key=itemgetter("id"))[:4] if active else []


def ordered_bench(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the request's entries of our benched Pokémon, in the order of the actions 4 to 8."""
    return sorted([mon for mon in request["side"]["pokemon"] if not mon["active"]], key=itemgetter("ident"))[:5]


def legal_actions(request: dict[str, Any], legal: list[Choice]) -> dict[int, Choice]:
    """Return legal action -> choice for a request."""
    return ordered_actions(request, legal, ordered_moves(request), ordered_bench(request))


def ordered_actions(
    request: dict[str, Any], legal: list[Choice], moves: list[dict[str, Any]], bench: list[dict[str, Any]]
) -> dict[int, Choice]:
    """Return the same, given `ordered_moves` and `ordered_bench` of the request."""
    if not legal:
        return {}
    switch_actions = {mon["ident"]: action for action, mon in enumerate(bench, SWITCHES[0])}
    team = request["side"]["pokemon"]
    if legal[0].kind == "team":
        return {switch_actions.get(team[lead.slot - 1]["ident"], FIRST_LEADS): lead for lead in legal}
    move_actions: dict[str, int] = {}
    for action, move in enumerate(moves):
        move_actions.setdefault(move["id"], action)
    listed = request["active"][0]["moves"] if moves else []
    choices: dict[int, Choice] = {}
    for choice in legal:
        kind, slot, extra = choice.kind, choice.slot, choice.extra
        if kind == "switch":
            choices.setdefault(switch_actions[team[slot - 1]["ident"]], choice)
        elif not extra:
            choices.setdefault(move_actions[listed[slot - 1]["id"]], choice)
        elif extra == "terastallize":
            choices.setdefault(move_actions[listed[slot - 1]["id"]] + TERA[0], choice)
    return choices


def legal_mask(actions: Iterable[int]) -> NDArray[np.bool_]:
    """Return the mask bool [13] of legal actions."""
    mask = bytearray(ACTIONS)
    for action in actions:
        mask[action] = 1
    return np.frombuffer(mask, dtype=np.bool_)


def action_of(label: str, actions: dict[int, Choice]) -> int | None:
    """Return the action of a stored choice ("switch snorlax"); None if it is not in the action space."""
    return next((action for action, choice in actions.items() if choice.label == label), None)
