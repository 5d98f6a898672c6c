"""Moves whose damage does not come from the formula."""

from __future__ import annotations

from agents.mechanics.modifiers import speed
from agents.mechanics.move_powers import Foe
from agents.mechanics.multi_hit import bonded
from agents.mechanics.strikes import Strike


def fixed_damage(strike: Strike, foe: Foe, count: int) -> list[int]:
    """Return a move's damage in HP, `count` times; [] for none. Its target is not immune by type."""
    value = _value(strike, foe)
    if strike.move.fixed == "random":
        least, most = _random_range(strike.gen, strike.user.level)
        return [least + (most - least) * number // max(1, count - 1) for number in range(count)]
    if bonded(strike) and strike.move.fixed not in ("ohko", "hp"):
        value += _second(strike, foe, value)
    return [value] * count if value > 0 else []


def _value(strike: Strike, foe: Foe) -> int:
    kind, user = strike.move.fixed, strike.user
    if kind == "ohko":
        return _one_hit(strike, foe)
    if kind == "half":
        return max(1, foe.hp // 2)
    if kind == "hp":
        return strike.hp
    if kind == "difference":
        return max(0, foe.hp - strike.hp)
    if kind in ("unknown", "random"):
        return 0
    return user.level if kind == "level" else int(kind)


def _one_hit(strike: Strike, foe: Foe) -> int:
    user, target = strike.user, foe.fighter
    if strike.gen == 1:  # by speed, not by level
        able = speed(user, strike.field, strike.side) >= speed(target, strike.field, foe.screens)
    else:
        able = user.level >= target.level and foe.ability != "sturdy"
    if strike.id == "sheercold" and strike.gen >= 7 and "ICE" in target.types:
        able = False
    return 0 if not able else foe.hp if strike.gen == 3 else target.stats[0]


def _second(strike: Strike, foe: Foe, value: int) -> int:
    """Return the damage of Parental Bond's second hit."""
    kind = strike.move.fixed
    left = max(1, foe.hp - value)
    return max(1, left // 2) if kind == "half" else max(0, left - strike.hp) if kind == "difference" else value


def _random_range(gen: int, level: int) -> tuple[int, int]:
    """Return the least and the most damage of Psywave."""
    if gen <= 2:
        return 1, max(1, level * 3 // 2 - 1)
    return max(1, level * 50 // 100), max(1, level * 150 // 100)
