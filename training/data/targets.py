"""What the policy learns at a decision: an expert's target policy where an expert gave one, else the choice that was played.

An expert is the agent that was asked beside the player (agents/coached.py), or a search, whose visits say more than the
choice that came of them. The probabilities that a policy has kept of its own decisions are no expert's: as a target they
would teach it what it does already, and the result of the battle would never enter.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.policy.actions import ACTIONS

Thought = Mapping[str, Any]


class Target(IntEnum):
    """Where the policy's target of a decision comes from, as datasets keep it.

    CHOICE: nobody's but the player's own choice. EXPERT: an expert's target policy.
    """

    CHOICE = 0
    EXPERT = 1


def was_watched(thought: Thought) -> bool:
    """Whether an expert was asked at this decision beside the player."""
    return "coach" in thought or "learner" in thought


def target_policy(
    thought: Thought | None, by_action: Mapping[str, int], *, by_expert: bool = False
) -> tuple[NDArray[np.float32], Target]:
    """The target policy [ACTIONS] over the model's actions, zeros where there is none, and where it comes from.

    thought: what was kept with the decision. by_action: a choice's words -> its action. by_expert: the player is an expert
    itself, so that its own probabilities are a target, too.
    """
    shares = np.zeros(ACTIONS, dtype=np.float32)
    thought = thought or {}
    given = thought.get("visits")
    if not given and (by_expert or was_watched(thought)):
        given = thought.get("probabilities")
    for words, share in (given or {}).items():
        if words in by_action:
            shares[by_action[words]] = share
    total = shares.sum()
    return (shares / total, Target.EXPERT) if total > 0 else (shares, Target.CHOICE)
