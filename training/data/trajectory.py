"""A trajectory: one side of one battle as a learner takes it in, decision by decision."""

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
from agents.policy.observation import NUMBERS, TOKENS, WORDS, observe
from teamsets.formats import get_format
from training.data.chances import win_probability
from training.data.targets import target_policy

#: Stands for an action that is not known, or that the space of actions does not have.
MISSING = -1
#: The fields of a trajectory that have a row for each decision.
BY_DECISION = ("ids", "numbers", "legal", "actions", "shares", "targets", "values")


@dataclass(frozen=True)
class Trajectory:
    """T decisions of one side, oldest first. Team previews are no decisions of a model and are left out.

    ids: int16 [T, 19, 12]; numbers: float16 [T, 19, 56]; legal: bool [T, 13]; see agents/policy/observation.py.
    actions: int8 [T], MISSING where what was chosen is not known or has no action.
    shares: float16 [T, 13]: an expert's target policy; a row of zeros where none gave one. targets: int8 [T]: where the
    policy's target comes from, a `Target` of training/data/targets.py. values: float16 [T]: the chance to win, 0 to 1, that
    its agent declared (training/data/chances.py), NaN where it declared none.
    result: of this side, 1 won, 0.5 tie, 0 lost. remaining: decisions that followed the last one here; 0 unless it was cut.
    about: where it comes from: format, source, agent, opponent, battle, seat, pair, team_set, and what else is known;
    `refused`: name -> number of decisions whose diagnostics held under that name what is not taken as a chance to win.
    """

    ids: NDArray[np.int16]
    numbers: NDArray[np.float16]
    legal: NDArray[np.bool_]
    actions: NDArray[np.int8]
    shares: NDArray[np.float16]
    targets: NDArray[np.int8]
    values: NDArray[np.float16]
    result: float
    about: dict[str, Any] = field(default_factory=dict)
    remaining: int = 0

    def __len__(self) -> int:
        return len(self.actions)


def observed(
    role: str,
    format_id: str,
    lines: Sequence[str],
    choices: Sequence[str | None],
    result: float,
    about: dict[str, Any],
    thoughts: Sequence[dict[str, Any] | None] = (),
    *,
    by_expert: bool = False,
) -> Trajectory | None:
    """The trajectory of a side's log; None where it holds no decision that is known.

    role: "p1" or "p2". lines: what it received, its requests included. choices: its words for each request that asked for
    one, None where it is not known. thoughts: the diagnostics of `about["agent"]` at each of them. by_expert: see
    `target_policy`.
    """
    seen, legal, actions, shares, targets, values = [], [], [], [], [], []
    told = list(thoughts) or [None] * len(choices)
    refused: Counter[str] = Counter()
    for battle, words, thought in zip(_asked(role, format_id, lines), choices, told, strict=False):
        possible = legal_actions(battle.last_request, battle.legal)
        if not possible:
            continue
        observation = observe(battle)
        action = None if words is None else action_of(words, possible)
        seen.append(observation)
        legal.append(observation.legal)
        actions.append(MISSING if action is None else action)
        by_action = {choice.words: place for place, choice in possible.items()}
        shared, target = target_policy(thought, by_action, by_expert=by_expert)
        shares.append(shared)
        targets.append(target)
        values.append(win_probability(thought, str(about.get("agent", "")), refused))
    if all(action == MISSING for action in actions):
        return None
    return Trajectory(
        np.stack([one.ids for one in seen]),
        np.stack([one.numbers for one in seen]).astype(np.float16),
        np.stack(legal),
        np.array(actions, dtype=np.int8),
        np.stack(shares).astype(np.float16),
        np.array(targets, dtype=np.int8),
        np.array(values, dtype=np.float16),
        result,
        {**about, "refused": dict(refused)} if refused else about,
    )


def _asked(role: str, format_id: str, lines: Sequence[str]) -> Iterator[SeatBattle]:
    """The battle at every request of a log. A request that another follows at once was refused, and is left out."""
    battle = SeatBattle(f"battle-{format_id}-1", role, role, get_format(format_id).gen, format_id, random.Random(0))
    waiting: str | None = None
    for line in lines:
        if line.startswith("|request|"):
            waiting = line[9:]
        elif not line.startswith(("|error|", "|bigerror|")):
            if waiting is not None and _ask(battle, waiting):
                yield battle
            waiting = None
            battle.feed([line])
    if waiting is not None and _ask(battle, waiting):
        yield battle


def _ask(battle: SeatBattle, request: str) -> bool:
    battle.ask(orjson.loads(request))
    return bool(battle.legal)


def concatenated(trajectories: Sequence[Trajectory]) -> dict[str, NDArray[Any]]:
    """Arrays of several trajectories one behind the other, as a shard keeps them; `starts` [K + 1] says where each lies."""
    assert trajectories
    assert trajectories[0].ids.shape[1:] == (TOKENS, WORDS) and trajectories[0].numbers.shape[1:] == (TOKENS, NUMBERS)
    arrays = {name: np.concatenate([getattr(one, name) for one in trajectories]) for name in BY_DECISION}
    arrays["starts"] = np.cumsum([0, *map(len, trajectories)], dtype=np.int64)
    arrays["results"] = np.array([one.result for one in trajectories], dtype=np.float32)
    return arrays
