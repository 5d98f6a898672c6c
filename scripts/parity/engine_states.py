"""A battle's state as numbers, in the order in which scripts/parity/engine_oracle.mjs takes them from Showdown; its hash."""

from __future__ import annotations

from pathlib import Path

import numba
import numpy as np
from numpy.typing import NDArray

from agents.engine.compiled import compiled, kernel_with
from agents.engine.gen1 import layout as W
from agents.engine.gen1.state import pp_at, side_of

_kernel = kernel_with(Path(__file__))
MOST = 400  # numbers of a state at most

#: Words of a side in the order of the oracle, each with the word that must not be 0 for it to count (-1: always).
_CONDITIONS = np.array(
    [
        (W.BIDE_TIME, -1), (W.BIDE_DAMAGE, W.BIDE_TIME), (W.TWO_TURN, -1), (W.INVULNERABLE, -1), (W.TRAPPED, -1),
        (W.TRAPPED_BY, W.TRAPPED),
        (W.TRAPPED_MAYBE, W.TRAPPED), (W.FAKE_TRAPPED, -1), (W.FAKE_OTHER, W.FAKE_TRAPPED), (W.TRAPPING, -1),
        (W.TRAPPING_TOTAL, W.TRAPPING),
        (W.TRAPPING_DAMAGE, W.TRAPPING), (W.TRAPPING_WHOM, W.TRAPPING), (W.RECHARGE, -1), (W.THRASH_TIME, W.THRASH),
        (W.THRASH_ACCURACY, W.THRASH), (W.RAGE, -1), (W.RAGE_ACCURACY, W.RAGE), (W.CONFUSED, -1), (W.DISABLE_TIME, -1),
        (W.DISABLE_SLOT, W.DISABLE_TIME), (W.FLINCH, -1),
        (W.FOCUS_ENERGY, -1), (W.LEECH_SEED, -1), (W.LIGHT_SCREEN, -1), (W.REFLECT, -1), (W.MIST, -1),
    ],
    np.int32,
)  # fmt: skip
_HEAD = np.array(
    [W.LEFT, W.LAST_SELECTED, W.LAST_SLOT, W.LAST_ENEMY_SELECTED, W.LAST_ENEMY_MOVE, W.FAINTED_THIS_TURN], np.int32
)
_OUT = np.array([W.SPEED, W.BOOSTS + 5, W.BOOSTS + 6, W.MOVE_COUNT, W.TRANSFORMED, W.LAST_MOVE], np.int32)
_MON = np.array(
    [W.MON_HP, W.MON_MAX_HP, W.MON_STATUS, W.MON_SLEEP, W.MON_SUB_BROKEN, *range(W.MON_STATS, W.MON_STATS + 5)],
    np.int32,
)


@compiled
def canonical(b, numbers):
    """Writes the state's numbers; returns how many."""
    n = 0
    for word in range(W.SEED, W.SEED + 4):
        numbers[n] = b[word]
        n += 1
    numbers[n], numbers[n + 1] = b[W.TURN], b[W.LAST_DAMAGE]
    n += 2
    for i in range(2):
        n = _side(b, side_of(i), numbers, n)
    return n


@compiled
def _side(b, s, numbers, n):
    for word in _HEAD:
        numbers[n] = b[s + word]
        n += 1
    for position in range(b[s + W.TEAM_SIZE]):
        numbers[n] = b[s + W.ORDER + position]
        n += 1
    numbers[n], numbers[n + 1], numbers[n + 2] = b[s + W.SPECIES], b[s + W.TYPE_1], b[s + W.TYPE_2]
    n += 3
    for stat in range(5):
        numbers[n], numbers[n + 1] = b[s + W.STORED + stat], b[s + W.MODIFIED + stat]
        numbers[n + 2] = b[s + W.BOOSTS + stat]
        n += 3
    for word in _OUT:
        numbers[n] = b[s + word]
        n += 1
    for slot in range(b[s + W.MOVE_COUNT]):
        numbers[n], numbers[n + 1] = b[s + W.MOVES + slot], b[pp_at(b, s) + slot]
        n += 2
    for k in range(len(_CONDITIONS)):
        needs = _CONDITIONS[k, 1]
        numbers[n] = b[s + _CONDITIONS[k, 0]] if needs < 0 or b[s + needs] else 0
        n += 1
    numbers[n] = b[s + W.RESIDUAL_COUNT] + 1 if b[s + W.RESIDUAL] else 0
    numbers[n + 1] = b[s + W.SUBSTITUTE]
    n += 2
    for k in range(b[s + W.TEAM_SIZE]):
        mon = s + W.MONS + k * W.MON_WORDS
        for word in _MON:
            numbers[n] = b[mon + word] if word != W.MON_SLEEP or b[mon + W.MON_STATUS] == W.SLEEP else 0
            n += 1
        for slot in range(b[mon + W.MON_MOVE_COUNT]):
            numbers[n] = b[mon + W.MON_PP + slot]
            n += 1
    return n


@_kernel
def _hashes(battles, rows, out):
    for k in numba.prange(len(rows)):
        numbers = np.zeros(MOST, np.int32)
        n = canonical(battles[rows[k]], numbers)
        h = np.uint32(2166136261)
        for j in range(n):
            h = np.uint32((h ^ np.uint32(numbers[j])) * np.uint32(16777619))
        out[k] = h


def hashes(battles: NDArray[np.int32], rows: NDArray[np.int64]) -> NDArray[np.uint32]:
    """The hash (32-bit FNV over numbers) of the battles in those rows."""
    out = np.zeros(len(rows), np.uint32)
    _hashes(battles, rows, out)
    return out


@_kernel
def _states(battles, numbers, counts):
    for n in numba.prange(len(battles)):
        counts[n] = canonical(battles[n], numbers[n])


def state(battle: NDArray[np.int32]) -> NDArray[np.int32]:
    """One battle's numbers."""
    numbers, counts = np.zeros((1, MOST), np.int32), np.zeros(1, np.int64)
    _states(battle[None], numbers, counts)
    return numbers[0, : counts[0]]
