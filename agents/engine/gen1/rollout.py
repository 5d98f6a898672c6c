"""Random play: whole battles in one call, finished ones begun anew in their place."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from agents.engine.compiled import compiled, kernel
from agents.engine.gen1 import layout as W
from agents.engine.gen1.requests import legal_actions
from agents.engine.gen1.turn import start_battle, step_battle


@compiled
def next_random(x):
    """The next state of a 64-bit xorshift generator; never the battle's own random numbers."""
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    return x


@compiled
def pick(legal, x):
    """A legal action, evenly at random by the upper bits of `x`; 0 where there is none."""
    count = 0
    for action in range(W.ACTIONS):
        count += (legal >> action) & 1
    if count == 0:
        return 0
    skip = np.int64((x >> np.uint64(33)) % np.uint64(count))
    for action in range(W.ACTIONS):
        if (legal >> action) & 1:
            if skip == 0:
                return action
            skip -= 1
    return 0


@compiled
def play_at_random(b, fresh, x, steps, counts):
    """Plays steps of a battle from random state `x`; returns the next. counts: as `rollout` returns them."""
    for _ in range(steps):
        first, second = legal_actions(b, W.SIDES), legal_actions(b, W.SIDES + W.SIDE_WORDS)
        counts[1] += (first != 0) + (second != 0)
        x = next_random(x)
        action_0 = pick(first, x)
        x = next_random(x)
        action_1 = pick(second, x)
        step_battle(b, action_0, action_1)
        if b[W.WINNER] != W.UNDECIDED:
            counts[0] += 1
            counts[2] += b[W.TURN]
            for word in range(len(b)):
                b[word] = fresh[word]
            x = next_random(x)
            for part in range(4):
                b[W.SEED + part] = np.int64((x >> np.uint64(16 * part)) & np.uint64(0xFFFF))
            start_battle(b)
    return x


@kernel
def _rollout(battles, fresh, states, steps, counts):
    for n in numba.prange(len(battles)):
        states[n] = play_at_random(battles[n], fresh[n], states[n], steps, counts[n])


def rollout(
    rows: NDArray[np.int32], fresh: NDArray[np.int32], states: NDArray[np.uint64], steps: int
) -> tuple[int, int, int]:
    """Plays `steps` steps of each battle at random; returns finished battles, choices, and turns of the finished battles.

    rows [N, WORDS]: battles in progress, changed in place. fresh [N, WORDS]: each before its start (engine.initial), from
    which a finished battle begins anew with another seed. states [N]: random states of the players, none of them 0.
    """
    counts = np.zeros((len(rows), 3), np.int64)
    _rollout(rows, fresh, states, steps, counts)
    battles, choices, turns = counts.sum(axis=0).tolist()
    return battles, choices, turns
