"""A trajectory: one side of one battle as arrays with a row per decision."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from agents.battle import SeatBattle, SeatDoubleBattle, new_battle
from agents.battle.choices import Choice
from agents.observation.actions import action_of
from agents.observation.decisions import Decisions, decisions_of
from agents.observation.layout import Layout, layout_of_format, layout_with
from teamsets.formats import get_format
from training.data.targets import Target, target_policy
from training.data.win_probabilities import win_probability

#: A label that an agent has reported for one decision of several: "a: move fakeout +1", "1: switch incineroar".
_OF_ONE_DECISION = re.compile(r"[ab1-6]: ")
#: The action of a decision whose action is unknown or not in the action space.
MISSING = -1


@dataclass(frozen=True)
class Column:
    """An array of a trajectory with a row per decision.

    sizes: the sizes of a layout that are the shape of a row. padding: value after the end of a trajectory.
    """

    dtype: type[np.generic]
    sizes: tuple[str, ...]
    padding: Any

    def shape(self, layout: Layout) -> tuple[int, ...]:
        """Return the shape of a row."""
        return tuple(getattr(layout, size) for size in self.sizes)

    def stacked(self, rows: Sequence[Any], layout: Layout) -> NDArray[Any]:
        """Return the array of T rows: [T, *shape]."""
        return np.array(rows, dtype=self.dtype).reshape(len(rows), *self.shape(layout))


#: The arrays of a trajectory, a batch and a shard that have a row per decision: name -> type. Padding: all actions legal,
#: the action unknown, no target.
COLUMNS = {
    "token_ids": Column(np.int16, ("tokens", "ids"), 0),
    "features": Column(np.float16, ("tokens", "features"), 0),
    "legal": Column(np.bool_, ("actions",), True),
    "actions": Column(np.int8, (), MISSING),
    "target_policy": Column(np.float16, ("actions",), 0),
    "targets": Column(np.int8, (), Target.CHOICE),
    "values": Column(np.float16, (), np.nan),
    "rejected": Column(np.int8, (), MISSING),
}


@dataclass(frozen=True)
class Trajectory:
    """T decisions of one side, oldest first, that at team preview included. The shapes are those of singles.

    token_ids, features, legal: observations (agents/observation/observation.py). actions: MISSING where the action is
    unknown or not in the action space. target_policy: an expert's probabilities; zeros where there is none. targets: source
    of the policy target, a `Target`. values: win probability in [0, 1] that the agent reported
    (training/data/win_probabilities.py), or NaN. rejected: the worse action of a pair whose better one is in `actions`
    (docs/preferences.md); MISSING where there is no pair, and if it is not given. result: of this side: 1 won, 0.5 tied, 0
    lost. remaining: number of decisions after the last one; 0 unless truncated. about: provenance: format, source, agent,
    opponent, battle, seat, pair, team_set and others; `refused`: name -> number of decisions whose diagnostic of that name
    was rejected as a win probability.
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
    rejected: NDArray[np.int8] = field(default_factory=lambda: np.zeros(0, np.int8))  # [T]

    def __post_init__(self) -> None:
        if len(self.rejected) != len(self.actions):
            assert not len(self.rejected)
            object.__setattr__(self, "rejected", np.full(len(self.actions), MISSING, np.int8))

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def layout(self) -> Layout:
        """The layout of its observations."""
        return layout_with(self.legal.shape[1])


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
    pairs: Sequence[tuple[str, str] | None] = (),
) -> Trajectory | None:
    """Build the trajectory of a side's log; None if no action in it is known.

    role: "p1" or "p2". lines: the protocol lines that the side received, requests included. choices: the label of its choice
    for each answered request, None where unknown. diagnostics: of `about["agent"]`, one per choice. by_expert: see
    `target_policy`. pairs: the labels of a better and a worse choice, one pair per choice, None where there is none: where
    they first differ the better one is in `actions` and the worse one in `rejected`; the decisions before that, which both
    have in common, are seen as they were made for them.
    """
    observations, actions, policies, targets, values, rejected = [], [], [], [], [], []
    by_decision = list(diagnostics) or [None] * len(choices)
    compared = list(pairs) or [None] * len(choices)
    refused: Counter[str] = Counter()
    is_preview: list[bool] = []
    layout = layout_of_format(format_id)
    points = decision_points(role, format_id, lines)
    for battle, label, reported, pair in zip(points, choices, by_decision, compared, strict=False):
        turn = decisions_of(battle)
        parts, better, worse = (
            [] if text is None else list(turn.parts_of(text)) for text in (label, *(pair or (None, None)))
        )
        differing = _first_difference(better, worse)
        made = parts if parts[:differing] == better[:differing] else better
        value = win_probability(reported, str(about.get("agent", "")), refused) if turn.actions else math.nan
        while turn.actions:
            number, possible = turn.number, turn.actions
            observations.append(turn.observe())
            is_preview.append(turn.is_preview)
            is_pair = pair is not None and number == differing
            actions.append(_known(better if is_pair else made, number, possible))
            rejected.append(_known(worse, number, possible) if is_pair else MISSING)
            by_label = {choice.label: action for action, choice in possible.items()}
            said = _of_decision(reported, turn, parts[:number])
            policy, target = target_policy(said, by_label, by_expert=by_expert, layout=layout)
            policies.append(policy)
            targets.append(target)
            values.append(value)
            action = _known(made, number, possible)
            if action == MISSING:  # what is seen at the other decisions depends on it
                break
            turn.take(action)
    in_play = [action for action, preview in zip(actions, is_preview, strict=True) if layout.slots > 1 or not preview]
    if all(action == MISSING for action in in_play):  # of singles, which may be read without team previews
        return None
    rows: dict[str, list[Any]] = {
        **{name: [getattr(one, name) for one in observations] for name in ("token_ids", "features", "legal")},
        "actions": actions,
        "target_policy": policies,
        "targets": targets,
        "values": values,
        "rejected": rejected,
    }
    arrays: dict[str, Any] = {name: column.stacked(rows[name], layout) for name, column in COLUMNS.items()}
    return Trajectory(**arrays, result=result, about={**about, "refused": dict(refused)} if refused else about)


