"""Facts of moves, types and abilities as arrays, indexed by vocabulary ids, one table per generation.

An index into a table is an id minus the first id of its region of the vocabulary: 0 is NONE, 1 UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import product
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from agents.mechanics.moves import move_facts
from agents.mechanics.status import ability_prevents, needs_effect, type_prevents
from agents.mechanics.type_chart import effectiveness
from agents.observation.columns import FIELD, FieldId, PokemonId
from agents.observation.vocabulary import vocabulary
from agents.rules.batched.player import Floats, Ids, Mask

#: The statuses that moves inflict, in the order in which `array:status` prefers them.
STATUSES = ("slp", "par", "brn", "tox", "psn")
NO_STATUS = len(STATUSES)
#: The stats of the user that setting up raises.
RISING = ("atk", "spa", "spe")
#: Entry hazards, as moves name them.
HAZARDS = ("spikes", "stealthrock", "toxicspikes", "stickyweb")
NO_HAZARD = len(HAZARDS)
_Table = TypeVar("_Table")


class MoveTable(NamedTuple):
    """Facts of status moves, [generations, moves]; damaging moves have none.

    heal: fraction of the maximum HP. rest: it is Rest. rises: stats of `RISING` that it raises, [generations, moves, 3].
    status: index in `STATUSES`, or NO_STATUS. hazard: index in `HAZARDS`, or NO_HAZARD. powder: Grass types are immune.
    by_type: it has no effect on types that are immune to its own.
    """

    heal: Floats
    rest: Mask
    rises: Mask
    status: NDArray[np.int64]
    hazard: NDArray[np.int64]
    powder: Mask
    by_type: Mask


def generations(token_ids: Ids, table: Callable[[tuple[int, ...]], _Table]) -> tuple[NDArray[np.int64], _Table]:
    """Return the index [n] of each decision's generation in a table, and the table of the generations that occur."""
    first = vocabulary().region("gens")["1"]
    found, index = np.unique(token_ids[:, FIELD, FieldId.GENERATION] - first + 1, return_inverse=True)
    return index, table(tuple(found.tolist()))


def indices(kind: str, ids: Ids) -> NDArray[np.int64]:
    """Return ids as indices into tables of a region; padding is NONE."""
    return np.maximum(ids.astype(np.int64) - vocabulary().region(kind).none, 0)


def type_indices(tokens: Ids) -> NDArray[np.int64]:
    """Return the types [..., 2] of Pokémon as indices into `charts`. tokens: ids of their tokens, [..., 12]."""
    return indices("types", tokens[..., PokemonId.TYPE_1 : PokemonId.TYPE_2 + 1])


@lru_cache(maxsize=64)
def charts(gens: tuple[int, ...]) -> Floats:
    """Return the effectiveness [generations, attacking type, both types of the target]; 0 for the attacking type NONE."""
    one = np.stack([_chart(gen) for gen in gens])
    return one[..., :, None] * one[..., None, :]


def effects(chart: Floats, index: NDArray[np.int64], kind: NDArray[np.int64], target: NDArray[np.int64]) -> Floats:
    """Return the effectiveness of types `kind` [n, ...] against targets [n, ..., 2]. chart, index: of `generations`.

    The four indices are made one, which is several times as fast as an index of four arrays.
    """
    types = chart.shape[1]
    of_generation = index.reshape(-1, *(1,) * (kind.ndim - 1))
    return chart.ravel().take(((of_generation * types + kind) * types + target[..., 0]) * types + target[..., 1])


@lru_cache(maxsize=64)
def moves(gens: tuple[int, ...]) -> MoveTable:
    """Return the facts of all moves of generations."""
    return MoveTable(*map(np.stack, zip(*map(_moves, gens), strict=True)))


@lru_cache(maxsize=64)
def preventing_types(gens: tuple[int, ...]) -> Mask:
    """Return whether a type prevents a status, [generations, STATUSES and NO_STATUS, types]."""
    region = vocabulary().region("types")
    prevents = np.zeros((len(gens), len(STATUSES) + 1, len(region)), dtype=np.bool_)
    for (index, gen), (row, status) in product(enumerate(gens), enumerate(STATUSES)):
        for name, token_id in region.items():
            prevents[index, row, token_id - region.none] = type_prevents(name.upper(), status, gen)
    return prevents


@lru_cache(maxsize=1)
def preventing_abilities() -> Mask:
    """Return whether an ability prevents a status, [STATUSES and NO_STATUS, abilities]."""
    region = vocabulary().region("abilities")
    prevents = np.zeros((len(STATUSES) + 1, len(region)), dtype=np.bool_)
    for (row, status), (name, token_id) in product(enumerate(STATUSES), region.items()):
        prevents[row, token_id - region.none] = ability_prevents(name, status)
    return prevents


@lru_cache(maxsize=16)
def _chart(gen: int) -> Floats:
    """Return the effectiveness [attacking type, type of the target] of a generation."""
    region = vocabulary().region("types")
    chart = np.ones((len(region), len(region)), dtype=np.float32)
    chart[0] = 0.0
    for kind, row in region.items():
        for target, column in region.items():
            chart[row - region.none, column - region.none] = effectiveness(gen, kind.upper(), (target.upper(),))
    return chart


@lru_cache(maxsize=16)
def _moves(gen: int) -> MoveTable:
    """Return the facts of all moves of a generation, without the first axis."""
    region = vocabulary().region("moves")
    size = len(region)
    table = MoveTable(
        heal=np.zeros(size, dtype=np.float32),
        rest=np.zeros(size, dtype=np.bool_),
        rises=np.zeros((size, len(RISING)), dtype=np.bool_),
        status=np.full(size, NO_STATUS),
        hazard=np.full(size, NO_HAZARD),
        powder=np.zeros(size, dtype=np.bool_),
        by_type=np.zeros(size, dtype=np.bool_),
    )
    for name, token_id in region.items():
        move = move_facts(name, gen)
        if not move.damages:
            row, raised = token_id - region.none, {stat for stat, rise in move.self_boosts if rise > 0}
            table.heal[row], table.rest[row] = move.heal, move.id == "rest"
            table.rises[row] = [stat in raised for stat in RISING]
            table.status[row] = STATUSES.index(move.status) if move.status in STATUSES else NO_STATUS
            table.hazard[row] = HAZARDS.index(move.hazard) if move.hazard in HAZARDS else NO_HAZARD
            table.powder[row] = gen >= 6 and "powder" in move.flags
            table.by_type[row] = needs_effect(move, gen)
    return table
