"""Tables for observations of the generation-9 engine: the project's vocabulary and facts, by the engine's numbers.

They are what src/shown/observe.h calls Facts.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from poke_env.battle.field import Field
from poke_env.battle.pokemon_type import PokemonType
from poke_env.data import GenData

from agents.engine.gen9.played import DATA
from agents.engine.gen9.teams import IDS, NUMBERS, to_id
from agents.engine.gen9.teams import SPECIES as SPECIES_NUMBERS
from agents.observation.estimates import NO_MOVE
from agents.observation.packed_tokens import move_token
from agents.observation.pokemon_tokens import most_pp
from agents.observation.vocabulary import vocabulary
from teamsets.builder.published import STATS

GEN = 9
_DEX: dict[str, Any] = GenData.from_gen(GEN).pokedex
_MOVE_CONSTANTS = 13
#: Ids of species, by their numbers.
SPECIES = tuple(SPECIES_NUMBERS)
#: Name of each move, ability, item and condition, by its number; 0: "".
EFFECTS: tuple[str, ...] = ("", *(IDS[number] for number in sorted(IDS)))
#: poke-env's type of each of the engine's numbers; the last one is ???, which no move and no terastallized Pokémon is of.
TYPES = (*(PokemonType[name.upper()] for name in DATA["types"]), PokemonType.THREE_QUESTION_MARKS)
_REGIONS = ("abilities", "items", "statuses", "weathers")


class Facts(ctypes.Structure):
    """Facts of src/shown/observe.h."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in (
            "word", "field_word", "move_word", "last_word", "move_token", "move_constants", "max_pp", "move_rank",
            "species_word", "base_stats", "species_types", "base", "only_ability", "previewed", "type_word", "tera_word",
        )),
        *((name, ctypes.c_int16) for name in (
            "generation", "no_weather", "no_item", "unknown_item", "unknown_ability", "unknown_move", "no_move", "no_last",
            "no_type", "unknown_tera", "no_status", "fainted", "unknown_species",
        )),
        ("padding", ctypes.c_int16 * 3),
    )  # fmt: skip


def _of_effects() -> dict[str, NDArray[Any]]:
    names = vocabulary()
    count = len(EFFECTS)
    word, field = np.zeros(count, np.int16), np.full(count, -1, np.int16)
    for region in _REGIONS:
        for name, number in names.region(region).items():
            for kind in (region, "conditions") if region in NUMBERS else ("conditions",):
                if name in NUMBERS[kind]:
                    word[NUMBERS[kind][name]] = number
    fields = {one.name.lower().replace("_", ""): one.name.lower() for one in Field}
    for number, effect in enumerate(EFFECTS):
        if effect in fields:
            field[number] = names.region("fields")[fields[effect]]
    moves = NUMBERS["moves"]
    rank, token = np.zeros(count, np.int32), np.zeros((count, 3), np.int16)
    constants, most = np.zeros((count, _MOVE_CONSTANTS), np.float32), np.ones(count)
    move_word, last_word = np.zeros(count, np.int16), np.zeros(count, np.int16)
    known = GenData.from_gen(GEN).moves
    for place, (name, number) in enumerate(sorted(moves.items())):
        rank[number] = place
        move_word[number], last_word[number] = names.region("moves")[name], names.region("last_moves")[name]
        ids, features = move_token({"id": name, "move": name}, GEN, NO_MOVE)
        token[number] = np.frombuffer(ids, np.int16)[:3]
        constants[number] = np.frombuffer(features, np.float32)[9 : 9 + _MOVE_CONSTANTS]
        most[number] = most_pp(name, GEN) if name in known else 1
    return {
        "word": word, "field_word": field, "move_word": move_word, "last_word": last_word, "move_token": token,
        "move_constants": constants, "max_pp": most, "move_rank": rank,
    }  # fmt: skip


def _of_species() -> dict[str, NDArray[Any]]:
    region = vocabulary().region("species")
    entries = [_DEX[name] for name in SPECIES]
    bases = [to_id(entry["baseSpecies"]) for entry in entries]
    types = [[TYPES.index(PokemonType.from_name(kind)) for kind in entry["types"]] for entry in entries]
    abilities = [[to_id(ability) for ability in entry["abilities"].values()] for entry in entries]
    previews = [to_id(entry["preview"]) for entry in DATA["species"]]
    return {
        "species_word": np.array([region[name] for name in SPECIES], np.int16),
        "base_stats": np.array([[entry["baseStats"][stat] / 200 for stat in STATS] for entry in entries], np.float32),
        "species_types": np.array([(*own, -1)[:2] for own in types], np.int32),
        "base": np.array([bases.index(base) for base in bases], np.int32),
        "only_ability": np.array([NUMBERS["abilities"].get(own[0], 0) * (len(own) == 1) for own in abilities], np.int32),
        "previewed": np.array([SPECIES_NUMBERS[name] for name in previews], np.int32),
    }  # fmt: skip


@cache
def tables() -> dict[str, NDArray[Any]]:
    """All tables by their names in `Facts`."""
    names = vocabulary()
    kinds = [kind.name.lower() for kind in TYPES]
    return {
        **_of_effects(),
        **_of_species(),
        "type_word": np.array([0, *(names.region("types")[kind] for kind in kinds)], np.int16),
        "tera_word": np.array([0, *(names.region("tera_types")[kind] for kind in kinds[:-1])], np.int16),
    }


@cache
def facts() -> Facts:
    """All tables for the library. They are kept as long as the process lives."""
    names = vocabulary()
    region = names.region
    found = Facts(
        generation=region("gens")[str(GEN)],
        no_weather=region("weathers").none,
        no_item=region("items").none,
        unknown_item=region("items").unknown,
        unknown_ability=region("abilities").unknown,
        unknown_move=region("moves").unknown,
        no_move=region("moves").none,
        no_last=region("last_moves").none,
        no_type=region("types").none,
        unknown_tera=region("tera_types").unknown,
        no_status=region("statuses").none,
        fainted=region("statuses")["fnt"],
        unknown_species=region("species").unknown,
    )
    for name, array in tables().items():
        setattr(found, name, np.ascontiguousarray(array).ctypes.data)
    return found
