"""The contract of an agent that is a program of its own: where it is to play, and how it is started for that."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from agents.contract import Agent

Role = Literal["challenge", "accept"]


@dataclass(frozen=True)
class Place:
    """Where and as whom a program plays one battle.

    uri: the server's websocket. user: the name that it signs in with (no password: `/trn NAME,0,`). opponent: the user in
    the other seat. role: whether it challenges that user or accepts its challenge. team: packed, None where the format
    draws it; team_file: the same in Showdown's export text. folder: its own for this battle, removed afterwards.
    """

    uri: str
    user: str
    opponent: str
    role: Role
    format: str
    team: str | None
    team_file: Path | None
    folder: Path


@dataclass(frozen=True)
class Program:
    """How a program is started. environment: added to ours. folder: where it runs."""

    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    folder: Path | None = None


class ProgramAgent(Agent):
    """An agent that is a program of its own. One process plays one battle; the arena starts and ends it.

    role: what it does when the other seat leaves it the choice. allowance: the seconds that it has for a decision beyond
    the run's think limit, for the ways between (one look of the server's clock, half a second, comes on top). start: the
    seconds from its start to the battle's begin.
    """

    outside: ClassVar[bool] = True
    repeatable: ClassVar[bool] = False
    role: Role = "challenge"
    allowance: float = 5.0
    start_limit: float = 60.0

    def program(self, place: Place) -> Program:
        """The program for one battle. Called in a thread: it may look at files. Raises ArenaError when it cannot be."""
        raise NotImplementedError(f"{type(self).__name__}.program")

    def act(self, battle: Any) -> Any:
        """Nobody asks it."""
        raise NotImplementedError(f"{self.name} can play on a server only")
