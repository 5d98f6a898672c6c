"""What changes the damage itself: the same-type bonus, weather, screens, abilities and items, as factors in units of 1/4096.

Source: the handlers of Showdown's events `ModifySTAB`, `WeatherModifyDamage`, `ModifyDamage` and, in generations 3 and 4,
`ModifyDamagePhase1` and `ModifyDamagePhase2`.
"""

from __future__ import annotations

from agents.mechanics.held_items import BERRIES
from agents.mechanics.move_powers import Foe
from agents.mechanics.rounding import ONE
from agents.mechanics.strikes import Strike

_HALF, _THREE_QUARTERS, _FIFTH_MORE, _QUARTER_MORE, _HALF_MORE, _DOUBLE = 2048, 3072, 4915, 5120, 6144, 8192
#: What screens leave in doubles, by generation.
_THIRD_LESS = {3: 2730, 4: 2730, 5: 2703}
_SCREEN_BREAKERS = frozenset({"brickbreak", "psychicfangs", "ragingbull"})
_NO_BERRIES = frozenset({"unnerve", "asoneglastrier", "asonespectrier"})


def same_type_bonus(strike: Strike) -> int:
    """Return the factor of the same-type attack bonus."""
    user, kind = strike.user, strike.kind
    if kind == "THREE_QUESTION_MARKS":
        return ONE
    own = kind in user.types or kind in user.base_types
    if user.terastallized:
        if user.tera == "STELLAR":
            return _DOUBLE if own else _FIFTH_MORE
        own = own or kind == user.tera
        factor = _DOUBLE if user.tera == kind and kind in user.base_types else _HALF_MORE if own else ONE
        if strike.ability == "adaptability" and kind in user.types:
            return 9216 if factor == _DOUBLE else _DOUBLE
        return factor
    if not own:
        return ONE
    return _DOUBLE if strike.ability == "adaptability" and kind in user.types else _HALF_MORE


def weather_factor(strike: Strike, foe: Foe) -> int:
    """Return the factor of the weather."""
    weather, kind = foe.weather, strike.kind
    if strike.ability == "megasol":
        weather = "sunnyday"
    if strike.id == "hydrosteam" and strike.own_weather == "sunnyday":
        return _HALF_MORE
    if weather == "sunnyday":
        return _HALF_MORE if kind == "FIRE" else _HALF if kind == "WATER" else ONE
    if weather == "raindance":
        return _HALF_MORE if kind == "WATER" else _HALF if kind == "FIRE" else ONE
    if weather == "desolateland":
        return _HALF_MORE if kind == "FIRE" else ONE
    if weather == "primordialsea":
        return _HALF_MORE if kind == "WATER" else ONE
    return ONE


def screen_factor(strike: Strike, foe: Foe) -> int:
    """Return the factor of Reflect, Light Screen or Aurora Veil for a hit that is not critical; 0 if none weakens it.

    They halve; in doubles they take a third, up to generation 4 only from who has an ally.
    """
    screens = foe.screens
    if strike.id in _SCREEN_BREAKERS and strike.gen >= 3:
        return 0
    if strike.ability == "infiltrator" and strike.gen >= 5:
        return 0
    if not ("auroraveil" in screens or ("reflect" if strike.physical else "lightscreen") in screens):
        return 0
    if not strike.company.doubles or (strike.gen <= 4 and not strike.company.guarded):
        return _HALF
    return _THIRD_LESS.get(strike.gen, 2732)


def own_final(strike: Strike, doublings: int, critical: bool) -> list[int]:
    """Return the factors of the final damage from the user's ability and item, which see how types change it."""
    factors: list[int] = []
    ability, item = strike.ability, strike.item
    if ability == "neuroforce":
        if doublings > 0:
            factors.append(_QUARTER_MORE)
    elif ability == "tintedlens":
        if doublings < 0:
            factors.append(_DOUBLE)
    elif ability == "sniper" and critical:
        factors.append(_HALF_MORE)
    if item == "expertbelt":
        if doublings > 0:
            factors.append(_FIFTH_MORE)
    elif item == "lifeorb" and strike.gen >= 5:
        factors.append(5324)
    return factors


def target_final(strike: Strike, foe: Foe, doublings: int, later: bool) -> list[int]:
    """Return the factors of the final damage from the target. later: of a hit after the first of its move."""
    factors: list[int] = []
    ability, kind, target = foe.ability, strike.kind, foe.fighter
    if ability:
        if ability in ("multiscale", "shadowshield"):
            if foe.hp >= target.stats[0] and not later:
                factors.append(_HALF)
        elif ability in ("filter", "solidrock", "prismarmor"):
            if doublings > 0:
                factors.append(_THREE_QUARTERS)
        elif ability == "fluffy":
            touches, burns = "contact" in strike.flags, kind == "FIRE"
            if touches != burns:
                factors.append(_HALF if touches else _DOUBLE)
        elif (ability == "punkrock" and "sound" in strike.flags) or (ability == "icescales" and not strike.physical):
            factors.append(_HALF)
    if strike.company.guard == "friendguard":
        factors.append(_THREE_QUARTERS)
    if foe.item and not later and _berry_weakens(strike, foe, doublings):
        factors += [_HALF, _HALF] if ability == "ripen" else [_HALF]
    effects = target.effects
    if effects and (("minimize" in effects and "minimize" in strike.flags) or "glaiverush" in effects):
        factors.append(_DOUBLE)
    return factors


def _berry_weakens(strike: Strike, foe: Foe, doublings: int) -> bool:
    fits = BERRIES.get(foe.item) == strike.kind and (doublings > 0 or strike.kind == "NORMAL")
    return fits and strike.ability not in _NO_BERRIES
