"""Agents that act on many decisions at once: on the arrays of observations, or on the engine's rows."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from agents.battle import SeatBattle, SeatDoubleBattle
from agents.contract import Answer, SinglesAgent
from agents.observation.decisions import decisions_of
from agents.observation.observation import Observations


class BatchedAgent(SinglesAgent):
    """An agent whose decision is a function of an observation and of its own state. Subclass it and implement `act_many`.

    It plays in every format of singles, and in batches where the format has an engine (docs/engine.md). One that sets
    `plays_doubles` is asked for each slot in turn there, at team preview for each pick (agents/observation/decisions.py).
    """

    #: Whether it is asked at the team preview of singles, where it chooses its lead. Otherwise the team keeps its order.
    decides_previews: bool = False

    @classmethod
    def act_many(
        cls, agents: Sequence[Self], observations: Observations
    ) -> NDArray[np.int64] | Awaitable[NDArray[np.int64]]:
        """Return the actions [n] (agents/observation/actions.py) of n agents of this class, agents[k] at the k-th
        observation.

        May be a coroutine. Whole numbers of any type; of more than n, as in a batch padded to a fixed size, the first n
        count. Anything else is an error of the agent (`actions_of`). An action that is not legal is an illegal answer of
        that agent. It may set the agents' `diagnostics`. A dict by action in them is stored by the labels of the choices:
        the caller knows them (`with_labels`).
        """
        raise NotImplementedError(f"{cls.__name__}.act_many")

    def team_preview(self, battle: SeatBattle) -> Awaitable[Answer] | None:
        """In doubles a decision like any other, in singles if it `decides_previews`; else the team's own order."""
        return self.act(battle) if self.decides_previews or isinstance(battle, SeatDoubleBattle) else None

    async def act(self, battle: SeatBattle) -> Answer:
        turn = decisions_of(battle)
        if not turn.actions:
            self.diagnostics = {"no_action": True}
            return turn.choice
        reported: list[dict[str, Any] | None] = []
        while turn.actions:
            answer = type(self).act_many([self], Observations.single(turn.observe()))
            (action,) = actions_of(await answer if inspect.isawaitable(answer) else answer, 1)
            reported.append(with_labels(self.diagnostics, {legal: turn.label_of(legal) for legal in turn.actions}))
            self.diagnostics = _together(reported)
            if action not in turn.actions:
                return f"action {action}"
            turn.take(action)
        return turn.choice


def _together(reported: Sequence[dict[str, Any] | None]) -> dict[str, Any] | None:
    """Return the diagnostics of a request's decisions as one: dicts united, of what else there is the first."""
    merged: dict[str, Any] = {}
    for diagnostics in reported:
        for name, value in (diagnostics or {}).items():
            both = isinstance(value, dict) and isinstance(merged.get(name), dict)
            merged[name] = {**merged[name], **value} if both else merged.get(name, value)
    return merged if any(diagnostics is not None for diagnostics in reported) else None


class EngineAgent(SinglesAgent):
    """An opponent in training that acts on the engine's rows, which hold both sides' secrets. Implement `act_on`.

    It has no part in evaluations: `missing` says so for every format.
    """

    @classmethod
    def act_on(
        cls, agents: Sequence[Self], engine: Any, rows: NDArray[np.int64], seats: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the actions [n] (agents/observation/actions.py), agents[k] at rows[k] and seats[k]; every one acts.

        engine: that of a generation (agents/engine/*/engine.py); its `gen` says which.
        """
        raise NotImplementedError(f"{cls.__name__}.act_on")

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        if format_id is None:
            return ""
        return "it sees both teams: it plays on the engine in training only (league.members, environments)"


def actions_of(answer: Any, n: int) -> list[int]:
    """Return what `act_many` answered as n actions: whole numbers, also as floats; the first n if there are more.

    Raises ValueError for anything else, booleans included: a mask is no action. Runs the agent's code.
    """
    actions = np.asarray(answer)
    if actions.ndim != 1 or len(actions) < n or actions.dtype.kind not in "iuf":
        raise ValueError(
            f"act_many: an array of {n} whole numbers expected, not {actions.dtype} of shape {list(actions.shape)}"
        )
    actions = actions[:n]
    if actions.dtype.kind == "f":
        broken = actions[~(np.abs(actions) < 2**31) | (actions != np.trunc(actions))]
        if len(broken):
            raise ValueError(f"act_many: whole numbers expected, not {broken[0]}")
        actions = actions.astype(np.int64)
    chosen: list[int] = actions.tolist()
    return chosen


def with_labels(diagnostics: dict[str, Any] | None, labels: Mapping[int, str]) -> dict[str, Any] | None:
    """Return diagnostics of `act_many` with dicts by label instead of by action, in the order of `labels`.

    labels: legal action -> the label of its choice ("move bodyslam").
    """
    if diagnostics is None:
        return None
    return {
        name: {labels[action]: value[action] for action in labels if action in value}
        if isinstance(value, dict) and value and all(isinstance(key, int) for key in value)
        else value
        for name, value in diagnostics.items()
    }
