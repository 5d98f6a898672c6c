"""Spaces of all environments: the observation of a policy, and its actions (agents/observation/layout.py)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.observation.layout import Layout
from agents.observation.observation import Observations
from agents.observation.vocabulary import vocabulary
from teamsets.errors import MissingTool

try:
    from gymnasium import spaces
except ModuleNotFoundError:
    raise MissingTool(
        "gymnasium is not installed: environments need it: `make training` (or pip install 'battle-arena[envs]')"
    ) from None

Arrays = dict[str, NDArray[Any]]

#: The one action in the mask where there is nothing to choose (the battle is over, or the seat waits). It is ignored.
NOTHING_TO_CHOOSE = 0


def observation_space(layout: Layout) -> spaces.Dict:
    """token_ids int16 [19, 12], features float32 [19, 56], action_mask int8 [13] (1: legal); in doubles other sizes."""
    return spaces.Dict(
        {
            "token_ids": spaces.Box(0, vocabulary().size - 1, (layout.tokens, layout.ids), np.int16),
            "features": spaces.Box(-np.inf, np.inf, (layout.tokens, layout.features), np.float32),
            "action_mask": spaces.MultiBinary(layout.actions),
        }
    )


def action_space(layout: Layout) -> spaces.Discrete:
    """Discrete(13): agents/observation/actions.py; in doubles Discrete(39): agents/observation/doubles/actions.py."""
    return spaces.Discrete(layout.actions)


def arrays_of(seen: Observations) -> Arrays:
    """Observations as an environment returns them, without a copy."""
    return {"token_ids": seen.token_ids, "features": seen.features, "action_mask": seen.legal.view(np.int8)}


def row_of(arrays: Arrays, row: int, *, copy: bool = False) -> Arrays:
    """One environment's part of batched observations."""
    return {name: array[row].copy() if copy else array[row] for name, array in arrays.items()}
