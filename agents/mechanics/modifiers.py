"""The speed of a fighter, after everything that changes it."""

from __future__ import annotations

from collections.abc import Mapping

from agents.mechanics.fighters import Conditions, Fighter
from agents.mechanics.held_items import MACHO_ITEMS, active_item
from agents.mechanics.rounding import boosted, chain, modify

_SPEED_WEATHER = {
    "swiftswim": ("raindance", "primordialsea"),
    "chlorophyll": ("sunnyday", "desolateland"),
    "sandrush": ("sandstorm",),
    "slushrush": ("hail", "snow", "snowscape"),
}
_QUARTER, _HALF, _HALF_MORE, _DOUBLE = 1024, 2048, 6144, 8192


def speed(
    fighter: Fighter,
    field: Conditions,
    side: Mapping[str, int],
    ability: str | None = None,
    item: str | None = None,
) -> int:
    """Return the effective speed. side: conditions of its side (Tailwind). ability, item: in place of its own, where
    something switches them off."""
    gen = fighter.gen
    if gen == 1:
        value = boosted(fighter.stats[5], fighter.stage("spe"), 1)
        return max(1, value // 4) if fighter.status == "par" else value
    ability = fighter.ability if ability is None else ability
    item = active_item(fighter.item, ability, fighter.effects, field.rooms) if item is None else item
    stage = fighter.stage("spe") * (2 if ability == "simple" and gen == 4 else 1)
    value = boosted(fighter.stats[5], max(-6, min(6, stage)), gen)
    paralysed = fighter.status == "par" and ability != "quickfeet"
    if gen >= 3:
        found = _factors(fighter, field, side, ability, item)
        if paralysed and gen <= 4:  # there it is one of the factors
            found.append(_QUARTER)
        if found:
            value = modify(value, chain(found))
    if paralysed and gen not in (3, 4):
        value = value * 50 // 100 if gen >= 7 else value * 25 // 100
    return min(value, 999 if gen <= 2 else 10_000)


def _factors(fighter: Fighter, field: Conditions, side: Mapping[str, int], ability: str, item: str) -> list[int]:
    factors: list[int] = []
    if item == "choicescarf":
        factors.append(_HALF_MORE)
    elif item == "ironball" or item in MACHO_ITEMS:
        factors.append(_HALF)
    elif item == "quickpowder" and fighter.species == "ditto":
        factors.append(_DOUBLE)
    if (field.weather and field.weather in _SPEED_WEATHER.get(ability, ())) or (
        ability == "surgesurfer" and field.terrain == "electricterrain"
    ):
        factors.append(_DOUBLE)
    elif ability == "quickfeet" and fighter.status:
        factors.append(_HALF_MORE)
    elif ability == "slowstart" and "slowstart" in fighter.effects:
        factors.append(_HALF)
    if fighter.effects & {"protosynthesisspe", "quarkdrivespe"}:
        factors.append(_HALF_MORE)
    if "tailwind" in side:
        factors.append(_DOUBLE)
    return factors
