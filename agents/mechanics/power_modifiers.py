"""What changes a move's power: abilities, items and the field, as chains of factors in Showdown's order.

Each rule returns a factor in units of 1/4096, or 0 if it does not apply; its priority says when its turn in the chain is.
Source: the handlers of Showdown's event `BasePower`, by generation.
"""

from __future__ import annotations

from collections.abc import Callable

from agents.mechanics.held_items import GEMS, MASKS, SPECIES_ITEMS, TYPE_ITEMS, number_of, tied
from agents.mechanics.move_powers import Foe, moves_first
from agents.mechanics.rounding import Modifier, modify, ordered
from agents.mechanics.strikes import RAIN, SNOW, Strike

_HALF, _FIFTH_MORE, _THREE_TENTHS_MORE, _HALF_MORE, _DOUBLE = 2048, 4915, 5325, 6144, 8192
_PINCH = {"blaze": "FIRE", "torrent": "WATER", "overgrow": "GRASS", "swarm": "BUG"}
_TERRAINS = {"electricterrain": "ELECTRIC", "grassyterrain": "GRASS", "psychicterrain": "PSYCHIC"}
_SHAKEN = frozenset({"earthquake", "bulldoze", "magnitude"})
_FALLEN = (4096, 4506, 4915, 5325, 5734, 6144)
_WEAK_SOLAR = RAIN | SNOW | {"sandstorm", "hail"}


def _flag(name: str, factor: int) -> Callable[[Strike], int]:
    return lambda strike: factor if name in strike.flags else 0


def _retyped(strike: Strike) -> int:
    return 0 if not strike.retyped else _FIFTH_MORE if strike.gen >= 7 else _THREE_TENTHS_MORE


def _sand_force(strike: Strike) -> int:
    helped = strike.weather == "sandstorm" and strike.kind in ("ROCK", "GROUND", "STEEL")
    return _THREE_TENTHS_MORE if helped else 0


def _supreme_overlord(strike: Strike) -> int:
    return next((_FALLEN[n] for n in range(1, 6) if f"fallen{n}" in strike.user.effects), 0)


def _reckless(strike: Strike) -> int:
    move = strike.move
    return _FIFTH_MORE if (move.recoil and move.id != "struggle") or move.crashes else 0


def _boosted_by(status: tuple[str, ...], physical: bool) -> Callable[[Strike], int]:
    return lambda strike: _HALF_MORE if strike.user.status in status and strike.physical == physical else 0


#: Abilities of the user -> (priority, rule).
_ABILITIES: dict[str, tuple[int, Callable[[Strike], int]]] = {
    **dict.fromkeys(("aerilate", "galvanize", "pixilate", "refrigerate", "dragonize", "normalize"), (23, _retyped)),
    "flareboost": (19, _boosted_by(("brn",), False)),
    "toxicboost": (19, _boosted_by(("psn", "tox"), True)),
    "ironfist": (23, _flag("punch", _FIFTH_MORE)),
    "megalauncher": (19, _flag("pulse", _HALF_MORE)),
    "punkrock": (7, _flag("sound", _THREE_TENTHS_MORE)),
    "reckless": (23, _reckless),
    "sandforce": (21, _sand_force),
    "sharpness": (19, _flag("slicing", _HALF_MORE)),
    "sheerforce": (21, lambda strike: _THREE_TENTHS_MORE if strike.move.sheer_force else 0),
    "steelyspirit": (22, lambda strike: _HALF_MORE if strike.kind == "STEEL" else 0),
    "strongjaw": (19, _flag("bite", _HALF_MORE)),
    "supremeoverlord": (21, _supreme_overlord),
    "toughclaws": (21, _flag("contact", _THREE_TENTHS_MORE)),
}


def _facade(strike: Strike) -> int:
    return _DOUBLE if strike.user.status not in ("", "slp") else 0


