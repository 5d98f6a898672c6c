"""The contract of a place where battles are played: what it is asked, the limits of a battle, and how it may fail."""

from __future__ import annotations

from typing import Annotated, Protocol

from arena.fixture import Fixture
from arena.record import BattleRecord
from arena.validation import Settings, limited
from teamsets.errors import ArenaError


class VenueFailed(ArenaError):
    """The place where a battle was played has failed, and no agent in it. Counted for neither agent: it is played again."""


class SimulatorCrashed(VenueFailed):
    """Showdown itself threw in a battle, or refused to start it."""


class Rules(Settings):
    """The limits of a battle: seconds for one decision, turns for the whole (Showdown's own limit is 1,000)."""

    think_limit: Annotated[float, limited("think_limit")] = 10.0
    max_turns: Annotated[int, limited("max_turns")] = 1000


class Venue(Protocol):
    """Where fixtures are played."""

    async def play(self, fixture: Fixture, serial: int) -> BattleRecord:
        """Plays one fixture to its end, whatever the agents do. Raises VenueFailed. serial: see `StepGuard.call`."""

    @property
    def gone(self) -> bool:
        """Whether its process has ended, so that a new venue is needed."""

    def end(self) -> None:
        """Ends its process, without waiting for that."""
