"""The four places of a field of doubles, and whom a move hits there.

A place is a number: 0 and 1 are our slots, 2 and 3 the opponent's. `place ^ 1` is the ally's, `place & 2` the side.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.mechanics.damage import Damage, damage
from agents.mechanics.fighters import Conditions, Fighter
from agents.mechanics.moves import MoveFacts
from agents.mechanics.targets import AT_ALL, AT_FOES, beside, target_type

PLACES = range(4)
_FOES = ((2, 3), (2, 3), (0, 1), (0, 1))
_DRAWS = {"lightningrod": "ELECTRIC", "stormdrain": "WATER"}
#: Types of moves that an ability may draw.
DRAWN_TYPES = frozenset(_DRAWS.values())
#: Abilities of a user whose moves nothing draws.
UNDRAWN_ABILITIES = frozenset({"stalwart", "propellertail"})
_UNDRAWN_MOVES = frozenset({"snipeshot"})
#: Moves that hit whom their users do not choose: one of both opponents.
AT_RANDOM = frozenset({"randomNormal", "scripted"})


def place_of(place: int, target: int) -> int:
    """Return the place that a choice's target (1, 2: the foes; -1, -2: one's own) means to who stands at a place."""
    own = place & 2
    return own + (-target - 1) if target < 0 else (own ^ 2) + target - 1


def foes_of(place: int) -> tuple[int, int]:
    """Return the places opposite."""
    return _FOES[place]


def struck(
    place: int, move: MoveFacts, aimed: int | None, fighters: Sequence[Fighter | None], field: Conditions
) -> list[int]:
    """Return the places that a damaging move hits, if nothing in this turn draws or stops it.

    aimed: the place that its user names; None if it names none. fighters: who stands at each place, None for nobody. An
    opponent that is not there leaves the move to the other one. Abilities that draw moves (Lightning Rod) count.
    """
    user = fighters[place]
    assert user is not None
    foes = [foe for foe in foes_of(place) if fighters[foe] is not None]
    kind = target_type(move, user, field)
    if aimed is None and kind in AT_FOES:
        return foes
    if aimed is None and kind in AT_ALL:
        return [*foes, place ^ 1] if fighters[place ^ 1] is not None else foes
    drawn = drawn_to(place, move, fighters)
    if drawn is not None:
        return [drawn]
    if aimed is None:
        return foes if kind in AT_RANDOM else foes[:1]
    if aimed & 2 == place & 2:
        return [aimed] if fighters[aimed] is not None else []
    return [aimed] if fighters[aimed] is not None else foes


def damage_at(
    user: Fighter, place: int, target: int, move: MoveFacts, fighters: Sequence[Fighter | None], field: Conditions
) -> Damage:
    """Return the damage of a move from one place to who stands at another. user: who stands, or would stand, at `place`."""
    other = fighters[target]
    assert other is not None
    foes = [fighter for foe in foes_of(place) if (fighter := fighters[foe]) is not None]
    by = beside(move, user, other, fighters[place ^ 1], foes, field)
    return damage(user, other, move, field, field.sides[target >> 1], field.sides[place >> 1], by)


def drawn_to(place: int, move: MoveFacts, fighters: Sequence[Fighter | None]) -> int | None:
    """Return the place whose ability draws a move that hits one, None if there is none."""
    user = fighters[place]
    if move.type not in DRAWN_TYPES or user is None or move.id in _UNDRAWN_MOVES:
        return None
    if user.ability in UNDRAWN_ABILITIES:
        return None
    candidates = foes_of(place) if user.gen == 3 else (*foes_of(place), place ^ 1)
    for other in candidates:
        fighter = fighters[other]
        if fighter is not None and _DRAWS.get(fighter.ability) == move.type and "gastroacid" not in fighter.effects:
            return other
    return None
