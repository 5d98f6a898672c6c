"""The interface of a venue (where battles are played), the limits of a battle, and a venue's failures."""

from __future__ import annotations

from typing import Annotated, Protocol

from arena.fixture import Fixture
from arena.options import default, limited
from arena.record import BattleRecord
from arena.validation import Settings
from teamsets.errors import ArenaError


class VenueFailed(ArenaError):
    """The venue of a battle failed, not an agent. The battle counts for neither agent and is played again."""


class SimulatorCrashed(VenueFailed):
    """Showdown raised an error in a battle, or refused to start it."""


class NotOnEngine(ArenaError):
    """A fixture that the engine cannot play as Showdown does. It is played in the simulator instead."""


class VenuesDiffer(ArenaError):
    """Two venues play the same fixture in different ways. The run ends: one of them is wrong."""


class Rules(Settings):
    """The limits of a battle: seconds for one decision, turns for the whole (Showdown's own limit is 1,000)."""

    think_limit: Annotated[float, limited("think_limit")] = default("think_limit")
    max_turns: Annotated[int, limited("max_turns")] = default("max_turns")


class Venue(Protocol):
    """A place where fixtures are played."""

    async def play(self, fixture: Fixture, serial: int) -> BattleRecord:
        """Play one fixture to its end, whatever the agents do. Raises VenueFailed. serial: see `StepGuard.call`."""

    @property
    def gone(self) -> bool:
        """Whether its process has ended, so that a new venue is needed."""

    def end(self) -> None:
        """End its process without waiting for it."""
