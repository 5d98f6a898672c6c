"""Draws of actions are even, and only from the mask."""

from __future__ import annotations

import numpy as np

from training.envs.seeding import draw_actions, next_random


def test_actions_are_drawn_evenly_from_the_mask() -> None:
    mask = np.zeros(13, np.bool_)
    mask[[1, 4, 12]] = True
    states = np.arange(30_000, dtype=np.uint64)
    counts = np.bincount(draw_actions(np.tile(mask, (30_000, 1)), next_random(states)), minlength=13)
    assert counts.sum() == counts[mask].sum() == 30_000
    assert (np.abs(counts[mask] - 10_000) < 5 * np.sqrt(30_000 * 2 / 9)).all()


def test_the_generator_is_splitmix64() -> None:
    states = np.zeros(1, np.uint64)
    # The first numbers of the reference implementation from the seed 0.
    assert [int(next_random(states)[0]) for _ in range(3)] == [
        0xE220A8397B1DCDAF,
        0x6E789E6AA1B965F4,
        0x06C45D188009454F,
    ]
