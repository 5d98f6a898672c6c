"""What a Pokémon's set comes to in the engine's words: points behind its stats, types of its species, HP behind percent."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from poke_env.data import GenData

from agents.engine.gen9.teams import DATA, NUMBERS, TYPES
from agents.mechanics.spreads import stat_points
from agents.search.exact.gen9.tracked import TrackedPokemon


def type_number(name: str) -> int:
    """The engine's number of a type."""
    return TYPES.index(name) if name != "???" else len(TYPES)


def two_types(names: Sequence[str]) -> list[int]:
    """The numbers of one type or two as the engine's two words; -1: none."""
    return [*(type_number(name) for name in names), -1][:2]


def hp_of(known: TrackedPokemon, mon: Any) -> int:
    """The HP of a Pokémon of which percent are shown."""
    most = int(mon["maxhp"])
    if not known.hp:
        return 0
    hp = most if known.hp >= known.max_hp else max(1, (2 * known.hp - 1) * most // (2 * known.max_hp))
    if known.regenerating and mon["setAbility"] == NUMBERS["abilities"]["regenerator"]:
        hp = min(most, hp + most // 3)
    return hp


def base_pp(most: int) -> int:
    """A move's PP without PP Ups."""
    return most * 5 // 8 if most > 1 else 1


@cache
def species_types(species: int) -> list[int]:
    """Both types of a species by its number; -1: none."""
    names = GenData.from_gen(9).pokedex[DATA["species"][species]["id"]]["types"]
    return two_types([name.capitalize() for name in names])


def points_of(base: Sequence[int], level: int, stats: Sequence[int]) -> tuple[list[int], int, int]:
    """IV + EV / 4 of each stat from HP on, and the stats that a nature raises and lowers (-1: none), behind stats."""
    points, plus, minus = [0] * 6, -1, -1
    points[0] = max(0, -((level + 10 - stats[0]) * 100 // level) - 2 * base[0])
    while (2 * base[0] + points[0]) * level // 100 + level + 10 > stats[0] and points[0]:
        points[0] -= 1
    for k in range(1, 6):
        points[k] = stat_points(base[k], level, stats[k], 100)
        if points[k] >= 0:
            continue
        raised, lowered = (stat_points(base[k], level, stats[k], percent) for percent in (110, 90))
        if raised >= 0:
            points[k], plus = raised, k - 1
        else:
            points[k], minus = max(0, lowered), k - 1
    return points, plus, minus
