"""The damage formulas of generations 1 and 2, with their rounding. Source: Showdown's `getDamage` of the two."""

from __future__ import annotations

from agents.mechanics.fighters import Fighter
from agents.mechanics.held_items import TYPE_ITEMS_OF_2
from agents.mechanics.move_powers import Foe
from agents.mechanics.rounding import boosted
from agents.mechanics.strikes import Strike
from agents.mechanics.type_chart import steps
from teamsets.builder.published import STATS

#: What the glitched Present of generation 2 takes for the level and the defence, by the Pokémon's last types.
_PRESENT = {
    "FIGHTING": 1, "FLYING": 2, "POISON": 3, "GROUND": 4, "ROCK": 5, "BUG": 7, "GHOST": 8, "STEEL": 9, "FIRE": 20,
    "WATER": 21, "GRASS": 22, "ELECTRIC": 23, "PSYCHIC": 24, "ICE": 25, "DRAGON": 26, "DARK": 27,
}  # fmt: skip
#: Moves that neither vary nor deal critical hits in generation 2.
STEADY = frozenset({"flail", "reversal"})


def _stat(fighter: Fighter, name: str, plain: bool, burns: bool) -> int:
    """Return a stat after boosts and a burn. plain: without boosts; burns: with a burn's loss."""
    value, gen = fighter.stats[STATS.index(name)], fighter.gen
    if not plain:
        value = boosted(value, fighter.stage(name), gen, uncapped=gen == 2)
    if burns and name == "atk" and fighter.status == "brn":
        value = max(1, value // 2)
    return min(value, 999)


def _of_item(fighter: Fighter, name: str, value: int) -> int:
    """Return a stat of generation 2 after the items of single species."""
    item, species = fighter.item, fighter.species
    if (item == "thickclub" and name == "atk" and species in ("cubone", "marowak")) or (
        item == "lightball" and name == "spa" and species == "pikachu"
    ):
        return value * 2
    if item == "metalpowder" and species == "ditto" and name in ("def", "spd"):
        return value * 3 // 2
    return value


def damage_1(strike: Strike, foe: Foe, power: int, critical: bool, rolls: range | tuple[int, ...]) -> list[int]:
    """Return the damage of a hit of generation 1 for each of some random factors."""
    user, target, physical, kind = strike.user, foe.fighter, strike.physical, strike.kind
    attack_name, wall_name = ("atk", "def") if physical else ("spa", "spd")
    level = user.level
    attack = _stat(user, attack_name, critical, not critical)
    wall = _stat(target, wall_name, critical, False)
    screen = "reflect" if physical else "lightscreen"
    if critical:
        level *= 2
    elif screen in foe.screens or screen in target.effects:
        wall *= 2
    level &= 255
    attack, wall = _shrunk(attack, wall)
    if strike.move.explodes:
        wall = max(1, wall // 2)
    value = min(997, (level * 2 // 5 + 2) * power * attack // wall // 50) + 2
    if kind in user.types:
        value += value // 2
    for own in target.types:
        step = steps(1, kind, own)
        value = value * 2 if step > 0 else value // 2 if step < 0 else value
    if value <= 1:
        return [value for _ in rolls]
    return [value * roll // 255 for roll in rolls]


def damage_2(
    strike: Strike, foe: Foe, power: int, doublings: int, critical: bool, rolls: range | tuple[int, ...]
) -> list[int]:
    """Return the damage of a hit of generation 2 for each of some random factors. doublings: by type."""
    user, target, physical, move = strike.user, foe.fighter, strike.physical, strike.id
    attack_name, wall_name = ("atk", "def") if physical else ("spa", "spd")
    plain = critical and user.stage(attack_name) <= target.stage(wall_name)
    attack = _of_item(user, attack_name, _stat(user, attack_name, plain, not plain))
    wall = _stat(target, wall_name, plain, False)
    if not plain and ("reflect" if physical else "lightscreen") in foe.screens:
        wall *= 2
    wall = _of_item(target, wall_name, wall)
    level = user.level
    if move == "present":
        attack, wall, level = 10, _PRESENT.get(user.types[-1], 1), _PRESENT.get(target.types[-1], 1)
    attack, wall = _shrunk(attack, wall)
    if strike.move.explodes:
        wall = max(1, wall // 2)
    value = (level * 2 // 5 + 2) * power * attack // wall // 50
    if critical:
        value *= 2
    more = value * 1.1 if TYPE_ITEMS_OF_2.get(strike.item) == strike.kind else value
    if "minimize" in target.effects and "minimize" in strike.flags and more == int(more):
        more *= 2  # Showdown doubles whole numbers alone
    value = min(997, max(1, int(more))) + 2
    return _finish_2(strike, foe, value, doublings, rolls)


def _finish_2(strike: Strike, foe: Foe, value: int, doublings: int, rolls: range | tuple[int, ...]) -> list[int]:
    kind, weather, user = strike.kind, strike.weather, strike.user
    if (kind, weather) in (("WATER", "raindance"), ("FIRE", "sunnyday")):
        value = value * 3 // 2
    elif (weather == "raindance" and (kind == "FIRE" or strike.id == "solarbeam")) or (
        weather == "sunnyday" and kind == "WATER"
    ):
        value //= 2
    if kind in user.types:
        value += value // 2
    doublings = max(-2, min(2, doublings))
    value = value << doublings if doublings >= 0 else value >> -doublings
    if strike.id in STEADY or value <= 1:
        return [max(1, value) for _ in rolls]
    return [max(1, value * roll // 255) for roll in rolls]


def _shrunk(attack: int, wall: int) -> tuple[int, int]:
    """Return both stats as bytes: a quarter of each if one is above 255."""
    if attack < 256 and wall < 256:
        return attack, wall
    return max(1, attack // 4 & 255), max(1, wall // 4 & 255)
