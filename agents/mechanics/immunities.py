"""What stops a move altogether, and how often its damage is doubled or halved by types.

Source: Showdown's `runImmunity`, `runEffectiveness` and the handlers of `TryHit`, `TryMove` and `TryImmunity`.
"""

from __future__ import annotations

from agents.battle.formes import base_species
from agents.mechanics.move_powers import Foe, weight
from agents.mechanics.strikes import NEEDS_TYPE, Strike
from agents.mechanics.type_chart import blocked, steps, total_steps

_ABSORBED = {
    "dryskin": "WATER", "waterabsorb": "WATER", "stormdrain": "WATER", "voltabsorb": "ELECTRIC",
    "lightningrod": "ELECTRIC", "motordrive": "ELECTRIC", "flashfire": "FIRE", "wellbakedbody": "FIRE",
    "sapsipper": "GRASS", "eartheater": "GROUND",
}  # fmt: skip
#: Abilities that only redirect moves before generation 5.
_REDIRECT_ONLY = frozenset({"lightningrod", "stormdrain"})
_STOPS_FLAG = {"soundproof": "sound", "bulletproof": "bullet", "windrider": "wind"}
_STOPS_PRIORITY = frozenset({"queenlymajesty", "dazzling", "armortail"})
_EXPLOSIONS = frozenset({"explosion", "mindblown", "mistyexplosion", "selfdestruct"})
_FIRST_TURN = frozenset({"fakeout", "firstimpression"})
_NEEDS_SPECIES = {"aurawheel": "morpeko", "hyperspacefury": "hoopaunbound"}
_OTHER_CHART = frozenset({"freezedry", "flyingpress"})
#: Moves with a condition of their own.
_CONDITIONAL = frozenset(
    {"dreameater", "synchronoise", "feint", "steelroller", "poltergeist", "snore", "skydrop"}
    | _FIRST_TURN | NEEDS_TYPE.keys() | _NEEDS_SPECIES.keys()
)  # fmt: skip
_SEES_GHOSTS = frozenset({"scrappy", "mindseye"})
_NO_TYPE = "THREE_QUESTION_MARKS"


def type_steps(strike: Strike, foe: Foe) -> int:
    """Return how often types double a move's damage (halve it if negative), immunities apart."""
    kind, gen, move, target = strike.kind, strike.gen, strike.id, foe.fighter
    types = target.types
    if kind == "STELLAR":
        return 1 if target.terastallized else 0
    if move in _OTHER_CHART or strike.weather == "deltastream":
        total = sum(_step(strike, own) for own in types)
    else:
        total = total_steps(gen, kind, types)
    if kind == "GROUND" and gen >= 5 and "FLYING" in types and _lifted_down(strike, foe):
        total = 0
    if target.effects and kind == "FIRE" and "tarshot" in target.effects:
        total += 1
    if foe.ability == "terashell" and target.species == "terapagosterastal" and foe.hp >= target.stats[0]:
        return min(total, -1)
    return total


def _step(strike: Strike, own: str) -> int:
    """Return the doublings by one of the target's types, where the move or the weather changes the chart."""
    step = steps(strike.gen, strike.kind, own)
    if strike.id == "freezedry" and own == "WATER":
        step = 1
    elif strike.id == "flyingpress":
        step += steps(strike.gen, "FLYING", own)
    return 0 if own == "FLYING" and step > 0 and strike.weather == "deltastream" else step


def _lifted_down(strike: Strike, foe: Foe) -> bool:
    """Return whether a Flying target is hit by a Ground move as by one without effect of types."""
    held = foe.item == "ironball" and not ("gravity" in strike.rooms or foe.fighter.effects & {"ingrain", "smackdown"})
    return held or (strike.id == "thousandarrows" and not foe.grounded)


