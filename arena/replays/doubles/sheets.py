"""Both teams of a battle with open team sheets (`|showteam|`): all but the spreads, which are drawn."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from poke_env.data import GenData
from poke_env.stats import compute_raw_stats

from agents.battle.team_sheets import TeamSheet, parse_sheets
from agents.mechanics.set_sampling import draw_set
from arena.fixture import SEATS
from arena.replays.completing import Completed
from arena.replays.lines import Line
from arena.replays.reading import UnusableReplay
from arena.replays.revealed import base_name

#: Pokémon Champions has stat points in the place of EVs: at most so many a stat, each worth 8 EVs, the first one 4.
_MOST_POINTS = 32
_ILLUSION = "a Pokémon with Illusion: who was on the field cannot be told"


def _sheet(packed: str) -> tuple[TeamSheet, ...]:
    try:
        return parse_sheets(packed)
    except (ValueError, KeyError):
        raise UnusableReplay("an open team sheet that cannot be read") from None


def open_sheets(lines: Sequence[Line]) -> dict[str, tuple[TeamSheet, ...]]:
    """Return role -> the open team sheet that a battle shows. Raises UnusableReplay for one that cannot be read."""
    packed = {line.argument(0): "|".join(line.text.split("|")[3:]) for line in lines if line.kind == "showteam"}
    return {role: _sheet(packed[role]) for role in SEATS if role in packed}


def sheet_teams(lines: Sequence[Line], format_id: str, gen: int, names: tuple[str, int]) -> dict[str, list[Completed]]:
    """Return role -> the whole team of its sheet, with the names and formes that the battle shows.

    names: the battle's id and a seed, of which the spreads are drawn. Raises UnusableReplay where a sheet is missing or the
    log cannot be read.
    """
    sheets = open_sheets(lines)
    teams: dict[str, list[Completed]] = {}
    for role in SEATS:
        if role not in sheets:
            raise UnusableReplay("doubles without open team sheets")
        rng = random.Random(f"{names[0]}:{role}:{names[1]}")
        members = sheets[role]
        if {"commander", "dondozo"} <= {word for member in members for word in (member.ability, member.species)}:
            raise UnusableReplay("Commander: who commands has no choice, without a line that says so")
        team = [_completed(member, role, format_id, gen, rng) for member in members]
        teams[role] = _named(team, lines, role, gen)
    return teams


def _completed(member: TeamSheet, role: str, format_id: str, gen: int, rng: random.Random) -> Completed:
    species = member.species
    facts = GenData.from_gen(gen).pokedex.get(species)
    if facts is None:
        raise UnusableReplay("a Pokémon that is not in this generation")
    if member.ability == "illusion":
        raise UnusableReplay(_ILLUSION)
    drawn = draw_set(format_id, gen, species, member.moves, member.item, member.ability, rng)
    drawn = replace(drawn, moves=member.moves, item=member.item, ability=member.ability)
    nature = member.nature or drawn.nature
    counted = drawn.evs
    if "champions" in format_id:
        drawn = replace(
            drawn, evs=tuple(round(each / 8) if max(drawn.evs) > _MOST_POINTS else each for each in drawn.evs)
        )
        counted = tuple(4 * max(2 * points - 1, 0) for points in drawn.evs)
    stats = compute_raw_stats(species, list(counted), [31] * 6, member.level, nature, GenData.from_gen(gen))
    level = f", L{member.level}" if member.level != 100 else ""
    gender = f", {member.gender}" if member.gender in ("M", "F") else ""
    return Completed(
        ident=f"{role}: {base_name(member.species, gen)}",
        details=f"{facts['name']}{level}{gender}",
        species=species,
        level=member.level,
        moves=member.moves,
        item=member.item,
        ability=member.ability,
        nature=nature,
        evs=drawn.evs,
        tera=member.tera_type.name.capitalize() if member.tera_type else "",
        stats=tuple(stats),
        shown=True,
    )


def _named(team: list[Completed], lines: Sequence[Line], role: str, gen: int) -> list[Completed]:
    """The team with nicknames and details as of each Pokémon's first appearance."""
    places = {base_name(member.details.split(",")[0], gen): place for place, member in enumerate(team)}
    if len(places) < len(team):
        raise UnusableReplay("two Pokémon of one name")
    named, met = list(team), set[int]()
    for line in lines:
        if line.kind == "replace":
            raise UnusableReplay(_ILLUSION)
        if line.kind not in ("switch", "drag") or line.role != role:
            continue
        place = places.get(base_name(line.argument(1).split(",")[0], gen))
        if place is None:
            raise UnusableReplay("a Pokémon that is not on the open team sheet")
        if place not in met:
            met.add(place)
            details = ", ".join(part for part in line.argument(1).split(", ") if part != "shiny")
            named[place] = replace(named[place], ident=line.ident, details=details)
    return named
