"""The base power of moves whose power varies, before abilities, items and the field change it.

Source: Showdown's `basePowerCallback` of each move.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agents.mechanics.fighters import Conditions, Fighter
from agents.mechanics.grounding import grounded
from agents.mechanics.modifiers import speed
from agents.mechanics.strikes import Strike

_FLAIL = ((2, 200), (5, 150), (10, 100), (17, 80), (33, 40))
_FLAIL_OF_4 = ((2, 200), (6, 150), (13, 100), (22, 80), (43, 40))
_WEIGHTS = ((2000, 120), (1000, 100), (500, 80), (250, 60), (100, 40))
_SPEED_RATIOS = (40, 60, 80, 120, 150)


def own_power(strike: Strike) -> int:
    """Return the power of a move that does not depend on its target."""
    power, move, user = int(strike.move.power), strike.id, strike.user
    if move in ("eruption", "waterspout", "dragonenergy"):
        return max(1, power * strike.hp // user.stats[0])
    if move in ("flail", "reversal"):
        parts, table = (64, _FLAIL_OF_4) if strike.gen == 4 else (48, _FLAIL)
        share = max(1, strike.hp * parts // user.stats[0])
        return next((value for below, value in table if share < below), 20)
    if move in ("storedpower", "powertrip"):
        return power + 20 * sum(stage for _, stage in user.boosts if stage > 0)
    if move == "acrobatics":
        return power if user.item and strike.item not in ("flyinggem",) else power * 2
    if move == "weatherball":
        weather = strike.weather if strike.gen == 3 else strike.own_weather
        return power * 2 if weather and weather != "deltastream" else power
    if move == "terrainpulse":
        return power * 2 if strike.terrain and strike.grounded else power
    if move == "terablast" and user.terastallized and user.tera == "STELLAR":
        return 100
    if move == "watershuriken" and user.species == "greninjaash" and strike.ability == "battlebond":
        return power + 5
    if move == "spitup":
        return 100 * next((n for n in (1, 2, 3) if f"stockpile{n}" in user.effects), 0)
    if move in ("rollout", "iceball") and "defensecurl" in user.effects:
        return power * 2
    return power


def weight(fighter: Fighter, ability: str, item: str) -> int:
    """Return a Pokémon's weight in hectograms, after its ability and item."""
    value = round(fighter.weight * 10)
    if ability == "heavymetal":
        value *= 2
    elif ability == "lightmetal":
        value //= 2
    return max(1, value // 2 if item == "floatstone" else value)


class Foe:
    """A move's target: the fighter, its side, and its ability and item unless something switches them off."""

    __slots__ = ("ability", "fighter", "grounded", "hp", "item", "screens", "weather")

    def __init__(
        self, fighter: Fighter, ability: str, item: str, weather: str, field: Conditions, screens: Mapping[str, int]
    ) -> None:
        self.fighter, self.ability, self.item, self.screens = fighter, ability, item, screens
        self.weather = weather
        self.grounded = grounded(fighter, ability, item, field.rooms)
        self.hp = max(1, int(fighter.hp * fighter.stats[0] + 0.5))


def _by_weight(strike: Strike, foe: Foe) -> int:
    if strike.gen <= 2:
        return int(strike.move.power)
    value = weight(foe.fighter, foe.ability, foe.item)
    return next((power for least, power in _WEIGHTS if value >= least), 20)


def _by_weights(strike: Strike, foe: Foe) -> int:
    own, other = weight(strike.user, strike.ability, strike.item), weight(foe.fighter, foe.ability, foe.item)
    return next((power for times, power in ((5, 120), (4, 100), (3, 80), (2, 60)) if own >= other * times), 40)


def speeds(strike: Strike, foe: Foe) -> tuple[int, int]:
    """Return the speeds of the user and of the target."""
    own = speed(strike.user, strike.field, strike.side, strike.ability, strike.item)
    return own, speed(foe.fighter, strike.field, foe.screens, foe.ability, foe.item)


def _gyro_ball(strike: Strike, foe: Foe) -> int:
    own, other = speeds(strike, foe)
    if not own:
        return 1 if strike.gen >= 7 else min(150, 25 * other + 1)
    return min(150, 25 * other // own + 1)


def _electro_ball(strike: Strike, foe: Foe) -> int:
    own, other = speeds(strike, foe)
    ratio = own // other if other else 0 if strike.gen >= 7 else own
    return _SPEED_RATIOS[min(4, ratio)]


def _by_hp_left(most: int) -> Callable[[Strike, Foe], int]:
    def power(strike: Strike, foe: Foe) -> int:
        full = foe.fighter.stats[0]
        if strike.gen == 4:
            return most * foe.hp // full + 1
        return ((most * 100 * (foe.hp * 4096 // full) + 2047) // 4096) // 100 or 1

    return power


def _doubled_if(condition: Callable[[Strike, Foe], bool]) -> Callable[[Strike, Foe], int]:
    def power(strike: Strike, foe: Foe) -> int:
        return int(strike.move.power) * (2 if condition(strike, foe) else 1)

    return power


def _has_status(strike: Strike, foe: Foe) -> bool:
    return bool(foe.fighter.status) or foe.ability == "comatose"


def _moves_last(strike: Strike, foe: Foe) -> bool:
    return not moves_first(strike, foe)


def moves_first(strike: Strike, foe: Foe) -> bool:
    """Return whether the user is faster than the target, as far as their speeds tell. An estimate: see docs/damage.md."""
    own, other = speeds(strike, foe)
    return own < other if strike.field.trick_room else own > other


def _punishment(strike: Strike, foe: Foe) -> int:
    return min(200, 60 + 20 * sum(stage for _, stage in foe.fighter.boosts if stage > 0))


def _sleeps(strike: Strike, foe: Foe) -> bool:
    return foe.fighter.status == "slp" or foe.ability == "comatose"


#: Moves whose power depends on the target.
POWER_BY_TARGET: dict[str, Callable[[Strike, Foe], int]] = {
    "lowkick": _by_weight,
    "grassknot": _by_weight,
    "heavyslam": _by_weights,
    "heatcrash": _by_weights,
    "gyroball": _gyro_ball,
    "electroball": _electro_ball,
    "wringout": _by_hp_left(120),
    "crushgrip": _by_hp_left(120),
    "hardpress": _by_hp_left(100),
    "hex": _doubled_if(_has_status),
    "infernalparade": _doubled_if(_has_status),
    "wakeupslap": _doubled_if(_sleeps),
    "smellingsalts": _doubled_if(lambda strike, foe: foe.fighter.status == "par"),
    "payback": _doubled_if(_moves_last),
    "boltbeak": _doubled_if(moves_first),
    "fishiousrend": _doubled_if(moves_first),
    "risingvoltage": _doubled_if(lambda strike, foe: strike.terrain == "electricterrain" and foe.grounded),
    "punishment": _punishment,
}
