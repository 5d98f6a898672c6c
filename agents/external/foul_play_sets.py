"""Set data for foul-play's caches, which replaces its downloads.

On the ladder it downloads usage statistics and sets of real games. Here its files are filled from Smogon's published sets,
of which several members are sampled each, and from our competitive teams, which have as much weight as all published sets
of a species together and determine how often a species is used.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poke_env.data import GenData, to_id_str

from agents.mechanics.set_sampling import statistics
from agents.mechanics.sets import PokemonSet, full_evs
from agents.search.poke_engine.layout import move_name
from teamsets.builder.published import STATS, TIERS, Member, published_sets
from teamsets.formats import get_format

#: Members sampled from each published set, so that its alternatives occur in proportion to their probabilities.
_DRAWN = 12
_FIRST = 0.5
#: Weight of a species in one of our teams, relative to a species that only has published sets.
_TEAM = 100
#: Number of species that are listed as teammates.
_TEAMMATES = 50


@dataclass(frozen=True)
class _Set(PokemonSet[tuple[str, ...]]):
    """A complete set, with foul-play's names."""

    @property
    def text(self) -> str:
        evs = ",".join(map(str, self.evs))
        return "|".join([self.tera, self.ability, self.item, self.nature, evs, *sorted(self.moves)])


def write_sets(data: Path, format_id: str) -> None:
    """Fill the caches in `data`, foul-play's folder `fp/data`, for a format."""
    chosen = get_format(format_id)
    pokedex = json.loads((data / "pokedex.json").read_text(encoding="utf-8"))
    # foul-play fails on a forme of several others (Ultra Necrozma), which is not used.
    known_species = {name for name, entry in pokedex.items() if not isinstance(entry.get("battleOnly"), list)}
    known_moves = json.loads((data / "moves.json").read_text(encoding="utf-8")).keys()
    usable_sets: dict[str, Counter[_Set]] = {}
    tier = format_id.removeprefix(f"gen{chosen.gen}")
    for species, sets in _all_sets(format_id, chosen.gen, tier).items():
        kept = Counter({each: count for each, count in sets.items() if known_moves >= set(each.moves)})
        if species in known_species and kept:
            usable_sets[species] = kept
    cache = data / "pkmn_sets_cache" / format_id
    movesets: dict[str, Counter[str]] = {}
    for species, sets in usable_sets.items():
        movesets[species] = Counter()
        for each, count in sets.items():
            movesets[species]["|".join(sorted(each.moves))] += count
    _write(cache / "showdown_sets.json", {})
    _write(
        cache / "pokemon_full_sets.json", {s: {e.text: n for e, n in sets.items()} for s, sets in usable_sets.items()}
    )
    _write(cache / "replay_moves.json", movesets)
    everybody = GenData.from_gen(chosen.gen).pokedex.keys() & known_species
    _write(
        data / "smogon_stats_cache" / f"{format_id}-0.json",
        _all_usage(usable_sets, everybody | usable_sets.keys(), format_id),
    )


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def _all_sets(format_id: str, gen: int, tier: str) -> dict[str, Counter[_Set]]:
    """Return species -> sets, with their weights."""
    weighted_sets: dict[str, Counter[_Set]] = defaultdict(Counter)
    for species, member in _published(gen, tier):
        weighted_sets[species][_of_member(member, gen)] += 1
    for species, sets in statistics(format_id, gen).sets.items():
        weight = max(1, round(weighted_sets[species].total() / len(sets)))
        for own in sets:
            moves = tuple(move_name(to_id_str(name), gen) for name in own.moves)
            tera = own.tera.lower()
            weighted_sets[species][
                _Set(moves, own.item or "none", own.ability or "noability", own.nature, own.evs, tera)
            ] += weight
    return weighted_sets


def _published(gen: int, tier: str) -> Iterator[tuple[str, Member]]:
    """Yield members of the published sets of a tier and of lower ones, or of higher ones for species without any."""
    at = TIERS.index(tier) if tier in TIERS else TIERS.index("ou")
    seen: set[str] = set()
    for nearest in (*TIERS[at:], *reversed(TIERS[:at])):
        sets = [published for published in published_sets(gen, nearest) if to_id_str(published.species) not in seen]
        for published in sets:
            rng = random.Random(f"{gen} {nearest} {published.species} {published.name}")
            for _ in range(_DRAWN):
                yield to_id_str(published.species), published.draw(rng, _FIRST, "")
        seen.update(to_id_str(published.species) for published in sets)


def _of_member(member: Member, gen: int) -> _Set:
    return _Set(
        moves=tuple(move_name(to_id_str(name), gen) for name in member.moves),
        item=to_id_str(member.item) or "none",
        ability=to_id_str(member.ability) or "noability",
        nature=to_id_str(member.nature) or "serious",
        evs=full_evs(gen, tuple(member.evs.get(stat, 0) for stat in STATS)),
        tera=to_id_str(member.tera_type),
    )


def _all_usage(usable_sets: dict[str, Counter[_Set]], species: Collection[str], format_id: str) -> dict[str, Any]:
    """Return usage statistics of all species in Smogon's format, with the parts that foul-play reads."""
    brought = statistics(format_id, get_format(format_id).gen).species
    counts = {name: 1 + _TEAM * brought.get(name, 0) for name in sorted(species)}
    # Teammates: in proportion to usage, independent of the other species.
    usual = dict(
        Counter({name: count for name, count in counts.items() if name in usable_sets}).most_common(_TEAMMATES)
    )
    total = sum(usual.values())
    return {
        name: {
            "Raw count": count,
            "Teammates": {other: count * often / total for other, often in usual.items() if other != name},
            "Checks and Counters": {},
            **_usage(usable_sets.get(name, Counter()), count),
        }
        for name, count in counts.items()
    }


def _usage(sets: Counter[_Set], count: int) -> dict[str, dict[str, float]]:
    """Return how often a species that is used `count` times has each trait and move."""
    usage: dict[str, dict[str, int]] = {key: {} for key in ("Spreads", "Items", "Abilities", "Tera Types", "Moves")}
    for each, number in sets.items():
        spread = f"{each.nature}:{'/'.join(map(str, each.evs))}"
        traits = (
            ("Spreads", spread),
            ("Items", each.item),
            ("Abilities", each.ability),
            ("Tera Types", each.tera or "nothing"),
        )
        # foul-play appends Hidden Power's power when it reads usage statistics, but not when it reads sets.
        moves = (("Moves", move.rstrip("067") if move.startswith("hiddenpower") else move) for move in each.moves)
        for key, value in (*traits, *moves):
            usage[key][value] = usage[key].get(value, 0) + number
    # A single division at the end: rounding errors above a rate of 1 would make foul-play exit.
    return {key: {value: count * n / sets.total() for value, n in values.items()} for key, values in usage.items()}