def _solar(strike: Strike) -> int:
    return _HALF if strike.gen >= 3 and strike.own_weather in _WEAK_SOLAR else 0


#: Moves with a rule of their own, which comes last.
_MOVES: dict[str, Callable[[Strike], int]] = {
    "facade": _facade,
    "solarbeam": _solar,
    "solarblade": _solar,
    "expandingforce": lambda strike: _HALF_MORE if strike.terrain == "psychicterrain" and strike.grounded else 0,
    "mistyexplosion": lambda strike: _HALF_MORE if strike.terrain == "mistyterrain" and strike.grounded else 0,
    "psyblade": lambda strike: _HALF_MORE if strike.terrain == "electricterrain" else 0,
    "gravapple": lambda strike: _HALF_MORE if "gravity" in strike.rooms else 0,
}


def own_modifiers(strike: Strike) -> list[Modifier]:
    """Return the modifiers of a move's power that do not depend on its target."""
    modifiers: list[Modifier] = []
    gen, kind, user = strike.gen, strike.kind, strike.user
    rule = _ABILITIES.get(strike.ability)
    if rule is not None and (factor := rule[1](strike)):
        modifiers.append((rule[0], factor))
    if strike.company.ally and (factor := _of_ally(strike)):
        modifiers.append((22, factor))
    if gen <= 4 and _PINCH.get(strike.ability) == kind and strike.hp * 3 <= user.stats[0]:
        modifiers.append((2, _HALF_MORE))
    if strike.item and gen >= 4:
        modifiers += _of_item(strike)
    if user.effects:
        if "charge" in user.effects and kind == "ELECTRIC":
            modifiers.append((9, _DOUBLE))
        if "helpinghand" in user.effects:
            modifiers.append((10, _HALF_MORE))
    if strike.terrain and strike.grounded and _TERRAINS.get(strike.terrain) == kind:
        modifiers.append((6, _THREE_TENTHS_MORE if gen >= 8 else _HALF_MORE))
    own_rule = _MOVES.get(strike.id)
    if own_rule is not None and (factor := own_rule(strike)):
        modifiers.append((0, factor))
    return modifiers


def _of_ally(strike: Strike) -> int:
    """Return the factor of the ability of who stands beside the user."""
    ally = strike.company.ally
    if ally == "powerspot" or (ally == "battery" and not strike.physical):
        return _THREE_TENTHS_MORE
    return _HALF_MORE if ally == "steelyspirit" and strike.kind == "STEEL" else 0


def _of_item(strike: Strike) -> list[Modifier]:
    item, gen, kind, user = strike.item, strike.gen, strike.kind, strike.user
    if TYPE_ITEMS.get(item) == kind:
        return [(15, _FIFTH_MORE)]
    if GEMS.get(item) == kind and not strike.id.endswith("pledge"):
        return [(14, _THREE_TENTHS_MORE)] if gen >= 6 else [(0, _HALF_MORE)]
    if item == ("muscleband" if strike.physical else "wiseglasses"):
        return [(16, 4505)]
    if item == "punchingglove" and "punch" in strike.flags:
        return [(23, 4506)]
    if item in SPECIES_ITEMS:
        number, kinds = SPECIES_ITEMS[item]
        return [(15, _FIFTH_MORE)] if kind in kinds and number_of(gen, user.species) == number else []
    if item in MASKS:
        return [(15, _FIFTH_MORE)] if user.species.startswith(MASKS[item]) else []
    if item == "souldew" and gen >= 7 and kind in ("PSYCHIC", "DRAGON") and number_of(gen, user.species) in (380, 381):
        return [(15, _FIFTH_MORE)]
    if item == "lightball" and gen == 4 and user.species == "pikachu":
        return [(0, _DOUBLE)]
    return []


_BY_TARGET = frozenset({"venoshock", "barbbarrage", "brine", "collisioncourse", "electrodrift", "knockoff"})


