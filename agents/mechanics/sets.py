"""Likely sets of an opponent's Pokémon: Smogon's published sets and Showdown's random ones, from `localsets`."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import orjson
from poke_env.data import GenData, to_id_str

from teamsets.builder.published import STATS, TIERS, PublishedSet, published_sets, vgc_tiers
from teamsets.formats import is_doubles

# Relative likelihood of a set that lacks a revealed move.
_MISFIT = 0.03
# Probability of the first alternative of a published move slot.
_FIRST = 0.6
# Base speed below which a Pokémon of doubles is taken to have no EVs in speed.
_SLOW = 65


Moves = TypeVar("Moves")


@dataclass(frozen=True)
class PokemonSet(Generic[Moves]):
    """A set of a species, by ids. item, ability: "" for none; evs: hp, atk, def, spa, spd, spe; tera: a type or ""."""

    moves: Moves
    item: str
    ability: str
    nature: str
    evs: tuple[int, ...]
    tera: str


@dataclass(frozen=True)
class CandidateSet(PokemonSet[Mapping[str, float]]):
    """A possible set of a species. moves: id -> probability; weight: relative."""

    weight: float


@dataclass(frozen=True)
class Guess(PokemonSet[tuple[tuple[str, float], ...]]):
    """An estimated set. moves: (id, probability), the revealed ones first with probability 1."""


@lru_cache(maxsize=20_000)
def guess(format_id: str, gen: int, species: str, shown: tuple[str, ...]) -> Guess:
    """Estimate the set of a species that has revealed the moves `shown` (ids).

    Candidate sets are weighted by their fit to the revealed moves. A species without candidates gets typical STAB moves.
    """
    sets = candidates(format_id, gen, species)
    if not sets:
        return _fallback(gen, species, shown)
    weights = [c.weight * fit(c, shown) for c in sets]
    shown = _typed(shown, sets, weights)
    total, typed = sum(weights), any(move.startswith("hiddenpower") for move in shown)  # a Pokémon has one of them
    chances: dict[str, float] = {}
    for candidate, weight in zip(sets, weights, strict=True):
        for move, chance in candidate.moves.items():
            if move not in shown and not (typed and move.startswith("hiddenpower")):
                chances[move] = chances.get(move, 0.0) + weight / total * chance
    unseen = max(0, 4 - len(shown))
    scale = min(1.0, unseen / (sum(chances.values()) or 1.0))
    likely = sorted(((move, chance * scale) for move, chance in chances.items()), key=lambda pair: (-pair[1], pair[0]))
    best = sets[max(range(len(sets)), key=weights.__getitem__)]
    moves = tuple((move, 1.0) for move in shown) + tuple((m, c) for m, c in likely if c > 0.04)
    return Guess(moves, best.item, best.ability, best.nature, best.evs, best.tera)


def fit(candidate: CandidateSet, shown: tuple[str, ...]) -> float:
    """Return the likelihood, from 0 to 1, of the revealed moves given a set; a mismatch keeps a small likelihood."""
    chance = 1.0
    for move in shown:
        has = candidate.moves.get(move, 0.0)
        if move == "hiddenpower":  # logs do not show its type
            has = min(1.0, sum(chance for _, chance in hidden_powers(candidate)))
        chance *= max(has, _MISFIT)
    return chance


def hidden_powers(candidate: CandidateSet) -> list[tuple[str, float]]:
    """Return the Hidden Powers of a set: (id with type, as "hiddenpowerfire", probability)."""
    return [(move, chance) for move, chance in candidate.moves.items() if move.startswith("hiddenpower")]


def _typed(shown: tuple[str, ...], sets: tuple[CandidateSet, ...], weights: list[float]) -> tuple[str, ...]:
    """Return the revealed moves, Hidden Power with its most likely type if any set has it."""
    if "hiddenpower" not in shown:
        return shown
    chances: dict[str, float] = {}
    for candidate, weight in zip(sets, weights, strict=True):
        for move, chance in hidden_powers(candidate):
            chances[move] = chances.get(move, 0.0) + weight * chance
    likeliest = max(chances, key=lambda move: (chances[move], move), default="hiddenpower")
    return tuple(likeliest if move == "hiddenpower" else move for move in shown)


def _fallback(gen: int, species: str, shown: tuple[str, ...]) -> Guess:
    dex = GenData.from_gen(gen).pokedex.get(species, {})
    stats = dex.get("baseStats", {})
    physical = stats.get("atk", 0) >= stats.get("spa", 0)
    typical = _PHYSICAL_STAB if physical else _SPECIAL_STAB
    moves = tuple((m, 1.0) for m in shown)
    if len(shown) < 4:
        found = [typical[t.upper()] for t in dex.get("types", ()) if t.upper() in typical]
        known = GenData.from_gen(gen).moves
        moves += tuple((m, 0.8) for m in found if m in known and m not in shown)
    return Guess(moves, "", "", "serious", full_evs(gen, (84,) * 6), "")


_PHYSICAL_STAB = {
    "NORMAL": "bodyslam", "FIRE": "firepunch", "WATER": "waterfall", "GRASS": "razorleaf", "ELECTRIC": "thunderpunch",
    "ICE": "icepunch", "FIGHTING": "submission", "POISON": "sludgebomb", "GROUND": "earthquake", "FLYING": "drillpeck",
    "PSYCHIC": "psychic", "BUG": "megahorn", "ROCK": "rockslide", "GHOST": "shadowball", "DRAGON": "outrage",
    "DARK": "crunch", "STEEL": "ironhead", "FAIRY": "playrough",
}  # fmt: skip
_SPECIAL_STAB = {
    **_PHYSICAL_STAB, "FIRE": "flamethrower", "WATER": "surf", "ELECTRIC": "thunderbolt", "ICE": "icebeam",
    "DRAGON": "dragonpulse", "DARK": "darkpulse", "STEEL": "flashcannon", "FAIRY": "moonblast", "GRASS": "gigadrain",
    "BUG": "bugbuzz",
}  # fmt: skip


@cache
def candidates(format_id: str, gen: int, species: str) -> tuple[CandidateSet, ...]:
    """Return the published sets of a species, or else of its base species; empty if it is unknown."""
    tier = format_id.removeprefix(f"gen{gen}")
    if is_doubles(format_id):
        sets = _doubles_sets(gen, tier)
    else:
        sets = _random_sets(gen) if "random" in tier else _tier_sets(gen, tier)
    dex = GenData.from_gen(gen).pokedex.get(species, {})
    for name in (species, to_id_str(dex.get("baseSpecies", ""))):
        if name in sets:
            return sets[name]
    return ()


@cache
def _tier_sets(gen: int, tier: str) -> dict[str, tuple[CandidateSet, ...]]:
    """Return species -> published sets of the tier, else of the nearest lower tier, else of a higher one."""
    at = TIERS.index(tier) if tier in TIERS else TIERS.index("ou")
    by_species: dict[str, tuple[CandidateSet, ...]] = {}
    for nearest in (*TIERS[at:], *reversed(TIERS[:at])):
        for species, sets in _own_sets(gen, nearest).items():
            by_species.setdefault(species, sets)
    return by_species


@cache
def _doubles_sets(gen: int, tier: str) -> dict[str, tuple[CandidateSet, ...]]:
    """Return species -> sets for doubles, the nearest source that has the species.

    These are the tier's published sets, those of VGC or Doubles OU (in VGC the former first), Showdown's for random doubles,
    and the sets for singles.
    """
    tiers = ("doublesou", *vgc_tiers(gen)) if "vgc" not in tier else (*vgc_tiers(gen), "doublesou")
    random_sets = _random_sets(gen, "doubles")
    if "random" in tier:
        sources = [random_sets, _random_sets(gen)]
    else:
        trained = {species: _trained(gen, species, sets) for species, sets in random_sets.items()}
        sources = [*(_own_sets(gen, each) for each in (tier, *tiers)), trained, _tier_sets(gen, "ou")]
    by_species: dict[str, tuple[CandidateSet, ...]] = {}
    for source in reversed(sources):
        by_species.update(source)
    return by_species


def _trained(gen: int, species: str, sets: tuple[CandidateSet, ...]) -> tuple[CandidateSet, ...]:
    """Return sets for random battles with the EVs of a player's team: the better attack, and speed or, if slow, HP."""
    base = GenData.from_gen(gen).pokedex.get(species, {}).get("baseStats", {})
    physical = base.get("atk", 0) >= base.get("spa", 0)
    attack = (252, 0) if physical else (0, 252)
    slow = base.get("spe", 0) < _SLOW
    evs = (252 if slow else 4, attack[0], 0, attack[1], 4 if slow else 0, 0 if slow else 252)
    return tuple(replace(candidate, evs=evs) for candidate in sets)


