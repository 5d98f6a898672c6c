"""The policy's training target at a decision: an expert's target policy if there is one, else the action played.

An expert is the DAgger expert that labelled the player's decisions (agents/coached.py), or a search, whose visit shares
carry more information than the action it played. The probabilities that a policy reported for its own decisions are not an
expert's: as a target they would teach it what it does already, without regard to the result of the battle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from agents.observation.layout import SINGLES, Layout

Diagnostics = Mapping[str, Any]
#: Sides of a dataset that enter the policy loss, and the value loss.
PolicyFrom = Literal["won", "all", "none"]
ValueFrom = Literal["all", "none"]

#: Minimum probability that an expert's target policy must give to actions of the model; below it, there is no target.
MIN_KEPT_MASS = 0.8


class Target(IntEnum):
    """The source of a decision's policy target, as stored in datasets.

    CHOICE: the player's own action. EXPERT: an expert's target policy. EMPTY: an expert was queried and gave none. UNMAPPED:
    less than MIN_KEPT_MASS of it is on actions of the model. EMPTY and UNMAPPED decisions have no target: the action is the
    learner's own, and the rest of such a target policy is not what the expert meant.
    """

    CHOICE = 0
    EXPERT = 1
    EMPTY = 2
    UNMAPPED = 3


#: Why a decision has no target. _NO_ACTION is not a `Target`: the action played cannot be learned.
_REASONS = {
    Target.EMPTY: "the expert gave no target policy",
    Target.UNMAPPED: f"less than {MIN_KEPT_MASS:.0%} of the expert's target policy is on actions of the model",
}
_NO_ACTION = "the action is unknown, or not in the model's action space"


def is_labelled(diagnostics: Diagnostics) -> bool:
    """Return whether an expert was queried at this decision besides the player."""
    return "coach" in diagnostics or "learner" in diagnostics


def target_policy(
    diagnostics: Diagnostics | None, by_action: Mapping[str, int], *, by_expert: bool = False, layout: Layout = SINGLES
) -> tuple[NDArray[np.float32], Target]:
    """Return the target policy float32 [13] over the model's actions (zeros without one), and the target's source.

    diagnostics: stored with the decision. by_action: label of a legal choice ("switch snorlax") -> action. by_expert: the
    player is an expert itself, so that its own probabilities are a target too.
    """
    target = np.zeros(layout.actions, dtype=np.float32)
    diagnostics = diagnostics or {}
    labelled = is_labelled(diagnostics)
    weights = diagnostics.get("visits")
    if not weights and (labelled or by_expert) and "iterations" not in diagnostics:  # a search without visits: random
        weights = diagnostics.get("probabilities")
    total = sum((weights or {}).values())
    if not weights or total <= 0:
        return target, Target.EMPTY if labelled else Target.CHOICE
    for label, weight in weights.items():
        if label in by_action:
            target[by_action[label]] = weight
    kept = float(target.sum())
    if kept < MIN_KEPT_MASS * total:
        return np.zeros_like(target), Target.UNMAPPED
    return target / kept, Target.EXPERT


def without_target(targets: NDArray[np.int8], action_known: NDArray[np.bool_]) -> Counter[str]:
    """Count decisions that have no policy target under `targets: target_policy`, by reason.

    targets: int8 [T], a `Target` of each decision. action_known: bool [T], whether its action is known and one of the
    model's.
    """
    counts = {reason: int(np.sum(targets == target)) for target, reason in _REASONS.items()}
    counts[_NO_ACTION] = int(np.sum((targets == Target.CHOICE) & ~action_known))
    return Counter({reason: count for reason, count in counts.items() if count})
