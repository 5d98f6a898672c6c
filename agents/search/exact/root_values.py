"""What the trees of all generations have in common: their settings, and what their roots say of a seat's actions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class TreeSettings:
    """exploration: PUCT's constant. first: how much below its node's mean an untried action starts. trust: exponent of the
    priors. steps: in how many steps of HP nodes differ."""

    exploration: float = 0.4
    first: float = 0.05
    trust: float = 1.0
    steps: int = 16


def root_values(
    visits: NDArray[np.int32], totals: NDArray[np.float32], trust: float, first: float
) -> tuple[float, NDArray[np.float64]]:
    """A seat's probability of winning at the root, and after each of its actions.

    visits, totals: of its actions, the sums of their values. trust: visits at which an action's value counts as much as its
    first guess, the root's value minus `first`. An action without visits and trust has its guess.
    """
    value = float(totals.sum()) / max(float(visits.sum()), 1.0)
    guess = value - first
    counts = visits + trust
    return value, np.divide(totals + trust * guess, counts, out=np.full(len(counts), guess), where=counts > 0)