def _first_difference(parts: Sequence[str], others: Sequence[str]) -> int:
    """Return the number of the first decision at which two choices differ: their length, if they do not."""
    pairs = enumerate(zip(parts, others, strict=False))
    return next((number for number, (part, other) in pairs if part != other), min(len(parts), len(others)))


def _known(parts: Sequence[str], number: int, possible: dict[int, Choice]) -> int:
    """Return the action at the decision of a number. parts: the labels of what was chosen at all decisions of a request."""
    action = action_of(parts[number], possible) if number < len(parts) else None
    return MISSING if action is None else action


def _of_decision(reported: dict[str, Any] | None, turn: Decisions, chosen: Sequence[str]) -> dict[str, Any] | None:
    """Return the diagnostics of a request as those of its next decision. chosen: the labels of what was chosen before it.

    In doubles an agent reports by slot ("a: move fakeout +1"), or by joint choices: those that begin as it was chosen. At a
    team preview of singles it reports orders: those with the same lead are one choice.
    """
    if reported is None or not (turn.prefix or turn.is_preview):
        return reported
    found = dict(reported)
    for name in ("visits", "probabilities"):
        shares: dict[str, float] = {}
        for label, share in (reported.get(name) or {}).items():
            part = _part_of(label, turn, chosen)
            if part is not None:
                shares[part] = shares.get(part, 0.0) + share
        found[name] = shares
    return found


def _part_of(label: str, turn: Decisions, chosen: Sequence[str]) -> str | None:
    """Return what a reported label says of the next decision: the label of one of its choices, or None."""
    if turn.prefix and label.startswith(turn.prefix):
        return label.removeprefix(turn.prefix)
    if _OF_ONE_DECISION.match(label):
        return None
    parts, number = turn.parts_of(label), turn.number
    return parts[number] if number < len(parts) and list(parts[:number]) == list(chosen) else None


def decision_points(role: str, format_id: str, lines: Sequence[str]) -> Iterator[SeatBattle]:
    """Yield the battle at each request of a log that asked for a decision.

    A request that is followed by another without a line in between had its choice rejected, and is skipped. The same
    `SeatBattle` is yielded each time.
    """
    gen = get_format(format_id).gen
    battle = new_battle(f"battle-{format_id}-1", role, role, gen, format_id, random.Random(0))
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
    return (isinstance(battle, SeatDoubleBattle) and battle.legal_slots is not None) or bool(battle.legal)


def concatenated(trajectories: Sequence[Trajectory]) -> dict[str, NDArray[Any]]:
    """Concatenate K trajectories. `starts`: int64 [K + 1], offsets of their first decisions; `results`: float32 [K]."""
    layout = trajectories[0].layout
    assert all(getattr(trajectories[0], name).shape[1:] == column.shape(layout) for name, column in COLUMNS.items())
    arrays = {name: np.concatenate([getattr(one, name) for one in trajectories]) for name in COLUMNS}
    arrays["starts"] = np.cumsum([0, *map(len, trajectories)], dtype=np.int64)
    arrays["results"] = np.array([one.result for one in trajectories], dtype=np.float32)
    return arrays
