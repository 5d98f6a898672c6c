"""Whom a move hits in doubles: its target type, and how many it strikes at once."""

from __future__ import annotations

from collections.abc import Sequence

from agents.mechanics.bystanders import Beside
from agents.mechanics.fighters import Conditions, Fighter
from agents.mechanics.grounding import grounded
from agents.mechanics.moves import MoveFacts

#: Target types of moves that hit both opponents, and of those that hit the user's ally, too.
AT_FOES = frozenset({"allAdjacentFoes"})
AT_ALL = frozenset({"allAdjacent", "all"})
SEVERAL = AT_FOES | AT_ALL


def target_type(move: MoveFacts, user: Fighter, field: Conditions) -> str:
    """Return Showdown's target type of a move as its user has it: the terrain and formes make two of them spread."""
    if move.id == "expandingforce" and field.terrain == "psychicterrain" and grounded(user, rooms=field.rooms):
        return "allAdjacentFoes"
    if move.id == "terastarstorm" and user.species == "terapagosstellar":
        return "allAdjacentFoes"
    return move.target


def is_spread(kind: str, foes: int, ally: bool) -> bool:
    """Return whether a move of a target type strikes several. foes: how many stand; ally: whether the user's does."""
    if kind in AT_FOES:
        return foes > 1
    return kind in AT_ALL and foes + ally > 1


def beside(
    move: MoveFacts, user: Fighter, target: Fighter, ally: Fighter | None, foes: Sequence[Fighter], field: Conditions
) -> Beside:
    """Return who else is there while a move hits its target. ally: beside the user; foes: opposite; one is the target."""
    spread = is_spread(target_type(move, user, field), len(foes), ally is not None)
    if target is ally:
        return Beside(ally, None, tuple(foes), True, spread, user)
    guard = next((foe for foe in foes if foe is not target), None)
    return Beside(ally, guard, (), False, spread, user)
