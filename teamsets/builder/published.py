"""Smogon's published sets, from the package `localsets`, and members sampled from them."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from teamsets.errors import BadInput, MissingTool
from teamsets.formats import lookalikes

T = TypeVar("T")

#: Singles tiers, the strongest first: what is legal in one is legal in those before it, bans apart.
TIERS = ("ubers", "ou", "uu", "ru", "nu", "pu")

_STAT_LABELS = {"hp": "HP", "atk": "Atk", "def": "Def", "spa": "SpA", "spd": "SpD", "spe": "Spe"}
#: The ids of the six stats, in the order in which all have them.
STATS = tuple(_STAT_LABELS)
_JOKES = {(4, "Kakuna")}  # published on an April 1st


@dataclass(frozen=True)
class Member:
    """One concrete team member. Empty fields are left to the validator to fill in."""

    species: str
    moves: tuple[str, ...]
    item: str = ""
    ability: str = ""
    nature: str = ""
    evs: Mapping[str, int] = field(default_factory=dict)
    ivs: Mapping[str, int] = field(default_factory=dict)
    tera_type: str = ""


def as_text(members: Iterable[Member]) -> str:
    """A team in Showdown's export text."""
    return "\n\n".join("\n".join(_lines(member)) for member in members)


def _lines(member: Member) -> Iterator[str]:
    yield f"{member.species} @ {member.item}" if member.item else member.species
    if member.ability:
        yield f"Ability: {member.ability}"
    if member.tera_type:
        yield f"Tera Type: {member.tera_type}"
    for label, stats in (("EVs", member.evs), ("IVs", member.ivs)):
        if stats:
            yield f"{label}: " + " / ".join(f"{value} {_STAT_LABELS[stat]}" for stat, value in stats.items())
    if member.nature:
        yield f"{member.nature} Nature"
    for move in member.moves:
        yield f"- {move}"


@dataclass(frozen=True)
class PublishedSet:
    """A set as published: for each of its fields the alternatives, the recommended one first."""

    species: str
    name: str
    tier: str
    moves: tuple[tuple[str, ...], ...]
    items: tuple[str, ...]
    abilities: tuple[str, ...]
    natures: tuple[str, ...]
    evs: tuple[dict[str, int], ...]
    ivs: tuple[dict[str, int], ...]
    tera_types: tuple[str, ...]

    def draw(self, rng: random.Random, first: float, ability: str) -> Member:
        """A member with one alternative of each field. The recommended one has probability `first`, or an even share
        where that is more. `ability` is what it has where the set names none.
        """
        moves: list[str] = []
        for slot in self.moves:
            open_moves = [move for move in slot if move not in moves]
            if open_moves:
                moves.append(_pick(open_moves, rng, first))
        spread = rng.randrange(len(self.natures)) if len(self.natures) == len(self.evs) else 0
        item = _pick(self.items, rng, first)
        return Member(
            species=self.species,
            moves=tuple(moves),
            item="" if item == "No Item" else item,
            ability=_pick(self.abilities, rng, first) or ability,
            # Where a set gives as many spreads as natures, they belong together.
            nature=self.natures[spread] if len(self.evs) > 1 else _pick(self.natures, rng, first),
            evs=self.evs[spread],
            ivs=_pick(self.ivs, rng, first),
            tera_type=_pick(self.tera_types, rng, first),
        )


def _pick(options: Sequence[T], rng: random.Random, first: float) -> T:
    if len(options) == 1 or rng.random() < first:
        return options[0]
    return rng.choice(options)


def version() -> str:
    """The version of `localsets`, for cache keys and provenance."""
    return importlib.metadata.version("localsets")


def _folder() -> Path:
    """Return where the published sets lie. Raises MissingTool if `localsets` is not installed."""
    package = importlib.util.find_spec("localsets")  # its data alone: importing the package would read all of it
    if package is None or package.origin is None:
        raise MissingTool("localsets: not installed: `pip install localsets`, or `make setup` in a checkout")
    return Path(package.origin).parent / "smogon_data"


@cache
def vgc_tiers(gen: int) -> tuple[str, ...]:
    """Return the tiers of VGC of a generation that have published sets, the latest first."""
    years = sorted(path.stem for path in _folder().glob(f"gen{gen}vgc*.json"))
    return tuple(stem.removeprefix(f"gen{gen}") for stem in reversed(years))


@cache
def published_sets(gen: int, tier: str) -> tuple[PublishedSet, ...]:
    """Return all sets published for a tier of a generation; empty if `localsets` has no such tier."""
    path = _folder() / f"gen{gen}{tier}.json"
    if not path.is_file():
        return ()
    published = json.loads(path.read_text(encoding="utf-8"))
    return tuple(
        _parse(species, name, tier, fields, gen)
        for species, sets in published.items()
        if (gen, species) not in _JOKES
        for name, fields in sets.items()
    )


def pool(gen: int, tier: str) -> tuple[PublishedSet, ...]:
    """Return the sets published for a tier and the tiers below it; doubles and VGC have none below.

    Raises BadInput if there are none.
    """
    if tier not in TIERS and not published_sets(gen, tier):
        likely = lookalikes(f"gen{gen}{tier}", tuple(f"gen{gen}{each}" for each in TIERS))
        fix = f"did you mean {likely}? Or bring" if likely else "bring"
        raise BadInput(f"format 'gen{gen}{tier}': no published sets to build teams from: {fix} a folder of teams")
    below = TIERS[TIERS.index(tier) :] if tier in TIERS else (tier,)
    sets = tuple(published for lower in below for published in published_sets(gen, lower))
    if not sets:
        raise BadInput(f"format 'gen{gen}{tier}': no published sets to build teams from: bring a folder of teams")
    return sets


def _parse(species: str, name: str, tier: str, fields: dict[str, Any], gen: int) -> PublishedSet:
    evs: tuple[dict[str, int], ...] = _options(fields.get("evs"), {})
    return PublishedSet(
        species=species,
        name=name,
        tier=tier,
        moves=tuple(_options(slot, "") for slot in fields["moves"]),
        items=_options(fields.get("item"), ""),
        abilities=_options(fields.get("ability"), ""),
        natures=_options(fields.get("nature"), ""),
        # Before generation 3 all EVs are full: what a set gives there is a remark, not a spread.
        evs=evs if gen >= 3 else ({},),
        ivs=_options(fields.get("ivs"), {}),
        tera_types=_options(fields.get("teratypes"), ""),
    )


def _options(value: Any, empty: T) -> tuple[T, ...]:
    if value is None or value == []:
        return (empty,)
    return tuple(value) if isinstance(value, list) else (value,)
