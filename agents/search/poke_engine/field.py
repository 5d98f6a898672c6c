"""Weather, terrain, Trick Room and side conditions in poke-engine's representation."""

from __future__ import annotations

from poke_env.battle.field import Field
from poke_env.battle.side_condition import STACKABLE_CONDITIONS

from agents.battle import SeatBattle
from agents.search.poke_engine.layout import CONDITIONS

_WEATHER = {
    "RAINDANCE": "rain", "SUNNYDAY": "sun", "SANDSTORM": "sand", "HAIL": "hail", "SNOWSCAPE": "snow",
    "DESOLATELAND": "harshsun", "PRIMORDIALSEA": "heavyrain",
}  # fmt: skip
_ENDLESS = frozenset({"harshsun", "heavyrain"})
_USUAL, _EXTENDED = 5, 8
_SHORTER = {"tailwind": 4}
_FOR_GOOD = frozenset({"stealthrock", "stickyweb"})


def field_of(battle: SeatBattle, endless: bool) -> tuple[tuple[str, int], tuple[str, int], int]:
    """Return weather and terrain, each as (name, turns left, -1: permanent), and the turns left of Trick Room (0: none)."""
    weather, terrain, room = ("none", 0), ("none", 0), 0
    for kind, began in battle.weather.items():
        name = _WEATHER.get(kind.name)
        if name is not None:
            weather = (name, -1 if endless or name in _ENDLESS else _turns_left(battle, began, _USUAL))
    for field, began in battle.fields.items():
        if field.is_terrain:
            terrain = (field.name.replace("_", "").lower(), _turns_left(battle, began, _USUAL))
        elif field == Field.TRICK_ROOM:
            room = _turns_left(battle, began, _USUAL)
    return weather, terrain, room


def side_conditions(battle: SeatBattle, own: bool) -> dict[str, int]:
    """Return a side's conditions: layers of stackable ones, 1 for permanent ones, turns left of temporary ones."""
    conditions: dict[str, int] = {}
    for condition, value in (battle.side_conditions if own else battle.opponent_side_conditions).items():
        name = condition.name.replace("_", "").lower()
        if name not in CONDITIONS:
            continue
        if condition in STACKABLE_CONDITIONS:
            conditions[name] = value
        elif name in _FOR_GOOD:
            conditions[name] = 1
        else:
            conditions[name] = _turns_left(battle, value, _SHORTER.get(name, _USUAL))
    return conditions


def _turns_left(battle: SeatBattle, began: int, length: int) -> int:
    """Return the turns left of a condition. One that has exceeded its usual length was extended by an item."""
    elapsed = battle.turn - began
    return max(1, (length if elapsed < length else _EXTENDED) - elapsed)
