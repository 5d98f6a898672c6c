"""Random numbers of environments: never the battles' own, and the same however many battles run together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def next_random(states: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The next number of each generator [n] (SplitMix64, Steele et al. 2014); `states` advance in place."""
    states += np.uint64(0x9E3779B97F4A7C15)
    z = (states ^ (states >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return mixed


def draw_actions(masks: NDArray[np.bool_], numbers: NDArray[np.uint64]) -> NDArray[np.int64]:
    """A legal action of each mask [n, 13], evenly at random by the numbers [n]. Each mask must have one."""
    counts = masks.sum(axis=1).astype(np.uint64)
    chosen = ((numbers >> np.uint64(32)) % counts).astype(np.int64)
    drawn: NDArray[np.int64] = (masks.cumsum(axis=1) == chosen[:, None] + 1).argmax(axis=1)
    return drawn