def _own_sets(gen: int, tier: str) -> dict[str, tuple[CandidateSet, ...]]:
    """Return species -> the sets published for a tier alone."""
    sets: dict[str, list[CandidateSet]] = {}
    for published in published_sets(gen, tier):
        sets.setdefault(to_id_str(published.species), []).append(_from_published(published, gen))
    return {species: tuple(found) for species, found in sets.items()}


def _from_published(published: PublishedSet, gen: int) -> CandidateSet:
    moves: dict[str, float] = {}
    for slot in published.moves:
        for index, name in enumerate(slot):
            chance = 1.0 if len(slot) == 1 else _FIRST if index == 0 else (1 - _FIRST) / (len(slot) - 1)
            move = to_id_str(name)
            moves[move] = min(1.0, moves.get(move, 0.0) + chance)
    evs = published.evs[0]
    return CandidateSet(
        moves=moves,
        item=to_id_str(published.items[0]),
        ability=to_id_str(published.abilities[0]),
        nature=to_id_str(published.natures[0]) or "serious",
        evs=full_evs(gen, tuple(evs.get(stat, 0) for stat in STATS)),
        tera=published.tera_types[0].upper(),
        weight=1.0,
    )


def full_evs(gen: int, evs: tuple[int, ...]) -> tuple[int, ...]:
    """Return the EVs of a set; before generation 3 all are at their maximum."""
    return (252,) * 6 if gen <= 2 else evs


