"""A trajectory: one side of one battle as arrays with a row per decision."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from agents.battle import SeatBattle
from agents.policy.actions import action_of, legal_actions
from agents.policy.observation import FEATURES, IDS_PER_TOKEN, TOKENS, observe
from teamsets.formats import get_format
from training.data.chances import win_probability
from training.data.targets import target_policy

#: The action of a decision whose action is unknown or not in the action space.
MISSING = -1
#: The fields of a trajectory that have a row per decision.
BY_DECISION = ("token_ids", "features", "legal", "actions", "target_policy", "targets", "values")


@dataclass(frozen=True)
class Trajectory:
    """T decisions of one side, oldest first, without team preview.

    token_ids, features, legal: observations (agents/policy/observation.py). actions: MISSING where the action is unknown or
    not in the action space. target_policy: an expert's probabilities; zeros where there is none. targets: source of the
    policy target, a `Target`. values: win probability in [0, 1] that the agent reported (training/data/chances.py), or NaN.
    result: of this side: 1 won, 0.5 tied, 0 lost. remaining: number of decisions after the last one; 0 unless truncated.
    about: provenance: format, source, agent, opponent, battle, seat, pair, team_set and others; `refused`: name -> number of
    decisions whose diagnostic of that name was rejected as a win probability.
    """

    token_ids: NDArray[np.int16]  # [T, 19, 12]
    features: NDArray[np.float16]  # [T, 19, 56]
    legal: NDArray[np.bool_]  # [T, 13]
    actions: NDArray[np.int8]  # [T]
    target_policy: NDArray[np.float16]  # [T, 13]
    targets: NDArray[np.int8]  # [T]
    values: NDArray[np.float16]  # [T]
    result: float
    about: dict[str, Any] = field(default_factory=dict)
    remaining: int = 0

    def __len__(self) -> int:
        return len(self.actions)


def build_trajectory(
    role: str,
    format_id: str,
    lines: Sequence[str],
    choices: Sequence[str | None],
    result: float,
    about: dict[str, Any],
    diagnostics: Sequence[dict[str, Any] | None] = (),
    *,
    by_expert: bool = False,
) -> Trajectory | None:
    """Build the trajectory of a side's log; None if no action in it is known.

    role: "p1" or "p2". lines: the protocol lines that the side received, requests included. choices: the label of its choice
    for each answered request, None where unknown. diagnostics: of `about["agent"]`, one per choice. by_expert: see
    `target_policy`.
    """
    observations, actions, policies, targets, values = [], [], [], [], []
    by_decision = list(diagnostics) or [None] * len(choices)
    refused: Counter[str] = Counter()
    for battle, label, reported in zip(decision_points(role, format_id, lines), choices, by_decision, strict=False):
        possible = legal_actions(battle.last_request, battle.legal)
        if not possible:
            continue
        action = None if label is None else action_of(label, possible)
        observations.append(observe(battle))
        actions.append(MISSING if action is None else action)
        by_action = {choice.words: index for index, choice in possible.items()}
        policy, target = target_policy(reported, by_action, by_expert=by_expert)
        policies.append(policy)
        targets.append(target)
        values.append(win_probability(reported, str(about.get("agent", "")), refused))
    if all(action == MISSING for action in actions):
        return None
    return Trajectory(
        np.stack([one.token_ids for one in observations]),
        np.stack([one.features for one in observations]).astype(np.float16),
        np.stack([one.legal for one in observations]),
        np.array(actions, dtype=np.int8),
        np.stack(policies).astype(np.float16),
        np.array(targets, dtype=np.int8),
        np.array(values, dtype=np.float16),
        result,
        {**about, "refused": dict(refused)} if refused else about,
    )


def decision_points(role: str, format_id: str, lines: Sequence[str]) -> Iterator[SeatBattle]:
    """Yield the battle at each request of a log that asked for a decision.

    A request that is followed by another without a line in between had its choice rejected, and is skipped. The same
    `SeatBattle` is yielded each time.
    """
    battle = SeatBattle(f"battle-{format_id}-1", role, role, get_format(format_id).gen, format_id, random.Random(0))
    waiting: str | None = None
    for line in lines:
        if line.startswith("|request|"):
            waiting = line[9:]
        elif not line.startswith(("|error|", "|bigerror|")):
            if waiting is not None and _asks_for_a_choice(battle, waiting):
                yield battle
            waiting = None
            battle.feed([line])
    if waiting is not None and _asks_for_a_choice(battle, waiting):
        yield battle


def _asks_for_a_choice(battle: SeatBattle, request: str) -> bool:
    battle.ask(orjson.loads(request))
    return bool(battle.legal)


def concatenated(trajectories: Sequence[Trajectory]) -> dict[str, NDArray[Any]]:
    """Concatenate K trajectories. `starts`: int64 [K + 1], offsets of their first decisions; `results`: float32 [K]."""
    assert trajectories
    assert trajectories[0].token_ids.shape[1:] == (TOKENS, IDS_PER_TOKEN)
    assert trajectories[0].features.shape[1:] == (TOKENS, FEATURES)
    arrays = {name: np.concatenate([getattr(one, name) for one in trajectories]) for name in BY_DECISION}
    arrays["starts"] = np.cumsum([0, *map(len, trajectories)], dtype=np.int64)
    arrays["results"] = np.array([one.result for one in trajectories], dtype=np.float32)
    return arrays
