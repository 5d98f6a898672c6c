"""Set data for foul-play's caches, so that it knows what a Pokémon may carry without asking the net.

On the ladder it reads usage statistics and the sets of real games. Here its files are filled from what the project has:
Smogon's published sets, a number of members drawn from each, and our own competitive teams, which weigh as much as all
published sets of a species together and say how often a species is brought at all.
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

from agents.mechanics.sets import full_evs
from agents.search.layout import move_name
from agents.search.sets import statistics
from teamsets.builder.published import STATS, TIERS, Member, published_sets
from teamsets.formats import get_format

#: Members drawn from each published set: its alternatives then come about as often as they are recommended.
_DRAWN = 12
_FIRST = 0.5
#: How much a team of ours counts beside a species that is merely published.
_TEAM = 100
#: How many species are drawn for the Pokémon that nobody has seen yet.
_TEAMMATES = 50


@dataclass(frozen=True)
class _Set:
    """A whole set, in foul-play's words."""

    moves: tuple[str, ...]
    item: str
    ability: str
    nature: str
    evs: tuple[int, ...]
    tera: str

    @property
    def text(self) -> str:
        evs = ",".join(map(str, self.evs))
        return "|".join([self.tera, self.ability, self.item, self.nature, evs, *sorted(self.moves)])


def write_sets(data: Path, format_id: str) -> None:
    """Fills the caches in `data`, foul-play's folder `fp/data`, for a format."""
    chosen = get_format(format_id)
    pokedex = json.loads((data / "pokedex.json").read_text(encoding="utf-8"))
    # It trips over a form of several others (Ultra Necrozma), which nobody brings.
    known_species = {name for name, entry in pokedex.items() if not isinstance(entry.get("battleOnly"), list)}
    known_moves = json.loads((data / "moves.json").read_text(encoding="utf-8")).keys()
    found: dict[str, Counter[_Set]] = {}
    tier = format_id.removeprefix(f"gen{chosen.gen}")
    for species, sets in _all_sets(format_id, chosen.gen, tier).items():
        kept = Counter({each: count for each, count in sets.items() if known_moves >= set(each.moves)})
        if species in known_species and kept:
            found[species] = kept
    cache = data / "pkmn_sets_cache" / format_id
    movesets: dict[str, Counter[str]] = {}
    for species, sets in found.items():
        movesets[species] = Counter()
        for each, count in sets.items():
            movesets[species]["|".join(sorted(each.moves))] += count
    _write(cache / "showdown_sets.json", {})
    _write(cache / "pokemon_full_sets.json", {s: {e.text: n for e, n in sets.items()} for s, sets in found.items()})
    _write(cache / "replay_moves.json", movesets)
    everybody = GenData.from_gen(chosen.gen).pokedex.keys() & known_species
    _write(data / "smogon_stats_cache" / f"{format_id}-0.json", _all_usage(found, everybody | found.keys(), format_id))


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def _all_sets(format_id: str, gen: int, tier: str) -> dict[str, Counter[_Set]]:
    """Species -> its sets, each with its weight."""
    found: dict[str, Counter[_Set]] = defaultdict(Counter)
    for species, member in _published(gen, tier):
        found[species][_of_member(member, gen)] += 1
    for species, sets in statistics(format_id, gen).sets.items():
        weight = max(1, round(found[species].total() / len(sets)))
        for own in sets:
            moves = tuple(move_name(to_id_str(name), gen) for name in own.moves)
            tera = own.tera.lower()
            found[species][_Set(moves, own.item or "none", own.ability or "noability", own.nature, own.evs, tera)] += (
                weight
            )
    return found


def _published(gen: int, tier: str) -> Iterator[tuple[str, Member]]:
    """Members of the published sets of a tier and of those below it; of a species that has none there, from above."""
    at = TIERS.index(tier) if tier in TIERS else TIERS.index("ou")
    taken: set[str] = set()
    for nearest in (*TIERS[at:], *reversed(TIERS[:at])):
        sets = [one for one in published_sets(gen, nearest) if to_id_str(one.species) not in taken]
        for one in sets:
            rng = random.Random(f"{gen} {nearest} {one.species} {one.name}")
            for _ in range(_DRAWN):
                yield to_id_str(one.species), one.draw(rng, _FIRST, "")
        taken.update(to_id_str(one.species) for one in sets)


def _of_member(member: Member, gen: int) -> _Set:
    return _Set(
        moves=tuple(move_name(to_id_str(name), gen) for name in member.moves),
        item=to_id_str(member.item) or "none",
        ability=to_id_str(member.ability) or "noability",
        nature=to_id_str(member.nature) or "serious",
        evs=full_evs(gen, tuple(member.evs.get(stat, 0) for stat in STATS)),
        tera=to_id_str(member.tera_type),
    )


def _all_usage(found: dict[str, Counter[_Set]], species: Collection[str], format_id: str) -> dict[str, Any]:
    """Usage statistics as Smogon publishes them, as far as they are read: of all species, for any may be met."""
    brought = statistics(format_id, get_format(format_id).gen).species
    counts = {name: 1 + _TEAM * brought.get(name, 0) for name in sorted(species)}
    # Who stands beside whom: the more often brought the likelier, whoever the others are.
    usual = dict(Counter({name: count for name, count in counts.items() if name in found}).most_common(_TEAMMATES))
    total = sum(usual.values())
    return {
        name: {
            "Raw count": count,
            "Teammates": {other: count * often / total for other, often in usual.items() if other != name},
            "Checks and Counters": {},
            **_usage(found.get(name, Counter()), count),
        }
        for name, count in counts.items()
    }


def _usage(sets: Counter[_Set], count: int) -> dict[str, dict[str, float]]:
    """How often a species, brought `count` times, has each trait and move."""
    usage: dict[str, dict[str, int]] = {key: {} for key in ("Spreads", "Items", "Abilities", "Tera Types", "Moves")}
    for each, number in sets.items():
        spread = f"{each.nature}:{'/'.join(map(str, each.evs))}"
        traits = (
            ("Spreads", spread),
            ("Items", each.item),
            ("Abilities", each.ability),
            ("Tera Types", each.tera or "nothing"),
        )
        # Hidden Power's power is put behind its type when usage is read, unlike that of sets.
        moves = (("Moves", move.rstrip("067") if move.startswith("hiddenpower") else move) for move in each.moves)
        for key, value in (*traits, *moves):
            usage[key][value] = usage[key].get(value, 0) + number
    # Counts first and one division then: a rate that rounding has put above 1 ends foul-play.
    return {key: {value: count * n / sets.total() for value, n in values.items()} for key, values in usage.items()}
