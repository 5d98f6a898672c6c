"""The action space of doubles of all generations: one slot's choice, or one pick at team preview.

| action | meaning |
|---|---|
| 4 i + t, i and t from 0 to 3 | the i-th move of the slot's Pokémon in alphabetical order of their ids, at the target t |
| 16 + 4 i + t | the same with what a side does once: Terastallization, Mega Evolution, Z-Move, Dynamax, Ultra Burst |
| 32 + k | our k-th Pokémon (`ordered_pokemon`): it comes in, is revived, or is picked |
| 38 | pass |

Targets: 0 none or the user itself, 1 the foe in slot a, 2 the foe in slot b, 3 the ally.

Both slots' choices have to go together: the mask of the first slot leaves out what no choice of the second one goes with,
and that of the second what does not go with the first one's choice (decisions.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agents.battle.choices import Choice

MOVES, SPECIAL, POKEMON, PASS = range(0, 16), range(16, 32), range(32, 38), 38
TARGETS = 4
NO_TARGET, FOE_A, FOE_B, ALLY = range(TARGETS)


def ordered_pokemon(request: dict[str, Any], slot: int | None) -> list[int | None]:
    """Return the places of our Pokémon in the request's team, in the order of the actions from 32 on.

    The Pokémon of the deciding slot, that of the other slot, the bench in alphabetical order of its idents. None: nobody
    is there. slot: None at team preview, where all are in that order.
    """
    team = request["side"]["pokemon"]

    def ident(place: int) -> str:
        return str(team[place]["ident"])

    if slot is None:
        return [*sorted(range(len(team)), key=ident)]
    fielded = [place if place < len(team) else None for place in (slot, 1 - slot)]
    return [*fielded, *sorted(range(2, len(team)), key=ident)]


def ordered_moves(request: dict[str, Any], slot: int) -> list[int]:
    """Return the places of a slot's moves in its part of the request, in the order of the actions, at most four."""
    active = request.get("active") or ()
    moves = active[slot]["moves"] if slot < len(active) and active[slot] is not None else []
    return sorted(range(len(moves)), key=lambda place: str(moves[place]["id"]))[:4]


def slot_actions(request: dict[str, Any], slot: int | None, choices: Iterable[Choice]) -> dict[int, Choice]:
    """Return action -> choice for some choices of a slot; at team preview (None) for picks, which are switches there."""
    pokemon = {place: action for action, place in enumerate(ordered_pokemon(request, slot), POKEMON[0])}
    moves = {} if slot is None else {place: order for order, place in enumerate(ordered_moves(request, slot))}
    actions: dict[int, Choice] = {}
    for choice in choices:
        if choice.kind == "switch":
            actions.setdefault(pokemon[choice.slot - 1], choice)
        elif choice.kind == "pass":
            actions.setdefault(PASS, choice)
        else:
            kind = SPECIAL if choice.extra else MOVES
            aimed = kind[0] + TARGETS * moves[choice.slot - 1] + target_of(choice, slot)
            actions.setdefault(aimed, choice)
    return actions


def target_of(choice: Choice, slot: int | None) -> int:
    """Return the place of a move's target among the four of an action. slot: of its user."""
    if choice.target >= 0:
        return choice.target
    return NO_TARGET if choice.target == -1 - (slot or 0) else ALLY
