"""Moves that hit several times: how often one hits, and what a hit changes for the next: stats of the target, abilities,
types, weather and terrain.

Source of the changes: the handlers of Showdown's event `DamagingHit`.
"""

from __future__ import annotations

from dataclasses import replace

from agents.mechanics.bystanders import UNSUPPRESSED
from agents.mechanics.fighters import Conditions, Fighter
from agents.mechanics.move_powers import Foe
from agents.mechanics.strikes import Strike

#: The number counted of two to five hits: the expected one is 3 before generation 5 and 3.1 since.
_USUAL = 3
_WITH_DICE = 4
_TAKES_OVER = frozenset({"mummy", "lingeringaroma", "wanderingspirit"})
#: Abilities of a target that act at every hit.
REACTING = _TAKES_OVER | {"stamina", "weakarmor", "watercompaction", "colorchange", "seedsower", "sandspit"}
_PRIMAL = frozenset({"desolateland", "primordialsea", "deltastream"})


def hits_of(strike: Strike) -> int:
    """Return the number of hits that count in a damage range: 3 of 2 to 5 hits, all of a fixed number."""
    move = strike.move
    if move.id == "dragondarts" and strike.company.guarded and not strike.company.hits_ally:
        return 1  # one for each opponent
    if move.most_hits == 1:
        return 2 if bonded(strike) else 1
    if move.least_hits == move.most_hits or strike.ability == "skilllink":
        return move.most_hits
    return _WITH_DICE if strike.item == "loadeddice" else _USUAL


def expected_hits(strike: Strike) -> float:
    """Return the expected number of hits, once the first has hit; in units of a whole use for moves that grow."""
    move = strike.move
    counted = hits_of(strike)
    if move.least_hits < move.most_hits:
        if strike.ability == "skilllink" or strike.gen <= 4:
            return float(counted)
        return 4.5 if strike.item == "loadeddice" else 3.1
    if move.id in ("tripleaxel", "triplekick", "populationbomb") and strike.ability != "skilllink":
        if strike.item == "loadeddice":
            return 7.0 if counted == 10 else float(counted)
        return counted * _kept_up(move.accuracy, counted, move.id != "populationbomb")
    return float(counted)


def _kept_up(accuracy: float, hits: int, grows: bool) -> float:
    """Return the expected part of the damage of a move that stops at its first miss."""
    weights = [number + 1 if grows else 1 for number in range(hits)]
    return sum(weight * accuracy**number for number, weight in enumerate(weights)) / sum(weights)


def bonded(strike: Strike) -> bool:
    """Return whether Parental Bond makes a move hit twice."""
    return (
        strike.ability == "parentalbond"
        and not strike.company.spread
        and strike.move.most_hits == 1
        and not (strike.flags & {"noparentalbond", "charge", "futuremove"})
    )


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
