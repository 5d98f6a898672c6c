"""A battle's state as numbers, in the order in which scripts/parity/engine_oracle.mjs takes them from Showdown; its hash."""

from __future__ import annotations

from pathlib import Path

import numba
import numpy as np
from numpy.typing import NDArray

from agents.engine.compiled import kernel_with, rule
from agents.engine.gen1.layout import (
    BIDE_DAMAGE,
    BIDE_TIME,
    BOOSTS,
    CONFUSED,
    DISABLE_SLOT,
    DISABLE_TIME,
    FAINTED_THIS_TURN,
    FAKE_OTHER,
    FAKE_TRAPPED,
    FLINCH,
    FOCUS_ENERGY,
    INVULNERABLE,
    LAST_DAMAGE,
    LAST_ENEMY_MOVE,
    LAST_ENEMY_SELECTED,
    LAST_MOVE,
    LAST_SELECTED,
    LAST_SLOT,
    LEECH_SEED,
    LEFT,
    LIGHT_SCREEN,
    MIST,
    MODIFIED,
    MON_HP,
    MON_MAX_HP,
    MON_MOVE_COUNT,
    MON_PP,
    MON_SLEEP,
    MON_STATS,
    MON_STATUS,
    MON_SUB_BROKEN,
    MON_WORDS,
    MONS,
    MOVE_COUNT,
    MOVES,
    ORDER,
    RAGE,
    RAGE_ACCURACY,
    RECHARGE,
    REFLECT,
    RESIDUAL,
    RESIDUAL_COUNT,
    SEED,
    SLEEP,
    SPECIES,
    SPEED,
    STORED,
    SUBSTITUTE,
    TEAM_SIZE,
    THRASH,
    THRASH_ACCURACY,
    THRASH_TIME,
    TRANSFORMED,
    TRAPPED,
    TRAPPED_BY,
    TRAPPED_MAYBE,
    TRAPPING,
    TRAPPING_DAMAGE,
    TRAPPING_TOTAL,
    TRAPPING_WHOM,
    TURN,
    TWO_TURN,
    TYPE_1,
    TYPE_2,
)  # fmt: skip
from agents.engine.gen1.state import pp_at, side_of

_kernel = kernel_with(Path(__file__))
MOST = 400  # numbers of a state at most

#: Words of a side in the order of the oracle, each with the word that must not be 0 for it to count (-1: always).
_CONDITIONS = np.array(
    [
        (BIDE_TIME, -1), (BIDE_DAMAGE, BIDE_TIME), (TWO_TURN, -1), (INVULNERABLE, -1), (TRAPPED, -1), (TRAPPED_BY, TRAPPED),
        (TRAPPED_MAYBE, TRAPPED), (FAKE_TRAPPED, -1), (FAKE_OTHER, FAKE_TRAPPED), (TRAPPING, -1), (TRAPPING_TOTAL, TRAPPING),
        (TRAPPING_DAMAGE, TRAPPING), (TRAPPING_WHOM, TRAPPING), (RECHARGE, -1), (THRASH_TIME, THRASH),
        (THRASH_ACCURACY, THRASH), (RAGE, -1), (RAGE_ACCURACY, RAGE), (CONFUSED, -1), (DISABLE_TIME, -1),
        (DISABLE_SLOT, DISABLE_TIME), (FLINCH, -1),
        (FOCUS_ENERGY, -1), (LEECH_SEED, -1), (LIGHT_SCREEN, -1), (REFLECT, -1), (MIST, -1),
    ],
    np.int32,
)  # fmt: skip
_HEAD = np.array([LEFT, LAST_SELECTED, LAST_SLOT, LAST_ENEMY_SELECTED, LAST_ENEMY_MOVE, FAINTED_THIS_TURN], np.int32)
_OUT = np.array([SPEED, BOOSTS + 5, BOOSTS + 6, MOVE_COUNT, TRANSFORMED, LAST_MOVE], np.int32)
_MON = np.array([MON_HP, MON_MAX_HP, MON_STATUS, MON_SLEEP, MON_SUB_BROKEN, *range(MON_STATS, MON_STATS + 5)], np.int32)


@rule
def canonical(b, numbers):
    """Writes the state's numbers; returns how many."""
    n = 0
    for word in range(SEED, SEED + 4):
        numbers[n] = b[word]
        n += 1
    numbers[n], numbers[n + 1] = b[TURN], b[LAST_DAMAGE]
    n += 2
    for i in range(2):
        n = _side(b, side_of(i), numbers, n)
    return n


@rule
def _side(b, s, numbers, n):
    for word in _HEAD:
        numbers[n] = b[s + word]
        n += 1
    for position in range(b[s + TEAM_SIZE]):
        numbers[n] = b[s + ORDER + position]
        n += 1
    numbers[n], numbers[n + 1], numbers[n + 2] = b[s + SPECIES], b[s + TYPE_1], b[s + TYPE_2]
    n += 3
    for stat in range(5):
        numbers[n], numbers[n + 1] = b[s + STORED + stat], b[s + MODIFIED + stat]
        numbers[n + 2] = b[s + BOOSTS + stat]
        n += 3
    for word in _OUT:
        numbers[n] = b[s + word]
        n += 1
    for slot in range(b[s + MOVE_COUNT]):
        numbers[n], numbers[n + 1] = b[s + MOVES + slot], b[pp_at(b, s) + slot]
        n += 2
    for k in range(len(_CONDITIONS)):
        needs = _CONDITIONS[k, 1]
        numbers[n] = b[s + _CONDITIONS[k, 0]] if needs < 0 or b[s + needs] else 0
        n += 1
    numbers[n] = b[s + RESIDUAL_COUNT] + 1 if b[s + RESIDUAL] else 0
    numbers[n + 1] = b[s + SUBSTITUTE]
    n += 2
    for k in range(b[s + TEAM_SIZE]):
        mon = s + MONS + k * MON_WORDS
        for word in _MON:
            numbers[n] = b[mon + word] if word != MON_SLEEP or b[mon + MON_STATUS] == SLEEP else 0
            n += 1
        for slot in range(b[mon + MON_MOVE_COUNT]):
            numbers[n] = b[mon + MON_PP + slot]
            n += 1
    return n


@_kernel
def _hashes(battles, rows, found):
    for k in numba.prange(len(rows)):
        numbers = np.zeros(MOST, np.int32)
        n = canonical(battles[rows[k]], numbers)
        h = np.uint32(2166136261)
        for j in range(n):
            h = np.uint32((h ^ np.uint32(numbers[j])) * np.uint32(16777619))
        found[k] = h


def hashes(words: NDArray[np.int32], rows: NDArray[np.int64]) -> NDArray[np.uint32]:
    """The hash (32-bit FNV over numbers) of the battles in those rows."""
    found = np.zeros(len(rows), np.uint32)
    _hashes(words, rows, found)
    return found


@_kernel
def _states(battles, numbers, counts):
    for n in numba.prange(len(battles)):
        counts[n] = canonical(battles[n], numbers[n])


def state(battle: NDArray[np.int32]) -> NDArray[np.int32]:
    """One battle's numbers."""
    numbers, counts = np.zeros((1, MOST), np.int32), np.zeros(1, np.int64)
    _states(battle[None], numbers, counts)
    return numbers[0, : counts[0]]
