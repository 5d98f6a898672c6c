"""Tables for observations: the project's vocabulary, facts of moves and published sets, by the engine's numbers."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from poke_env.data import GenData

from agents.engine.gen1 import layout as W
from agents.engine.gen1.tables import DATA, ENTRIES, MOVE_IDS, STATUSES, most_pp
from agents.mechanics.critical_hits import critical_chance_of
from agents.mechanics.fighters import stats_of
from agents.mechanics.moves import move_facts
from agents.mechanics.sets import candidates, guess
from agents.observation.estimates import NO_MOVE
from agents.observation.packed_tokens import move_token
from agents.observation.vocabulary import vocabulary
from teamsets.builder.published import STATS

_words = vocabulary()
_types = [name.upper() for name in DATA["types"]]
_species = [species["id"] for species in DATA["species"]]


def _ids(region: str, names: list[str]) -> NDArray[np.int16]:
    return np.array([_words.region(region)[name] for name in names], np.int16)


GENERATION = _words.region("gens")["1"]
NO_WEATHER = _words.region("weathers").none
NO_ITEM, UNKNOWN_ITEM = _words.region("items").none, _words.region("items")[GenData.UNKNOWN_ITEM]
NO_ABILITY = _words.region("abilities")["noability"]
NO_TERA = _words.region("tera_types").none
NO_SPECIES_TYPE, NO_MOVE_WORD, UNKNOWN_MOVE = (
    _words.region("types").none,
    _words.region("moves").none,
    _words.region("moves").unknown,
)
#: Species, item, ability and four moves of a Pokémon that was not seen yet.
UNKNOWN_MON = np.array(
    [_words.region(region).unknown for region in ("species", "items", "abilities", *("moves",) * 4)], np.int16
)
SPECIES_WORD = np.concatenate([[0], _ids("species", _species)]).astype(np.int16)
MOVE_WORD = _ids("moves", ENTRIES)
LAST_WORD = _ids("last_moves", ENTRIES)
LAST_WORD[0] = _words.region("last_moves").none
TYPE_WORD = _ids("types", [name.lower() for name in _types])
_status_names = {number: name for name, number in STATUSES.items()}
STATUS_WORD = np.array(
    [_words.region("statuses").none] + [_words.region("statuses")[_status_names[k]] for k in range(1, W.FAINTED + 1)],
    np.int16,
)
assert W.HEALTHY == 0

_dex: dict[str, Any] = GenData.from_gen(1).pokedex
BASE_STATS = np.array([[0] * 6, *([_dex[name]["baseStats"][stat] for stat in STATS] for name in _species)], np.int64)
#: Stats (hp, atk, def, spa, spd, spe) [species, level] of a set with perfect DVs and all stat experience.
FULL_STATS = np.array(
    [[[0] * 6] * 101]
    + [
        [[0] * 6]
        + [[stats_of(1, name, level, "serious", (252,) * 6)[stat] for stat in STATS] for level in range(1, 101)]
        for name in _species
    ],
    np.int64,
)

_facts = [move_facts(name, 1) for name in ENTRIES]
#: The attacking type, -1 for none; [defending type] -> factor.
MOVE_TYPE = np.array([_types.index(fact.type) if fact.type in _types else -1 for fact in _facts], np.int64)
_chart = GenData.from_gen(1).type_chart
EFFECT = np.array([[_chart.get(own, {}).get(kind, 1.0) for own in _types] for kind in _types])
DAMAGES = np.array([fact.damages for fact in _facts])
SPECIAL = np.array([int(fact.category == "special") for fact in _facts], np.int64)
MOVE_POWER = np.array([fact.power for fact in _facts])
MOVE_ACCURACY = np.array([fact.accuracy for fact in _facts])
MOVE_HITS = np.array([float(fact.hits) for fact in _facts])
HIGH_CRITICAL = np.array([fact.crit_stage > 0 for fact in _facts])
EXPLODES = np.array([fact.explodes for fact in _facts])
ALWAYS_HITS_TYPES = np.array([fact.id == "struggle" or fact.fixed not in ("", "unknown") for fact in _facts])
NEEDS_SLEEP = np.array([fact.id == "dreameater" for fact in _facts])
#: Damage without the formula: NO_FIXED, ONE_HIT, HALF, BY_LEVEL, or the HP.
NO_FIXED, ONE_HIT, HALF, BY_LEVEL = 0.0, -1.0, -2.0, -3.0
_FIXED = {"": NO_FIXED, "unknown": NO_FIXED, "ohko": ONE_HIT, "half": HALF, "level": BY_LEVEL, "random": BY_LEVEL}
MOVE_FIXED = np.array([_FIXED[fact.fixed] if fact.fixed in _FIXED else float(fact.fixed) for fact in _facts])
#: Probability of a critical hit [species, high critical-hit ratio].
CRITICAL = np.array(
    [[0.0, 0.0]] + [[critical_chance_of(int(stats[5]), high) for high in (False, True)] for stats in BASE_STATS[1:]]
)


def _token(name: str) -> tuple[NDArray[np.int16], NDArray[np.float32]]:
    ids, features = move_token({"id": name, "move": name}, 1, NO_MOVE)
    return np.frombuffer(ids, np.int16)[:3], np.frombuffer(features, np.float32)[9:22]


MOVE_TOKEN = np.stack([_token(name or "fight")[0] for name in ENTRIES])
MOVE_CONSTANTS = np.stack([_token(name or "fight")[1] for name in ENTRIES])
MAX_PP = np.array([0, *(most_pp(known) for known in DATA["moves"]), *[0] * 4], np.int64)
#: The same as poke-env counts it.
SHOWN_MAX_PP = np.array([1] + [min(61, known["pp"] * 8 // 5) for known in DATA["moves"]] + [1] * 4, np.int64)


class Sets(NamedTuple):
    """Published sets of a format: those of species k are first[k] to first[k + 1] - 1.

    weights [S]; moves, chances [S, M]: padded with move 0. typical [species, 2]: moves assumed of a species without sets
    while it has shown fewer than four, with probability `TYPICAL`.
    """

    first: NDArray[np.int64]
    weights: NDArray[np.float64]
    moves: NDArray[np.int64]
    chances: NDArray[np.float64]
    typical: NDArray[np.int64]


TYPICAL = 0.8
#: Move id -> number.
_NUMBERS = {name: number for number, name in enumerate(MOVE_IDS)}


@cache
def sets_of(format_id: str) -> Sets:
    """The published sets of a format, as agents.mechanics.sets has them."""
    sets_by_species = [candidates(format_id, 1, name) for name in _species]
    flat = [candidate for sets in sets_by_species for candidate in sets]
    widest = max((len(candidate.moves) for candidate in flat), default=1)
    moves, chances = np.zeros((len(flat), widest), np.int64), np.zeros((len(flat), widest))
    for row, candidate in enumerate(flat):
        for column, (name, chance) in enumerate(candidate.moves.items()):
            moves[row, column], chances[row, column] = _NUMBERS[name], chance
    typical = np.zeros((len(_species) + 1, 2), np.int64)
    for number, (name, sets) in enumerate(zip(_species, sets_by_species, strict=True), 1):
        if not sets:
            assumed = [_NUMBERS[move] for move, _ in guess(format_id, 1, name, ()).moves]
            typical[number, : len(assumed)] = assumed
    first = np.cumsum([0, 0, *(len(sets) for sets in sets_by_species)])
    return Sets(first.astype(np.int64), np.array([c.weight for c in flat], np.float64), moves, chances, typical)
