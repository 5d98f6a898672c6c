"""What the policy learns at a decision: an expert's target policy where an expert gave one, else the choice that was played.

An expert is the agent that was asked beside the player (agents/coached.py), or a search, whose visits say more than the
choice that came of them. The probabilities that a policy has kept of its own decisions are no expert's: as a target they
would teach it what it does already, and the result of the battle would never enter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.policy.actions import ACTIONS

Thought = Mapping[str, Any]

#: An expert's target policy must give at least this share to actions that the model has; else the decision has no target.
MIN_KEPT_MASS = 0.8


class Target(IntEnum):
    """Where the policy's target of a decision comes from, as datasets keep it.

    CHOICE: the player's own choice. EXPERT: an expert's target policy. SILENT: an expert watched and gave none. OUTSIDE:
    less than MIN_KEPT_MASS of it is on actions of the model. The last two leave the decision without a target: the choice
    would be the learner's own, and what is left of such a target policy is not what the expert meant.
    """

    CHOICE = 0
    EXPERT = 1
    SILENT = 2
    OUTSIDE = 3


#: Why a decision has no target. The last is no `Target`, but a choice that is not there to be learned.
_REASONS = {
    Target.SILENT: "the expert gave no target policy",
    Target.OUTSIDE: f"less than {MIN_KEPT_MASS:.0%} of the expert's target policy is on actions of the model",
}
_NO_CHOICE = "the action is unknown, or not in the model's action space"


def was_watched(thought: Thought) -> bool:
    """Whether an expert was asked at this decision beside the player."""
    return "coach" in thought or "learner" in thought


def target_policy(
    thought: Thought | None, by_action: Mapping[str, int], *, by_expert: bool = False
) -> tuple[NDArray[np.float32], Target]:
    """The target policy [ACTIONS] over the model's actions, zeros where there is none, and where the target comes from.

    thought: what was kept with the decision. by_action: a choice's words -> its action. by_expert: the player is an expert
    itself, so that its own probabilities are a target, too.
    """
    shares = np.zeros(ACTIONS, dtype=np.float32)
    thought = thought or {}
    watched = was_watched(thought)
    given = thought.get("visits")
    if not given and (watched or by_expert) and "iterations" not in thought:  # a search without visits chose at random
        given = thought.get("probabilities")
    total = sum((given or {}).values())
    if not given or total <= 0:
        return shares, Target.SILENT if watched else Target.CHOICE
    for words, share in given.items():
        if words in by_action:
            shares[by_action[words]] = share
    kept = float(shares.sum())
    if kept < MIN_KEPT_MASS * total:
        return np.zeros_like(shares), Target.OUTSIDE
    return shares / kept, Target.EXPERT


def without_target(targets: NDArray[np.int8], known: NDArray[np.bool_]) -> Counter[str]:
    """Reason -> decisions without a target for the policy, where experts' target policies are learned.

    targets [T]: a `Target` of each decision; known [T]: whether its choice is known and an action of the model.
    """
    counts = {words: int(np.sum(targets == target)) for target, words in _REASONS.items()}
    counts[_NO_CHOICE] = int(np.sum((targets == Target.CHOICE) & ~known))
    return Counter({words: count for words, count in counts.items() if count})
