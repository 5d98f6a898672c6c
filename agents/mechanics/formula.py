"""The damage formula of each generation, with its rounding. Source: Showdown's `getDamage` and `modifyDamage`."""

from __future__ import annotations

from dataclasses import dataclass

from agents.mechanics.rounding import ONE, modify

#: The lowest and the highest random factor: of 255 in generations 1 and 2, of 100 in the later ones.
OLD_ROLLS = range(217, 256)
ROLLS = range(85, 101)
_HALF = 2048


def rolls_of(gen: int) -> range:
    """Return the random factors of a generation, all equally likely."""
    return OLD_ROLLS if gen <= 2 else ROLLS


@dataclass(slots=True)
class Blow:
    """One hit's inputs of the formula, in units of 1/4096 where they are factors.

    same_type: the bonus. doublings: by type. first, second: factors before and after a critical hit, in generations 3
    and 4 (screens and Flash Fire; Life Orb in tenths). shrunk: factor of Parental Bond's second hit. spread: of a move that
    hits several.
    """

    level: int
    power: int
    attack: int
    defense: int
    same_type: int = ONE
    doublings: int = 0
    weather: int = ONE
    critical: bool = False
    burnt: bool = False
    first: int = ONE
    life_orb: bool = False
    final: int = ONE
    shrunk: int = ONE
    physical: bool = True
    spread: int = ONE


def _doubled(value: int, doublings: int) -> int:
    return value << doublings if doublings >= 0 else value >> -doublings


def _base(blow: Blow) -> int:
    return (2 * blow.level // 5 + 2) * blow.power * blow.attack // blow.defense // 50


def _before_roll(blow: Blow, gen: int) -> int:
    """Return the damage of generation 5 and later before the random factor."""
    value = _base(blow) + 2
    if blow.spread != ONE:
        value = modify(value, blow.spread)
    elif blow.shrunk != ONE:
        value = modify(value, blow.shrunk)
    if blow.weather != ONE:
        value = modify(value, blow.weather)
    if blow.critical:
        value = value * 3 // 2 if gen >= 6 else value * 2
    return value


def _finish(blow: Blow, value: int, roll: int, gen: int) -> int:
    """Return the damage of a random factor in generation 5 and later."""
    value = value * roll // 100
    if blow.same_type != ONE:
        value = modify(value, blow.same_type)
    value = _doubled(value, blow.doublings)
    if blow.burnt:
        value = modify(value, _HALF)
    if gen == 5 and not value:
        value = 1
    if blow.final != ONE:
        value = modify(value, blow.final)
    return (value or (gen != 5)) & 0xFFFF


def _before_roll_3_4(blow: Blow, gen: int) -> int:
    """Return the damage of generations 3 and 4 before the same-type bonus (and in generation 4 the random factor)."""
    value = _base(blow)
    if blow.burnt:
        value = modify(value, _HALF)
    if blow.first != ONE:
        value = modify(value, blow.first)
    if blow.spread != ONE:
        value = modify(value, blow.spread)
    if blow.weather != ONE:
        value = modify(value, blow.weather)
    if gen == 3 and blow.physical and not value:
        value = 1
    value += 2
    if blow.critical:
        value *= 2
    return value * 13 // 10 if blow.life_orb else value


def _finish_3_4(blow: Blow, value: int, roll: int, gen: int) -> int:
    """Return the damage of a random factor in generations 3 (which rolls last) and 4."""
    if gen == 4:
        value = value * roll // 100
    if blow.same_type != ONE:
        value = modify(value, blow.same_type)
    value = _doubled(value, blow.doublings)
    if blow.final != ONE:
        value = modify(value, blow.final)
    if gen == 3:
        value = value * roll // 100
    return value or 1


def damage_of(blow: Blow, gen: int, rolls: range | tuple[int, ...]) -> list[int]:
    """Return the damage of one hit in generation 3 or later for each of some random factors."""
    if gen >= 5:
        value = _before_roll(blow, gen)
        return [_finish(blow, value, roll, gen) for roll in rolls]
    value = _before_roll_3_4(blow, gen)
    return [_finish_3_4(blow, value, roll, gen) for roll in rolls]
