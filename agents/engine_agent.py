"""The interface of an opponent in training that acts on the engine's rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from agents.contract import Agent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from agents.engine.engine import Engine


class EngineAgent(Agent):
    """An opponent in training that acts on the engine's rows, which hold both sides' secrets. Implement `act_on`.

    It has no part in evaluations: `missing` says so for every format.
    """

    @classmethod
    def act_on(
        cls, agents: Sequence[Self], engine: Engine, rows: NDArray[np.int64], seats: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the actions [n] (agents/policy/actions.py), agents[k] at rows[k] and seats[k], all of which are asked."""
        raise NotImplementedError(f"{cls.__name__}.act_on")

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        if format_id is None:
            return ""
        return "it sees both teams: it plays on the engine in training only (league.members, environments)"