def immune_by_type(strike: Strike, foe: Foe) -> bool:
    """Return whether the target's types or its distance from the ground make it immune."""
    kind, target = strike.kind, foe.fighter
    if kind in (_NO_TYPE, "STELLAR"):
        return False
    if kind == "GROUND" and strike.gen >= 3:
        if strike.id == "thousandarrows" or foe.grounded:
            return False
        if foe.item == "ringtarget" and "FLYING" in target.types:
            others = (foe.ability in ("levitate", "eelevate"), foe.item == "airballoon")
            return any(others) or bool(target.effects & {"magnetrise", "telekinesis"})
        return True
    if not blocked(strike.gen, kind, target.types):
        return False
    return not _sees_through(strike, foe, kind)


def _sees_through(strike: Strike, foe: Foe, kind: str) -> bool:
    effects = foe.fighter.effects
    if kind in ("NORMAL", "FIGHTING") and (strike.ability in _SEES_GHOSTS or "foresight" in effects):
        return True
    if kind == "PSYCHIC" and "miracleeye" in effects:
        return True
    return foe.item == "ringtarget" or (strike.id == "nihillight" and kind == "DRAGON")


def stopped(strike: Strike, foe: Foe, doublings: int) -> bool:
    """Return whether an ability, an item, the field or its own condition stops a move. doublings: see `type_steps`."""
    if fails(strike, foe):
        return True
    ability, kind, gen = foe.ability, strike.kind, strike.gen
    if strike.weather:
        if strike.weather == "primordialsea" and kind == "FIRE":
            return True
        if strike.weather == "desolateland" and kind == "WATER":
            return True
    company = strike.company
    if company.hits_ally and strike.id == "pollenpuff":  # it heals
        return True
    if strike.priority > 0 and not company.hits_ally:
        if strike.terrain == "psychicterrain" and foe.grounded:
            return True
        if ability in _STOPS_PRIORITY or company.guard in _STOPS_PRIORITY:
            return True
    if strike.id in _EXPLOSIONS and ("damp" in (foe.ability, strike.ability) or "damp" in company.rest):
        return True
    if not ability:
        return False
    if _ABSORBED.get(ability) == kind:
        if gen <= 4 and ability in _REDIRECT_ONLY:
            return False
        return not (gen <= 4 and ability == "flashfire" and foe.fighter.status == "frz")
    if ability == "wonderguard":
        return _wonder_guard(strike, doublings)
    if ability == "telepathy" and company.hits_ally:
        return True
    flag = _STOPS_FLAG.get(ability)
    return flag is not None and flag in strike.flags


def broken_first(strike: Strike, foe: Foe) -> bool:
    """Return whether the first hit breaks a Disguise or an Ice Face instead of dealing its damage."""
    species = foe.fighter.species
    if foe.ability == "disguise":
        return species in ("mimikyu", "mimikyutotem")
    return foe.ability == "iceface" and strike.physical and species == "eiscue"


def _wonder_guard(strike: Strike, doublings: int) -> bool:
    if strike.id == "struggle" or (strike.gen == 4 and strike.id == "firefang"):
        return False
    if strike.gen <= 4 and strike.kind == _NO_TYPE:
        return False
    return doublings <= 0


def fails(strike: Strike, foe: Foe) -> bool:
    """Return whether a move fails because a condition of its own is not met."""
    move, user, target = strike.id, strike.user, foe.fighter
    if strike.rooms and "gravity" in strike.rooms and "gravity" in strike.flags:
        return True
    if move not in _CONDITIONAL:
        return False
    if move == "dreameater":
        return target.status != "slp" and foe.ability != "comatose"
    if move in _FIRST_TURN:
        return not user.first_turn
    if move == "synchronoise" and strike.gen >= 5:
        return not set(user.types) & set(target.types)
    if move in NEEDS_TYPE:
        return NEEDS_TYPE[move] not in user.types
    if move in _NEEDS_SPECIES:
        return base_species(strike.gen, user.species) != _NEEDS_SPECIES[move] != user.species
    if move == "feint" and strike.gen == 4:
        return "protect" not in target.effects
    if move == "steelroller":
        return not strike.terrain
    if move == "poltergeist":
        return not target.item
    if move == "snore":
        return user.status != "slp" and strike.ability != "comatose"
    if move == "skydrop":
        heavy = strike.gen >= 6 and weight(target, foe.ability, foe.item) >= 2000
        return heavy or "FLYING" in target.types
    return False
