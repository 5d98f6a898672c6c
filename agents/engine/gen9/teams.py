"""A packed team as the words of a side, from gen9.json (scripts/build/make_gen9_data.mjs)."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.engine.checks import EVS, IVS, LEVELS, number_in
from agents.engine.gen9.layout import SIDE
from agents.engine.gen9.played import DATA, plays
from teamsets.errors import BadInput

NUMBERS: dict[str, dict[str, int]] = DATA["numbers"]
#: Number -> id, of all kinds.
IDS: dict[int, str] = {number: name for kind in NUMBERS.values() for name, number in kind.items()}
SPECIES: dict[str, int] = {species["id"]: n for n, species in enumerate(DATA["species"])}
TYPES: list[str] = DATA["types"]


@functools.lru_cache(maxsize=16384)
def to_id(text: str) -> str:
    """Showdown's id of a name."""
    return "".join(c for c in text.lower() if c.isalnum())


def nickname(name: str, species: str) -> str:
    """What Showdown calls a member of a packed team, by its first two fields: without a name of its own by its species."""
    own = DATA["species"][SPECIES[to_id(species or name)]]
    return str(own["base"]) if not species or not name or name == own["name"] else name[:20]


def shown_details(mon: Any, name: str) -> str:
    """A Pokémon's details in Showdown's words: a name of its species, level, gender. mon: its record (layout.h)."""
    level = "" if mon["level"] == 100 else f", L{mon['level']}"
    return f"{name}{level}{('', ', M', ', F')[mon['gender']]}"


def _number(name: str, kind: str, text: str) -> int:
    if not plays(kind, to_id(text)):
        raise BadInput(f"{name}: the generation-9 engine does not play {text!r} ({kind}).")
    return NUMBERS[kind][to_id(text)]


def _six(what: str, text: str, default: str) -> list[str]:
    parts = [part or default for part in (text.split(",") if text else [default] * 6)]
    if len(parts) != 6:
        raise BadInput(f"{what} '{text}': six numbers are needed, of HP, Atk, Def, SpA, SpD and Spe.")
    return parts


def _points(name: str, evs: str, ivs: str) -> list[int]:
    """IV + EV / 4 of each stat, from HP on."""
    return [
        number_in(f"{name}: IVs", iv, IVS) + number_in(f"{name}: EVs", ev, EVS) // 4
        for iv, ev in zip(_six(f"{name}: IVs", ivs, "31"), _six(f"{name}: EVs", evs, "0"), strict=True)
    ]


def _stats(species: int, level: int, points: list[int], plus: int, minus: int) -> list[int]:
    base: list[int] = DATA["species"][species]["stats"]
    stats = [(2 * base[k] + points[k]) * level // 100 + (level + 10 if k == 0 else 5) for k in range(6)]
    if plus >= 0:
        stats[plus + 1] = stats[plus + 1] * 110 // 100
    if minus >= 0:
        stats[minus + 1] = stats[minus + 1] * 90 // 100
    return stats


@functools.lru_cache(maxsize=16384)
def side_words(packed: str, seat: int) -> NDArray[Any]:
    """A side before the start, a record of type SIDE. Raises BadInput for what the engine does not play."""
    side = np.zeros((), SIDE)
    members = packed.split("]")
    if not 1 <= len(members) <= 6:
        raise BadInput(f"A team has 1 to 6 Pokémon, not {len(members)}.")
    side["size"] = len(members)
    for place, member in enumerate(members):
        side["order"][place] = 1 + 6 * seat + place
        _put(side["pokemon"][place], member, seat, place)
    side.flags.writeable = False
    return side


def _put(mon: Any, packed: str, seat: int, place: int) -> None:
    """packed: nickname|species|item|ability|moves|nature|evs|gender|ivs|shiny|level|happiness,,,,,tera type."""
    fields = packed.split("|") + [""] * 12
    name = fields[1] or fields[0]
    if to_id(name) not in SPECIES or DATA["species"][SPECIES[to_id(name)]]["battleOnly"]:
        raise BadInput(f"the generation-9 engine does not play {name}.")
    level = number_in(f"{name}: level", fields[10] or "100", LEVELS)
    points = _points(name, fields[6], fields[8])
    nature = to_id(fields[5]) or "serious"
    if nature not in DATA["natures"]:
        raise BadInput(f"{name}: {fields[5]!r} is no nature: as Jolly, or empty for one without effect.")
    plus, minus = DATA["natures"][nature]
    stats = _stats(SPECIES[to_id(name)], level, points, plus, minus)
    tera = [*fields[11].split(","), *[""] * 6][5]
    # Showdown's validator writes a type's own name; in a battle it does not change what it reads.
    if tera not in TYPES:
        raise BadInput(f"{name}: {tera!r} is no tera type: as Water, with a capital letter.")
    genders = {"N": 0, "M": 1, "F": 2, "": -1}
    gender: str = fields[7] or DATA["species"][SPECIES[to_id(name)]]["gender"]
    if gender not in genders:
        raise BadInput(f"{name}: {gender!r} is no gender.")
    mon["gender"] = genders[gender]
    mon["number"], mon["side"], mon["position"] = 6 * seat + place, seat, place
    mon["level"], mon["hp"], mon["maxhp"] = level, stats[0], stats[0]
    mon["points"], mon["plus"], mon["minus"] = points, plus, minus
    for field in ("species", "baseSpecies", "setSpecies"):
        mon[field] = SPECIES[to_id(name)]
    for field in ("ability", "baseAbility", "setAbility"):
        mon[field] = _number(name, "abilities", fields[3])
    mon["item"] = _number(name, "items", fields[2]) if fields[2] else 0
    mon["teraType"], mon["canTerastallize"] = TYPES.index(tera), 1
    mon["baseStoredStats"] = stats[1:]
    moves = fields[4].split(",")
    if not 1 <= len(moves) <= 4:
        raise BadInput(f"{name} has {len(moves)} moves.")
    mon["moveCount"] = len(moves)
    for slot, move in enumerate(moves):
        mon["moveSlots"][slot]["id"] = _number(name, "moves", move)
        mon["moveSlots"][slot]["pp"] = mon["moveSlots"][slot]["maxpp"] = DATA["pp"][to_id(move)]
