"""Both teams as a seat knows them: its own from its requests, the opponent's sampled from sets that fit what was shown.

Of what the engine does not play something near takes the place: for a species the played one of the most similar types and
stats, for a move the one of the same type and category and nearest power, for an item none, for an ability one that does
nothing in singles.
"""

from __future__ import annotations

import random
from functools import cache
from typing import Any

from poke_env.data import GenData, to_id_str

from agents.battle import SeatBattle
from agents.engine.gen9.played import plays
from agents.engine.gen9.teams import DATA, SPECIES, TYPES
from agents.mechanics.set_sampling import SampledPokemon, chosen_forme, draw, draw_previewed
from agents.search.exact.gen9.battle_log import BattleLog
from agents.search.exact.gen9.position import Known
from agents.search.log_lines import gender_of, level_of

_INERT = "healer"
_DEFAULT_MOVE = "knockoff"  # of one of which no set and no move is known
_NEAREST_STAT = 60  # how much another type weighs, in points of base stats


def known_teams(battle: SeatBattle, log: BattleLog, seat: int, rng: random.Random) -> Known:
    """Both teams: our own, and a sample of the opponent's."""
    own = [_own_member(entry) for entry in log.own]
    names = [entry["ident"].partition(": ")[2] for entry in log.own]
    theirs, their_names = _sampled(battle, log, 1 - seat, rng)
    teams = ("]".join(own), "]".join(theirs)) if seat == 0 else ("]".join(theirs), "]".join(own))
    return Known(teams, (names, their_names) if seat == 0 else (their_names, names))


def _own_member(entry: dict[str, Any]) -> str:
    details = entry["details"].split(", ")
    return _packed(
        entry["ident"].partition(": ")[2], to_id_str(details[0]), to_id_str(entry["item"]), to_id_str(entry["baseAbility"]),
        tuple(to_id_str(move) for move in entry["moves"]), "serious", (0,) * 6,
        gender_of(details) or "N", str(level_of(details)), entry.get("teraType", ""),
    )  # fmt: skip


def _sampled(battle: SeatBattle, log: BattleLog, seat: int, rng: random.Random) -> tuple[list[str], list[str]]:
    """The opponent's team, packed, with the names of its Pokémon; for those that were not seen names that nobody has."""
    tracked = log.sides[seat]
    role = f"p{seat + 1}"
    by_place = {mon.place: mon for mon in tracked.mons.values() if mon.place >= 0}
    team, names = [], []
    for place in range(max(len(tracked.preview), 1 + max(by_place, default=0))):
        seen = by_place.get(place)
        mon = battle.opponent_team.get(f"{role}: {seen.name}") if seen is not None else None
        if seen is not None and mon is not None:
            drawn, gender = draw(mon, battle, rng), seen.gender
        else:
            species, gender = (
                tracked.preview[place] if place < len(tracked.preview) else (seen.species if seen else "", "")
            )
            drawn = draw_previewed(species, 100, battle, rng)
        names.append(seen.name if seen is not None else f"?{place}")
        team.append(_member(names[-1], drawn, gender or "N"))
    return team, names


def _member(name: str, drawn: SampledPokemon, gender: str) -> str:
    species = chosen_forme(to_id_str(drawn.species), 9)
    return _packed(
        name,
        species,
        drawn.item,
        drawn.ability,
        drawn.moves,
        drawn.nature,
        drawn.evs,
        gender,
        str(drawn.level),
        drawn.tera,
    )


def _packed(
    name: str,
    species: str,
    item: str,
    ability: str,
    moves: tuple[str, ...],
    nature: str,
    evs: tuple[int, ...],
    gender: str,
    level: str,
    tera: str,
) -> str:
    """A set as Showdown packs it, with something played for what the engine does not play."""
    played = tuple(dict.fromkeys(near_move(move) for move in moves)) or (_DEFAULT_MOVE,)
    return "|".join((
        name, near_species(species), item if item and plays("items", item) else "",
        ability if ability and plays("abilities", ability) else _INERT, ",".join(played), nature,
        ",".join(map(str, evs)), gender, "", "", level, f",,,,,{_tera(tera)}",
    ))  # fmt: skip


def _tera(name: str) -> str:
    return name.capitalize() if name.capitalize() in TYPES else "Normal"


@cache
def near_species(species: str) -> str:
    """A species that the engine plays: itself, or the most similar."""
    if species in SPECIES and not DATA["species"][SPECIES[species]]["battleOnly"]:
        return species
    pokedex = GenData.from_gen(9).pokedex
    wanted = pokedex.get(species)
    if wanted is None:
        return next(iter(SPECIES))

    def distance(name: str) -> float:
        other = pokedex[name]
        stats = sum(abs(wanted["baseStats"][stat] - by) for stat, by in other["baseStats"].items())
        return float(stats + _NEAREST_STAT * len(set(wanted["types"]) ^ set(other["types"])))

    return min((n for n in SPECIES if not DATA["species"][SPECIES[n]]["battleOnly"] and n in pokedex), key=distance)


@cache
def near_move(move: str) -> str:
    """A move that the engine plays: itself, or the most similar."""
    if plays("moves", move):
        return move
    moves = GenData.from_gen(9).moves
    wanted = moves.get(move)
    if wanted is None:
        return "struggle" if plays("moves", "struggle") else next(iter(DATA["moves"]))

    def distance(name: str) -> float:
        other = moves[name]
        apart = 200 * (other["category"] != wanted["category"]) + 60 * (other["type"] != wanted["type"])
        apart += 40 * (other["target"] != wanted["target"]) + 30 * abs(other["priority"] - wanted["priority"])
        return float(apart + abs(other["basePower"] - wanted["basePower"]))

    return min((name for name in DATA["pp"] if name in moves and plays("moves", name)), key=distance)
