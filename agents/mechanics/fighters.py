"""A Pokémon in battle as an immutable value: known facts, and estimates from published sets for hidden ones.

poke-env's objects are only read. Variants ("after Swords Dance", "terastallized") are made with `dataclasses.replace`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, NamedTuple

from poke_env.battle.field import Field
from poke_env.battle.pokemon import Pokemon
from poke_env.battle.pokemon_gender import PokemonGender
from poke_env.battle.pokemon_type import PokemonType
from poke_env.battle.side_condition import SideCondition
from poke_env.battle.status import Status
from poke_env.data import GenData, to_id_str
from poke_env.stats import compute_raw_stats, compute_raw_stats_dvs

from agents.battle.formes import base_species
from agents.battle.seat_view import SeatView
from agents.battle.types import own_tera
from agents.mechanics.moves import MoveFacts, facts_of, move_facts
from agents.mechanics.sets import Guess, guess
from teamsets.builder.published import STATS

#: Boost stage -> factor for the five battle stats.
STAGES = {stage: max(2, 2 + stage) / max(2, 2 - stage) for stage in range(-6, 7)}
_GENDERS: dict[PokemonGender | None, str] = {PokemonGender.MALE: "M", PokemonGender.FEMALE: "F"}


@dataclass(frozen=True, slots=True)
class Fighter:
    """One Pokémon. hp: fraction of its maximum. stats: hp, atk, def, spa, spd, spe before boosts.

    types: current types; base_types: without terastallization. moves: with the probability that it has them. item and
    ability: "" if none or unknown. status: "" or Showdown's three letters. slept: turns asleep so far. guessed: whether
    stats, item or ability are estimates. gender: "M" or "F", "" if it has none.
    """

    species: str
    gen: int
    level: int
    types: tuple[str, ...]
    base_types: tuple[str, ...]
    tera: str
    terastallized: bool
    stats: tuple[int, ...]
    boosts: tuple[tuple[str, int], ...]
    hp: float
    status: str
    item: str
    ability: str
    weight: float
    moves: tuple[tuple[MoveFacts, float], ...]
    effects: frozenset[str]
    first_turn: bool
    must_recharge: bool
    slept: int
    guessed: bool = False
    gender: str = ""

    def stat(self, name: str) -> float:
        """Return a stat before boosts, by name."""
        return self.stats[STATS.index(name)]

    def stage(self, name: str) -> int:
        """Return a boost stage, -6 to 6."""
        for stat, stage in self.boosts:
            if stat == name:
                return stage
        return 0

    def boosted(self, changes: tuple[tuple[str, int], ...]) -> Fighter:
        """Return the fighter after boosts or drops, clipped to -6 and 6."""
        stages = dict(self.boosts)
        for stat, change in changes:
            stages[stat] = max(-6, min(6, stages.get(stat, 0) + change))
        return replace(self, boosts=_packed(stages))

    def as_tera(self) -> Fighter:
        """Return the terastallized fighter. Without a tera type, or as Stellar, it keeps its types."""
        types = (self.tera,) if self.tera and self.tera != "STELLAR" else self.types
        return replace(self, terastallized=True, types=types)


@dataclass(frozen=True, slots=True)
class Conditions:
    """The field's conditions.

    sides: side conditions (Showdown's id -> layers) of (own side, opponent's side). rooms: the other conditions of the
    whole field, as Gravity and Magic Room (Showdown's ids).
    """

    gen: int
    weather: str
    terrain: str
    trick_room: bool
    sides: tuple[dict[str, int], dict[str, int]]
    rooms: frozenset[str] = frozenset()


@lru_cache(maxsize=16)
def empty_field(gen: int) -> Conditions:
    """Return a field without conditions."""
    return Conditions(gen, "", "", False, ({}, {}))


def conditions(battle: SeatView) -> Conditions:
    """Return the current conditions, own side first."""
    fields = list(battle.fields)
    return Conditions(
        gen=battle.gen,
        weather=next((_id(w.name) for w in battle.weather), ""),
        terrain=next((_id(f.name) for f in fields if f.is_terrain), ""),
        trick_room=Field.TRICK_ROOM in battle.fields,
        sides=(_layers(battle.side_conditions), _layers(battle.opponent_side_conditions)),
        rooms=frozenset(_id(f.name) for f in fields if not f.is_terrain),
    )


def _layers(conditions: dict[SideCondition, int]) -> dict[str, int]:
    stackable = ("SPIKES", "TOXIC_SPIKES")
    return {_id(c.name): layers if c.name in stackable else 1 for c, layers in conditions.items()}


class Loadout(NamedTuple):
    """A Pokémon's set without its moves. stats: hp, atk, def, spa, spd, spe before boosts. tera: "" for none."""

    stats: tuple[int, ...]
    item: str
    ability: str
    tera: str


def own_fighter(mon: Pokemon, battle: SeatView) -> Fighter:
    """Return one of our own Pokémon; all facts are known from the request."""
    moves = tuple((facts_of(move), 1.0) for move in mon.moves.values() if move.current_pp)
    return _fighter(mon, battle.gen, own_loadout(mon, battle), _state(mon, moves))


def own_loadout(mon: Pokemon, battle: SeatView, *, as_copied: bool = True) -> Loadout:
    """Return the set of one of our own, from the request. as_copied: after Transform with the stats that it copied."""
    gen, guessed = battle.gen, _own_guess(battle.gen)
    stats = {**stats_of(gen, mon.species, mon.level, guessed.nature, guessed.evs)}
    stats.update({stat: value for stat, value in mon.stats.items() if value})
    if as_copied and mon.transformed:
        stats.update(_copied_stats(mon, battle, guessed))
    if mon.max_hp:
        stats["hp"] = mon.max_hp
    return _loadout(gen, stats, mon.item, mon.ability or "", mon.tera_type or own_tera(mon, battle))


def foe_fighter(mon: Pokemon, battle: SeatView) -> Fighter:
    """Return one of the opponent's Pokémon: revealed facts, and estimates from the sets of its species for the rest."""
    loadout, guessed = foe_loadout(mon, battle)
    moves = tuple((move_facts(move, battle.gen), chance) for move, chance in guessed)
    return replace(_fighter(mon, battle.gen, loadout, _state(mon, moves)), guessed=True)


def foe_loadout(
    mon: Pokemon, battle: SeatView, *, as_copied: bool = True
) -> tuple[Loadout, tuple[tuple[str, float], ...]]:
    """Return the set of one of the opponent's, revealed or estimated, and its moves as (id, probability).

    as_copied: after Transform with the stats that it copied.
    """
    gen = battle.gen
    guessed = guess(battle.format_id, gen, mon.species, tuple(mon.moves))
    species = mon.species if mon.transformed else forme_of(mon, gen)
    stats = stats_of(gen, species, mon.level, guessed.nature, guessed.evs)
    if as_copied and mon.transformed:
        stats = {**stats, **_copied_stats(mon, battle, guessed)}
    item = guessed.item if mon.item == GenData.UNKNOWN_ITEM else mon.item
    ability = mon.ability or guessed.ability
    if not ability and mon.possible_abilities:
        ability = to_id_str(mon.possible_abilities[0])
    return _loadout(gen, stats, item, ability, mon.tera_type or guessed.tera), guessed.moves


def _loadout(gen: int, stats: dict[str, int], item: str | None, ability: str, tera: PokemonType | str) -> Loadout:
    return Loadout(
        tuple(stats[name] for name in STATS),
        item or "" if gen >= 2 and item != GenData.UNKNOWN_ITEM else "",
        ability if gen >= 3 else "",
        tera if isinstance(tera, str) else tera.name,
    )


def well_fighter(mon: Pokemon, gen: int, loadout: Loadout) -> Fighter:
    """Return a Pokémon at full health and without boosts, without its moves."""
    return _fighter(mon, gen, loadout, _WELL)


def _fighter(mon: Pokemon, gen: int, loadout: Loadout, state: dict[str, Any]) -> Fighter:
    """Build a fighter. state: the fields that change during a battle, as returned by `_state`."""
    return Fighter(
        # After Transform its own: items and critical hits go by it.
        species=mon.species if mon.transformed else forme_of(mon, gen),
        gen=gen,
        level=mon.level,
        types=tuple(t.name for t in mon.types),
        base_types=tuple(t.name for t in mon.base_types),
        tera=loadout.tera,
        terastallized=mon.is_terastallized,
        stats=loadout.stats,
        item=loadout.item,
        ability=loadout.ability,
        weight=mon.weight,
        gender=_GENDERS.get(mon.gender, ""),
        **state,
    )


_WELL: dict[str, Any] = {
    "boosts": (),
    "hp": 1.0,
    "status": "",
    "moves": (),
    "effects": frozenset(),
    "first_turn": False,
    "must_recharge": False,
    "slept": 0,
}


def _state(mon: Pokemon, moves: tuple[tuple[MoveFacts, float], ...]) -> dict[str, Any]:
    status = mon.status.name.lower() if mon.status is not None and mon.status != Status.FNT else ""
    return {
        "boosts": _packed(mon.boosts),
        "hp": 0.0 if mon.fainted else mon.current_hp_fraction if mon.max_hp else 1.0,
        "status": status,
        "moves": moves,
        "effects": frozenset(_id(effect.name) for effect in mon.effects),
        "first_turn": bool(mon.first_turn),
        "must_recharge": mon.must_recharge,
        "slept": mon.status_counter if status == "slp" else 0,
    }


def _packed(boosts: dict[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((stat, stage) for stat, stage in boosts.items() if stage))


def _id(name: str) -> str:
    return name.lower().replace("_", "")


@lru_cache(maxsize=16)
def _own_guess(gen: int) -> Guess:
    return Guess((), "", "", "serious", (252,) * 6 if gen <= 2 else (84,) * 6, "")


def forme_of(mon: Pokemon, gen: int) -> str:
    """Return the id of the forme on the field: a mega's, Aegislash-Blade's, or that of the Pokémon that it copies.

    poke-env keeps the species of the team sheet; the base stats are those of the forme.
    """
    species, base = mon.species, mon.base_stats
    if GenData.from_gen(gen).pokedex.get(species, {}).get("baseStats") == base:
        return species
    return _formes(gen).get((() if mon.transformed else base_species(gen, species), *base.values()), species)


@cache
def _formes(gen: int) -> dict[tuple[Any, ...], str]:
    """Return (family, *base stats) -> forme; with () for the family, the first species of all that has these stats."""
    formes: dict[tuple[Any, ...], str] = {}
    for name, entry in GenData.from_gen(gen).pokedex.items():
        stats = tuple(entry.get("baseStats", {}).values())
        formes.setdefault(((), *stats), name)
        formes.setdefault((base_species(gen, name), *stats), name)
    return formes


def _copied_stats(mon: Pokemon, battle: SeatView, guessed: Guess) -> dict[str, int]:
    """Return the stats, without HP, that a transformed Pokémon has copied.

    They are those of the active Pokémon opposite if that is what it copied, else estimates for the copied species.
    """
    gen = battle.gen
    mine = any(member is mon for member in battle.team.values())
    opposite = battle.opponent_active_pokemon if mine else battle.active_pokemon
    several = opposite if isinstance(opposite, list) else [opposite]
    facing = next(
        (each for each in several if each and not each.transformed and each.base_stats == mon.base_stats), None
    )
    if facing is None:
        stats = stats_of(gen, forme_of(mon, gen), mon.level, guessed.nature, guessed.evs)
    else:
        loadout = foe_loadout(facing, battle)[0] if mine else own_loadout(facing, battle)
        stats = dict(zip(STATS, loadout.stats, strict=True))
    return {stat: value for stat, value in stats.items() if stat != "hp"}


@lru_cache(maxsize=20_000)
def stats_of(gen: int, species: str, level: int, nature: str, evs: tuple[int, ...]) -> dict[str, int]:
    """Return the stats of a set by the formulas of its generation, with perfect IVs or DVs. 100 each if unknown."""
    data = GenData.from_gen(gen)
    if species not in data.pokedex:
        return dict.fromkeys(STATS, 100)
    if gen <= 2:
        values = compute_raw_stats_dvs(species, [15] * 6, level, data)
    else:
        values = compute_raw_stats(species, list(evs), [31] * 6, level, nature, data)
    return dict(zip(STATS, values, strict=True))


def estimated_stats(mon: Pokemon, battle: SeatView) -> dict[str, int]:
    """Return all stats of either side's Pokémon: from the request if known, else estimated."""
    fighter = own_fighter(mon, battle) if any(mon.stats.values()) else foe_fighter(mon, battle)
    return dict(zip(STATS, fighter.stats, strict=True))
