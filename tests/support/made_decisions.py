"""Made-up observations for tests of networks."""

from __future__ import annotations

import numpy as np

from agents.observation.columns import FIELD, FieldFeature
from agents.observation.observation import Observations


def decisions(n: int, seed: int, turn: int = 1, forced: bool = False) -> Observations:
    """Made-up observations of n decisions; each has two legal actions or more."""
    draw = np.random.default_rng(seed)
    features = draw.standard_normal((n, 19, 56)).astype(np.float32)
    features[:, FIELD, FieldFeature.INVERSE_TURN] = 1 / (1 + turn)
    features[:, FIELD, FieldFeature.FORCED_SWITCH] = forced
    legal = draw.random((n, 13)) < 0.4
    legal[:, [2, 7]] = True
    return Observations(draw.integers(0, 4000, (n, 19, 12)).astype(np.int16), features, legal)
