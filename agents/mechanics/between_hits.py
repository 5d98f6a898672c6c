"""What a hit changes for the next hits of its move: stats of the target, abilities, types, weather and terrain.

Source: the handlers of Showdown's event `DamagingHit`.
"""

from __future__ import annotations

from dataclasses import replace

from agents.mechanics.fighters import Conditions, Fighter
from agents.mechanics.move_powers import Foe
from agents.mechanics.strikes import UNSUPPRESSED, Strike

_TAKES_OVER = frozenset({"mummy", "lingeringaroma", "wanderingspirit"})
#: Abilities of a target that act at every hit.
REACTING = _TAKES_OVER | {"stamina", "weakarmor", "watercompaction", "colorchange", "seedsower", "sandspit"}
_PRIMAL = frozenset({"desolateland", "primordialsea", "deltastream"})


def reacts(strike: Strike, foe: Foe) -> bool:
    """Return whether a hit may change what the next ones of its move deal."""
    return foe.ability in REACTING or (foe.item == "luminousmoss" and strike.kind == "WATER")


def after_hit(strike: Strike, foe: Foe) -> tuple[Fighter, Fighter, Conditions]:
    """Return user, target and field after a hit that dealt damage."""
    user, target, field, ability = strike.user, foe.fighter, strike.field, foe.ability
    if foe.item == "luminousmoss" and strike.kind == "WATER":
        target = replace(target.boosted((("spd", 1),)), item="")
    if ability == "stamina":
        target = target.boosted((("def", 1),))
    elif ability == "weakarmor" and strike.physical:
        target = target.boosted((("def", -1),))
    elif ability == "watercompaction" and strike.kind == "WATER":
        target = target.boosted((("def", 2),))
    elif ability == "colorchange" and strike.gen <= 4 and strike.kind != "THREE_QUESTION_MARKS":
        target = target if strike.kind in target.types else replace(target, types=(strike.kind,))
    elif ability == "seedsower":
        field = replace(field, terrain="grassyterrain")
    elif ability == "sandspit" and field.weather not in _PRIMAL:
        field = replace(field, weather="sandstorm")
    elif ability in _TAKES_OVER and _touches(strike) and user.ability not in UNSUPPRESSED:
        if ability == "wanderingspirit":
            target = replace(target, ability=user.ability)
        user = replace(user, ability=ability)
    return user, target, field


def _touches(strike: Strike) -> bool:
    return "contact" in strike.flags and strike.item != "protectivepads" and strike.user.item != "abilityshield"