def _of_move(strike: Strike, foe: Foe, type_steps: int) -> int:
    move, target = strike.id, foe.fighter
    if move in ("venoshock", "barbbarrage"):
        return _DOUBLE if target.status in ("psn", "tox") else 0
    if move == "brine":
        return _DOUBLE if foe.hp * 2 <= target.stats[0] else 0
    if move in ("collisioncourse", "electrodrift"):
        return 5461 if type_steps > 0 else 0
    if move == "knockoff" and strike.gen >= 6:
        return _HALF_MORE if target.item and not tied(strike.gen, target.species, target.item) else 0
    return 0


def _terrain_weakens(strike: Strike) -> bool:
    if strike.terrain == "mistyterrain":
        return strike.kind == "DRAGON"
    return strike.terrain == "grassyterrain" and strike.id in _SHAKEN


def target_modifiers(strike: Strike, foe: Foe, type_steps: int) -> list[Modifier]:
    """Return the modifiers of a move's power that depend on its target. type_steps: doublings by type."""
    modifiers: list[Modifier] = []
    kind, gen, target, ability = strike.kind, strike.gen, foe.fighter, foe.ability
    if strike.ability == "analytic" and not moves_first(strike, foe):
        modifiers.append((21, _THREE_TENTHS_MORE))
    elif strike.ability == "rivalry" and strike.user.gender and target.gender:
        modifiers.append((24, 5120 if strike.user.gender == target.gender else 3072))
    if ability == "dryskin" and kind == "FIRE":
        modifiers.append((17, 5120))
    elif ability == "heatproof" and kind == "FIRE" and gen <= 8:
        modifiers.append((18, _HALF))
    elif ability == "thickfat" and kind in ("FIRE", "ICE") and gen <= 4:
        modifiers.append((1, _HALF))
    aura = "darkaura" if kind == "DARK" else "fairyaura" if kind == "FAIRY" else ""
    if aura and (aura in (strike.ability, ability) or aura in strike.company.rest):
        broken = "aurabreak" in (strike.ability, ability) or "aurabreak" in strike.company.rest
        modifiers.append((20, 3072 if broken else 5448))
    if strike.terrain and foe.grounded and _terrain_weakens(strike):
        modifiers.append((6, _HALF))
    sport = "mudsport" if kind == "ELECTRIC" else "watersport" if kind == "FIRE" else ""
    if sport:  # before generation 6 each Pokémon's own
        sports = (sport in strike.rooms) + (sport in strike.user.effects) + (sport in target.effects)
        modifiers += [(1, 1352) if gen >= 5 else (3, _HALF)] * sports
    if strike.id in _BY_TARGET and (factor := _of_move(strike, foe, type_steps)):
        modifiers.append((0, factor))
    return modifiers


def modified_power(strike: Strike, power: int, own: list[Modifier], other: list[Modifier]) -> int:
    """Return a power after its modifiers, at least 1. own: see `own_modifiers`; other: `target_modifiers`."""
    if strike.ability == "technician":
        own = _with_technician(strike, power, own, other)
    if own or other:
        power = max(1, modify(power, ordered(own, other)))
    user = strike.user
    if power < 60 and user.terastallized and _raised_by_tera(strike):
        return 60
    return power


def _with_technician(strike: Strike, power: int, own: list[Modifier], other: list[Modifier]) -> list[Modifier]:
    """Return the own modifiers with Technician's, which looks at the power after those that come before it."""
    priority = 30 if strike.gen >= 8 else 19
    before = [modifier for modifier in own if modifier[0] > priority]
    later = [modifier for modifier in other if modifier[0] > priority]
    if modify(power, ordered(before, later)) > 60:
        return own
    return [*own, (priority, _HALF_MORE)]


def _raised_by_tera(strike: Strike) -> bool:
    move, user = strike.move, strike.user
    kind_fits = user.tera == "STELLAR" or strike.kind in user.types
    return kind_fits and move.priority <= 0 and move.most_hits == 1 and not move.varies
