"""Agents that act on observations in batches: good ones, and some that fail."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.batched import BatchedAgent
from agents.observation.observation import Observations


class RandomAction(BatchedAgent):
    """A legal action, drawn with the seat's generator."""

    decisions = 0

    @classmethod
    def act_many(cls, agents: Sequence[Any], observations: Observations) -> NDArray[np.int64]:
        return np.array([agent.choose(legal) for agent, legal in zip(agents, observations.legal, strict=True)])

    def choose(self, legal: NDArray[np.bool_]) -> int:
        """Return the action; a subclass fails here."""
        self.decisions += 1
        return int(self.rng.choice(np.flatnonzero(legal)))


class LastAction(RandomAction):
    """The last legal action; notes how many there were."""

    def choose(self, legal: NDArray[np.bool_]) -> int:
        self.diagnostics = {"legal": int(legal.sum())}
        return int(np.flatnonzero(legal)[-1])


class Later(RandomAction):
    """RandomAction as a coroutine."""

    @classmethod
    async def act_many(cls, agents: Sequence[Any], observations: Observations) -> NDArray[np.int64]:  # type: ignore[override]
        return np.array([agent.choose(legal) for agent, legal in zip(agents, observations.legal, strict=True)])


class Slow(RandomAction):
    """RandomAction, and takes its time."""

    @classmethod
    def act_many(cls, agents: Sequence[Any], observations: Observations) -> NDArray[np.int64]:
        time.sleep(0.3 * len(agents))
        return super().act_many(agents, observations)


class Raises(RandomAction):
    """Raises at its fourth decision, in batches too."""

    def choose(self, legal: NDArray[np.bool_]) -> int:
        if self.decisions == 3:
            raise RuntimeError("no more")
        return super().choose(legal)


class RaisesLater(Raises, Later):
    """Raises in a coroutine."""


class Illegal(RandomAction):
    """From its fourth decision on an action that generation 1 does not have."""

    def choose(self, legal: NDArray[np.bool_]) -> int:
        return 12 if self.decisions >= 3 else super().choose(legal)


class Sleeps(RandomAction):
    """Takes too long at its fourth decision."""

    def choose(self, legal: NDArray[np.bool_]) -> int:
        if self.decisions == 3:
            time.sleep(20)
        return super().choose(legal)


class RaisesAtStart(RandomAction):
    """Raises before its first decision."""

    def start(self, battle: Any) -> None:
        raise RuntimeError("not today")


class Floats(RandomAction):
    """RandomAction's actions as float32."""

    @classmethod
    def act_many(cls, agents: Sequence[Any], observations: Observations) -> Any:
        return super().act_many(agents, observations).astype(np.float32)


class Padded(RandomAction):
    """RandomAction's actions, padded to a multiple of 64, as networks compiled for one size of batch answer."""

    @classmethod
    def act_many(cls, agents: Sequence[Any], observations: Observations) -> NDArray[np.int64]:
        padded = np.full(64 * (1 + len(agents) // 64), 12, np.int64)
        padded[: len(agents)] = super().act_many(agents, observations)
        return padded


class AnswersOddly(RandomAction):
    """Answers with what is no action. kind: "mask", "booleans", "column", "short", "fraction", "nan" or "text"."""

    def __init__(self, kind: str = "mask") -> None:
        self.kind = kind

    @classmethod
    def act_many(cls, agents: Sequence[Any], observations: Observations) -> Any:
        actions = super().act_many(agents, observations)
        return {
            "mask": observations.legal,
            "booleans": actions > 0,
            "column": actions[:, None],
            "short": actions[1:],
            "fraction": actions + 0.5,
            "nan": actions * np.nan,
            "text": actions.astype(str),
        }[agents[0].kind]


class SlowDiagnostics(RandomAction):
    """Decides at once; its diagnostics take 100 ms to read. Note: it sleeps, so that a busy machine makes no difference."""

    def choose(self, legal: NDArray[np.bool_]) -> int:
        self.diagnostics = {"values": _SlowDict({0: 1.0})}
        return super().choose(legal)


class _SlowDict(dict[int, float]):
    def __iter__(self) -> Any:
        time.sleep(0.1)
        return super().__iter__()


class FailsInOneBattle(RandomAction):
    """Raises at its second decision where its generator says so: in some battles only."""

    def choose(self, legal: NDArray[np.bool_]) -> int:
        if self.decisions == 0:
            self.fails = self.rng.random() < 0.5
        if self.decisions == 1 and self.fails:
            raise RuntimeError("not this one")
        return super().choose(legal)
