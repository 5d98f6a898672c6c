"""The active Pokémon by the events since it came in: HP, stats, boosts, species, types, moves, in the engine's numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.engine.gen1 import layout as W
from agents.engine.gen1.state import STAGES
from agents.engine.gen1.tables import DATA, MOVE_IDS, MOVES_BY_ID, SPECIES_TYPES
from agents.search.exact.battle_log import BattleLog
from agents.search.exact.tracked_sides import ActiveState, Event, TrackedPokemon

_TYPES = {name.lower(): number for number, name in enumerate(DATA["types"])}
Words = NDArray[np.int32]


def side_at(i: int) -> int:
    """The offset of a seat's side."""
    return W.SIDES + i * W.SIDE_WORDS


def mon_at(row: Words, i: int) -> int:
    s = side_at(i)
    return s + W.MONS + int(row[s + W.ORDER]) * W.MON_WORDS


def id_of(number: int) -> str:
    return MOVE_IDS[number]


def hp_of(row: Words, log: BattleLog, i: int, name: str, names: list[list[str]], amount: float) -> int:
    """HP of an amount that the log shows of a Pokémon: HP, or percent of them."""
    if not name:
        return 0
    most = int(row[side_at(i) + W.MONS + names[i].index(name) * W.MON_WORDS + W.MON_MAX_HP])
    return round(amount * most / log.sides[i].mons[name].most)


def shown_hp(known: TrackedPokemon, most: int) -> int:
    """The middle of the HP that are shown as this percentage (Showdown rounds up)."""
    if known.hp >= known.most:
        return most
    return 0 if known.hp == 0 else max(1, int((known.hp - 0.5) * most / known.most))


def stats_of(
    row: Words, team: int, k: int, active: ActiveState, names: list[list[str]]
) -> tuple[list[int], list[int], list[int]]:
    """Stored and modified stats and boosts after the events since it came in (state.clear_volatile, boost_stat)."""
    mon = side_at(team) + W.MONS + k * W.MON_WORDS
    stored = [int(x) for x in row[mon + W.MON_STATS : mon + W.MON_STATS + 5]]
    modified, boosts = stored.copy(), [0] * 7
    _ill(modified, active.entered)
    for event in active.events:
        stored, modified, boosts = _after(event, stored, modified, boosts, row, team, names)
    return stored, modified, boosts


def _after(
    event: Event,
    stored: list[int],
    modified: list[int],
    boosts: list[int],
    row: Words,
    team: int,
    names: list[list[str]],
) -> tuple[list[int], list[int], list[int]]:
    kind = event[0]
    if kind == "ill":
        _ill(modified, event[1])
    elif kind == "haze":
        return stored, stored.copy(), [0] * 7
    elif kind == "transform":
        return stats_of(row, 1 - team, names[1 - team].index(event[1]), event[2], names)
    else:
        stat, by = event[1], event[2]
        boosts[stat] = min(6, max(-6, boosts[stat] + by))
        if kind == "boost" and stat < 5:
            modified[stat] = max(1, int(stored[stat] * float(STAGES[boosts[stat] + 6])))
            if by > 0:
                modified[stat] = min(999, modified[stat])
    return stored, modified, boosts


def _ill(modified: list[int], status: int) -> None:
    if status == W.PARALYSIS:
        modified[4] = max(1, int(modified[4] * 0.25))
    elif status == W.BURN:
        modified[0] = max(1, int(modified[0] * 0.5))


def species_types_moves(
    row: Words, team: int, k: int, active: ActiveState, names: list[list[str]]
) -> tuple[int, list[int], list[int]]:
    """Species, types and moves of a Pokémon that is out, after Transform, Conversion and Mimic."""
    mon = side_at(team) + W.MONS + k * W.MON_WORDS
    if active.transformed is not None:
        name, target = active.transformed
        species, types, moves = species_types_moves(row, 1 - team, names[1 - team].index(name), target, names)
    else:
        species = int(row[mon + W.MON_SPECIES])
        types = [int(x) for x in SPECIES_TYPES[species]]
        moves = [int(x) for x in row[mon + W.MON_MOVES : mon + W.MON_MOVES + int(row[mon + W.MON_MOVE_COUNT])]]
    for slot, copied in active.mimicked.items():
        number = MOVES_BY_ID[slot]["num"] if slot in MOVES_BY_ID else 0
        if number in moves:
            moves[moves.index(number)] = MOVES_BY_ID[copied]["num"]
    if active.types:
        types = [*(_TYPES[name] for name in active.types if name in _TYPES), -1][:2]
    return species, types, moves
