"""Samples a team's hidden part from Smogon's sets and the competitive teams' statistics, consistent with what was shown.

The same battle, side and seed give the same team.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from poke_env.data import GenData, to_id_str
from poke_env.stats import compute_raw_stats, compute_raw_stats_dvs

from agents.mechanics.set_sampling import SampledPokemon, draw_set, statistics
from agents.mechanics.sets import candidates
from arena.replays.revealed import Shown, base_name
from teamsets.builder.published import STATS, Member, as_text

_TRIES = 40


@dataclass(frozen=True)
class Completed(SampledPokemon):
    """One member of a completed team.

    ident: "p1: nickname". details: "Landorus-Therian, M". moves: up to four ids, the shown ones first. item: "" for none.
    tera: "Water", "" before generation 9. evs, stats: hp, atk, def, spa, spd, spe. shown: False for one that the log
    never names.
    """

    ident: str
    details: str
    stats: tuple[int, ...]
    shown: bool


def complete(shown: list[Shown], size: int, role: str, format_id: str, gen: int, rng: random.Random) -> list[Completed]:
    """Return the complete team of a side: the revealed Pokémon in their order, then sampled ones up to `size`.

    Unrevealed species are sampled by their frequency in the format's competitive teams; without such teams, the team stays
    smaller.
    """
    team = [_complete(each, format_id, gen, rng) for each in shown]
    bases = {base_name(each.species, gen) for each in shown}
    often = {n: count for n, count in statistics(format_id, gen).species.items() if base_name(n, gen) not in bases}
    while len(team) < size and often:
        species = rng.choices(list(often), list(often.values()))[0]
        del often[species]
        name = str(GenData.from_gen(gen).pokedex[species]["name"])
        fresh = Shown(f"{role}: {base_name(species, gen)}", name, species, 100)
        team.append(_complete(fresh, format_id, gen, rng, never_seen=True))
    return team


def _complete(shown: Shown, format_id: str, gen: int, rng: random.Random, never_seen: bool = False) -> Completed:
    moves = tuple(_hidden_power(shown, format_id, gen, rng) if move == "hiddenpower" else move for move in shown.moves)
    item = shown.item if gen >= 2 else ""
    sampled = _draw(shown, moves, item, format_id, gen, rng)
    kept = sampled.item if sampled.item not in shown.not_items or item is not None else ""
    stats = _stats(sampled, shown, gen)
    facts = GenData.from_gen(gen).pokedex.get(shown.species, {})
    ability = sampled.ability or (to_id_str(facts.get("abilities", {}).get("0", "")) if gen >= 3 else "")
    return Completed(
        ident=shown.ident,
        details=shown.details,
        species=shown.species,
        level=shown.level,
        moves=sampled.moves,
        item=kept,
        ability=ability,
        nature=sampled.nature,
        evs=sampled.evs,
        tera=(shown.tera or sampled.tera.capitalize() or str(facts.get("types", ["Normal"])[0])) if gen == 9 else "",
        stats=stats,
        shown=not never_seen,
    )


def _draw(
    shown: Shown, moves: tuple[str, ...], item: str | None, format_id: str, gen: int, rng: random.Random
) -> SampledPokemon:
    """Sample a set that is consistent with the log, if one of several samples is."""
    for _ in range(_TRIES):
        sampled = draw_set(format_id, gen, shown.species, moves, item, shown.ability or None, rng)
        if item is not None or sampled.item not in shown.not_items:
            return sampled
    return sampled


def _hidden_power(shown: Shown, format_id: str, gen: int, rng: random.Random) -> str:
    """Return Hidden Power with a type from the species' sets, because the log does not show it."""
    typed = sorted(
        {
            move
            for each in candidates(format_id, gen, shown.species)
            for move in each.moves
            if move.startswith("hiddenpower") and move != "hiddenpower"
        }
    )
    return rng.choice(typed) if typed else "hiddenpowerdark"


def _stats(sampled: SampledPokemon, shown: Shown, gen: int) -> tuple[int, ...]:
    data = GenData.from_gen(gen)
    if sampled.species not in data.pokedex:
        return (shown.max_hp or 1, 1, 1, 1, 1, 1)
    if gen <= 2:
        stats = compute_raw_stats_dvs(sampled.species, [15] * 6, shown.level, data)
    else:
        stats = compute_raw_stats(sampled.species, list(sampled.evs), [31] * 6, shown.level, sampled.nature, data)
    if shown.max_hp is not None:
        stats[0] = shown.max_hp
    return tuple(stats)


def export(team: list[Completed], gen: int) -> str:
    """The team in Showdown's export text, without nicknames."""
    data = GenData.from_gen(gen)
    members = []
    for each in team:
        evs = {stat: value for stat, value in zip(STATS, each.evs, strict=True) if value} if gen >= 3 else {}
        members.append(
            Member(
                species=str(data.pokedex[each.species]["name"]),
                moves=tuple(str(data.moves[move]["name"]) for move in each.moves),
                item=each.item,
                ability=each.ability if gen >= 3 else "",
                nature=each.nature.capitalize() if gen >= 3 else "",
                evs=evs,
                tera_type=each.tera,
            )
        )
    return as_text(members)