@cache
def _random_sets(gen: int, kind: str = "") -> dict[str, tuple[CandidateSet, ...]]:
    """Return species -> Showdown's sets for random battles. kind: "doubles" for those of random doubles."""
    package = importlib.util.find_spec("localsets")  # located, not imported: importing it would load all of its data
    if package is None or package.origin is None:
        return {}
    path = Path(package.origin).parent / "randbattle_data" / f"gen{gen}random{kind}battle.json"
    if not path.is_file():
        return {}
    return {to_id_str(name): _from_random(fields, gen) for name, fields in orjson.loads(path.read_bytes()).items()}


def _from_random(fields: dict[str, Any], gen: int) -> tuple[CandidateSet, ...]:
    """Return the roles of a species in random battles as candidates. Random sets have 84 EVs in every stat."""
    stats = fields.get("stats", {})
    roles = stats.get("roles") or {"": stats}
    return tuple(
        CandidateSet(
            moves={to_id_str(move): chance for move, chance in role.get("moves", {}).items()},
            item=_commonest(role.get("items") or fields.get("items")),
            ability=_commonest(role.get("abilities") or fields.get("abilities")),
            nature="serious",
            evs=full_evs(gen, (84,) * 6),
            tera=_commonest(role.get("teraTypes")).upper(),
            weight=role.get("weight", 1.0),
        )
        for role in roles.values()
    )


def _commonest(options: Any) -> str:
    if not options:
        return ""
    if isinstance(options, dict):
        return to_id_str(max(options, key=lambda name: (options[name], name)))
    return to_id_str(options[0])
