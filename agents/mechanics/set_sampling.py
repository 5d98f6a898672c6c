"""Samples of hidden information: sets that are consistent with what was revealed, and Pokémon that were not seen yet.

Two sources have equal weight: Smogon's published sets, and statistics of the project's competitive teams for the format
(frequency of each species and of its sets). Formats with random teams have Showdown's random sets only.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from poke_env.battle.pokemon import Pokemon
from poke_env.data import GenData, to_id_str
from poke_env.teambuilder import Teambuilder

from agents.battle import SeatBattle
from agents.mechanics.sets import CandidateSet, PokemonSet, candidates, fit, full_evs, hidden_powers
from teamsets.errors import BadInput
from teamsets.files import SHIPPED, team_files

# Relative likelihood of a set whose item or ability differs from the revealed one.
_MISFIT = 0.03
# Weight of our own teams' statistics if Smogon has sets of the species too.
_OWN_TEAMS = 0.5
_MOVES = 4
# poke-env parses the gender of "Misdreavus (F)" as a part of the name.
_GENDER = re.compile(r" \([MF]\)$")


@dataclass(frozen=True)
class SampledPokemon(PokemonSet[tuple[str, ...]]):
    """A sampled Pokémon. moves: revealed ones first."""

    species: str
    level: int


@dataclass(frozen=True)
class Statistics:
    """Statistics of a format's teams: species -> number of teams with it, and species -> its sets, one per team."""

    species: Mapping[str, int]
    sets: Mapping[str, tuple[CandidateSet, ...]]


def draw(mon: Pokemon, battle: SeatBattle, rng: random.Random) -> SampledPokemon:
    """Sample the set of a Pokémon that the opponent has shown, consistent with what is known of it."""
    known = tuple(mon.moves)[:_MOVES]
    item = None if battle.gen < 2 or mon.item == GenData.UNKNOWN_ITEM else (mon.item or "")
    drawn = draw_set(battle.format_id, battle.gen, chosen_forme(mon.species, battle.gen), known, item, mon.ability, rng)
    drawn = replace(drawn, species=mon.species, level=mon.level)
    if mon.tera_type is not None:
        drawn = replace(drawn, tera=mon.tera_type.name)
    return drawn


@cache
def chosen_forme(species: str, gen: int) -> str:
    """The forme of a team: the one that a forme of battles alone comes from ("ogerponwellspringtera"), else itself."""
    entry = GenData.from_gen(gen).pokedex.get(species, {})
    former = entry.get("battleOnly") or species
    return to_id_str(former if isinstance(former, str) else former[0])


def draw_unseen(format_id: str, gen: int, seen: set[str], count: int, rng: random.Random) -> list[SampledPokemon]:
    """Sample `count` unseen Pokémon: species by their frequency in the format's teams, none of `seen`."""
    frequency = dict(statistics(format_id, gen).species)
    for name in seen:
        frequency.pop(name, None)
    drawn: list[SampledPokemon] = []
    for _ in range(min(count, len(frequency))):
        names = list(frequency)
        species = rng.choices(names, [frequency[name] for name in names])[0]
        del frequency[species]
        drawn.append(draw_set(format_id, gen, species, (), None, None, rng))
    return drawn


def draw_previewed(species: str, level: int, battle: SeatBattle, rng: random.Random) -> SampledPokemon:
    """Sample the set of a Pokémon of which team preview showed the species only."""
    return replace(draw_set(battle.format_id, battle.gen, species, (), None, None, rng), level=level)


def draw_set(
    format_id: str,
    gen: int,
    species: str,
    shown: tuple[str, ...],
    item: str | None,
    ability: str | None,
    rng: random.Random,
) -> SampledPokemon:
    """Sample a complete set of a species (level 100) that is consistent with what is known.

    shown: ids of its revealed moves. item: "" for none. item, ability: None if unknown.
    """
    sets = _sets(format_id, gen, species)
    if not sets:
        abilities = GenData.from_gen(gen).pokedex.get(species, {}).get("abilities", {})
        first = ability or to_id_str(abilities.get("0", "")) if gen >= 3 else ""
        return SampledPokemon(shown, item or "", first, "serious", full_evs(gen, (84,) * 6), "", species, 100)
    weights = [s.weight * fit(s, shown) * _agrees(s.item, item) * _agrees(s.ability, ability) for s in sets]
    chosen = rng.choices(sets, weights)[0]
    return SampledPokemon(
        _moves(chosen, shown, rng),
        (chosen.item if item is None else item) if gen >= 2 else "",
        (ability or chosen.ability) if gen >= 3 else "",
        chosen.nature,
        chosen.evs,
        chosen.tera,
        species,
        100,
    )


def _agrees(suggested: str, known: str | None) -> float:
    return 1.0 if known is None or suggested == known else _MISFIT


def _moves(chosen: CandidateSet, shown: tuple[str, ...], rng: random.Random) -> tuple[str, ...]:
    """Return the revealed moves, completed to four from the set by its probabilities."""
    moves = [_typed(move, chosen, rng) for move in shown]
    open_moves = {move: chance for move, chance in chosen.moves.items() if move not in moves and chance > 0}
    if "hiddenpower" in shown:
        open_moves = {move: chance for move, chance in open_moves.items() if not move.startswith("hiddenpower")}
    while len(moves) < _MOVES and open_moves:
        names = list(open_moves)
        # A certain move precedes all alternatives: its weight makes the others negligible.
        move = rng.choices(names, [1e6 if open_moves[n] >= 1.0 else open_moves[n] for n in names])[0]
        del open_moves[move]
        moves.append(move)
    return tuple(moves)


def _typed(move: str, chosen: CandidateSet, rng: random.Random) -> str:
    """Return a revealed move; Hidden Power gets a type of the set, if it has one."""
    found = hidden_powers(chosen) if move == "hiddenpower" else []
    return rng.choices([name for name, _ in found], [chance for _, chance in found])[0] if found else move


@cache
def _sets(format_id: str, gen: int, species: str) -> tuple[CandidateSet, ...]:
    """Return both sources' sets of a species, with the weights of the sources."""
    published = candidates(format_id, gen, species)
    own = statistics(format_id, gen).sets.get(species, ())
    sources = ((published, 1 - _OWN_TEAMS if own else 1.0), (own, _OWN_TEAMS if published else 1.0))
    return tuple(
        replace(s, weight=s.weight * weight / sum(other.weight for other in sets))
        for sets, weight in sources
        for s in sets
    )


@cache
def statistics(format_id: str, gen: int) -> Statistics:
    """Return the statistics of the format's competitive teams; empty if there are none."""
    try:
        files = team_files(SHIPPED / "competitive", format_id)
    except BadInput:
        return Statistics({}, {})
    species: dict[str, int] = {}
    sets: dict[str, list[CandidateSet]] = {}
    for file in files:
        for mon in Teambuilder.parse_showdown_team(file.text().strip()):
            name = to_id_str(_GENDER.sub("", (mon.species or mon.nickname or "").strip()))
            listed = CandidateSet(
                moves={to_id_str(move): 1.0 for move in mon.moves},
                item=to_id_str(mon.item or ""),
                ability=to_id_str(mon.ability or ""),
                nature=to_id_str(mon.nature or "") or "serious",
                evs=full_evs(gen, tuple(mon.evs or (0,) * 6)),
                tera=(mon.tera_type or "").upper(),
                weight=1.0,
            )
            species[name] = species.get(name, 0) + 1
            sets.setdefault(name, []).append(listed)
    return Statistics(species, {name: tuple(found) for name, found in sets.items()})
