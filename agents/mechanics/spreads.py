"""The nature and the EVs behind a Pokémon's stats, as a request shows those of one's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from poke_env.data import GenData, to_id_str

from teamsets.builder.published import STATS

#: IV + EV / 4 of a stat with the best IV and no EVs; EVs of a Pokémon in all.
_BEST_IV, _ALL_EVS = 31, 510


@cache
def stat_points(base: int, level: int, stat: int, percent: int) -> int:
    """IV + EV / 4 that give a stat other than HP with a nature's percent; -1: none."""
    for points in range(95):
        if ((2 * base + points) * level // 100 + 5) * percent // 100 == stat:
            return points
    return -1


def spread_of(gen: int, entry: Mapping[str, Any]) -> tuple[str, tuple[int, ...]]:
    """Return a nature and EVs, from HP on, that give the stats of a Pokémon's entry in a request.

    Several may give them: one with IVs of 31 and at most 510 EVs is preferred, and a nature that changes nothing. Without
    any, as in generations 1 and 2 and for an unknown species: ("serious", 0 each).
    """
    name, _, rest = str(entry["details"]).partition(",")
    data = GenData.from_gen(gen)
    species = data.pokedex.get(to_id_str(name))
    if gen <= 2 or species is None:
        return "serious", (0,) * len(STATS)
    found = re.search(r"\bL(\d+)", rest)
    level = int(found[1]) if found else 100
    base = species["baseStats"]
    most_hp = int(entry["condition"].partition("/")[2].split()[0])
    hp = _hp_points(base["hp"], level, most_hp)
    spreads = []
    for nature, factors in data.natures.items():
        percents = [round(100 * factors[stat]) for stat in STATS[1:]]
        shown = zip(STATS[1:], percents, strict=True)
        points = [hp, *(stat_points(base[stat], level, entry["stats"][stat], percent) for stat, percent in shown)]
        evs = tuple(min(252, max(0, 4 * (each - _BEST_IV))) for each in points)
        unmatched, weak = sum(each < 0 for each in points[1:]), sum(each < _BEST_IV for each in points)
        spreads.append(
            ((unmatched, sum(evs) > _ALL_EVS, weak, set(percents) != {100}, nature != "serious"), nature, evs)
        )
    rank, nature, evs = min(spreads)
    return (nature, evs) if not rank[0] else ("serious", (0,) * len(STATS))


def _hp_points(base: int, level: int, most_hp: int) -> int:
    """IV + EV / 4 that give maximum HP; 31 if none do (Shedinja)."""
    fitting = (points for points in range(95) if (2 * base + points) * level // 100 + level + 10 == most_hp)
    return next(fitting, _BEST_IV)
