"""Species, moves and types of generation 1 as arrays, from gen1.json (scripts/build/make_engine_data.mjs)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from agents.engine.gen1 import layout as W

DATA: dict[str, Any] = json.loads((Path(__file__).parent / "gen1.json").read_text())
SPECIES_BY_ID: dict[str, dict[str, Any]] = {species["id"]: species for species in DATA["species"]}
MOVES_BY_ID: dict[str, dict[str, Any]] = {move["id"]: move for move in DATA["moves"]}
MOVE_IDS = ["", *(move["id"] for move in DATA["moves"]), "nomove", "cannotmove"]

#: What a request lists besides moves: the rest after Hyper Beam, and "Fight".
RECHARGE_ENTRY, FIGHT_ENTRY = 168, 169
ENTRIES = [*MOVE_IDS, "recharge", "fight"]
#: An entry's place in the alphabetical order of ids.
RANK = np.argsort(np.argsort(ENTRIES)).astype(np.int32)

NO_TYPE = len(DATA["types"])  # Showdown's "???"
STRUGGLE = 165
NO_MOVE = 166  # the move of one that was thawed before its team chose any
CANNOT_MOVE = 167

#: Showdown's name of a status -> the engine's.
STATUSES = {
    "": W.HEALTHY, "brn": W.BURN, "par": W.PARALYSIS, "slp": W.SLEEP, "frz": W.FREEZE, "psn": W.POISON, "tox": W.TOX,
    "fnt": W.FAINTED,
}  # fmt: skip
VOLATILES = [
    "", "focusenergy", "disable", "reflect", "partiallytrapped", "minimize", "confusion", "lightscreen", "leechseed",
    "substitute", "bide", "mist", "defensecurl", "flinch", "mustrecharge", "rage", "lockedmove", "partialtrappinglock",
]  # fmt: skip
SKIPS_LAST_DAMAGE = {
    "confuseray", "conversion", "counter", "focusenergy", "glare", "haze", "leechseed", "lightscreen", "mimic", "mist",
    "poisongas", "poisonpowder", "recover", "reflect", "rest", "softboiled", "splash", "stunspore", "substitute",
    "supersonic", "teleport", "thunderwave", "toxic", "transform",
}  # fmt: skip
TWO_TURN_MOVES = {"dig", "fly", "razorwind", "skullbash", "skyattack", "solarbeam"}
PHYSICAL, STATUS_MOVE = 0, 2

(
    TYPE, CATEGORY, POWER, ACCURACY, PP, PRIORITY, HIGH_CRIT, SELF, IGNORES_IMMUNITY, STATUS, GIVES, BOOST_1, BY_1, BOOST_2,
    BY_2, GIVES_SELF, FIXED, MULTIHIT, DRAINS, RECOIL, OHKO, SELFDESTRUCT, CHANCE, SECOND_STATUS, SECOND_GIVES,
    SECOND_BOOST_1, SECOND_BY_1, SECOND_BOOST_2, SECOND_BY_2, TWO_TURNS, SKIPS, BURNS,
) = range(32)  # fmt: skip


def _two(boosts: list[list[int]]) -> list[int]:
    """Two boosts as [stat, by, stat, by]; -1 for no stat."""
    flat = [number for boost in boosts for number in boost]
    return flat + [-1, 0] * ((4 - len(flat)) // 2)


def _move_row(move: dict[str, Any]) -> list[int]:
    second = move["secondary"] or {"chance": 0, "status": "", "volatile": "", "boosts": []}
    # Chances of 256. Confusion comes once less in 256.
    chance = -(-second["chance"] * 256 // 100) - (second["volatile"] == "confusion") if move["secondary"] else 0
    first = _two(move["boosts"])
    recoil = move["recoil"][1] // move["recoil"][0] if move["recoil"] else 0  # one part in so many
    return [
        move["type"],
        ["Physical", "Special", "Status"].index(move["category"]),
        move["power"],
        move["accuracy"] * 255 // 100,
        move["pp"],
        move["priority"],
        int(move["crit"] == 2),
        int(move["self"]),
        int(move["ignoresImmunity"]),
        STATUSES[move["status"]],
        VOLATILES.index(move["volatile"]),
        *first,
        VOLATILES.index(move["selfVolatile"]),
        move["fixed"],
        move["multihit"],
        int(bool(move["drain"])),
        recoil,
        int(move["ohko"]),
        int(move["selfdestruct"]),
        chance,
        STATUSES[second["status"]],
        VOLATILES.index(second["volatile"]),
        *_two(second["boosts"]),
        int(move["id"] in TWO_TURN_MOVES),
        int(move["id"] in SKIPS_LAST_DAMAGE),
        int(second["status"] == "brn"),
    ]


_NO_MOVE = dict(MOVES_BY_ID["fissure"], power=102, ohko=False, type=NO_TYPE, category="Special", accuracy=0, pp=10)
MOVE = np.array(
    [
        [0] * 32,
        *(_move_row(move) for move in DATA["moves"]),
        _move_row(_NO_MOVE),
        _move_row(dict(_NO_MOVE, power=0)),
    ],
    np.int32,
)
MOVE[NO_MOVE, ACCURACY] = int(100 * 81 / 256 * 255 / 100)
# Whose accuracy is 0 never misses.

SPECIES_TYPES = np.array([[-1, -1], *((*s["types"], -1)[:2] for s in DATA["species"])], np.int32)
BASE_SPEED = np.array([0, *(s["stats"][5] for s in DATA["species"])], np.int32)
#: [16, 16]: attacking type, defending type -> 0 immune, 1 resisted, 2 neutral, 3 super effective.
CHART = np.full((NO_TYPE + 1, NO_TYPE + 1), 2, np.int32)
CHART[:NO_TYPE, :NO_TYPE] = DATA["chart"]
METRONOME_MOVES = np.array([move["num"] for move in DATA["moves"] if move["metronome"]], np.int32)


def move(name: str) -> int:
    """The number of a move by its id."""
    return int(MOVES_BY_ID[name]["num"])


def volatile(name: str) -> int:
    """The number of a condition, as in the columns GIVES and GIVES_SELF of MOVE."""
    return VOLATILES.index(name)


def most_pp(known: dict[str, Any]) -> int:
    """The PP of a move of DATA with all PP Ups."""
    ups = 0 if known["noPpUps"] else 3
    return int(known["pp"] * (5 + ups) // 5 - (ups if known["pp"] == 40 else 0))
