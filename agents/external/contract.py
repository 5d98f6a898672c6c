"""The interface of an agent that is an external program: where it plays, and how it is started."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from agents.contract import OptionLimits, SinglesAgent
from teamsets.logs import new_log

Role = Literal["challenge", "accept"]


@dataclass(frozen=True)
class BattleAddress:
    """Where a program plays one battle, and under which name.

    uri: the server's websocket. user: the name to sign in with (no password: `/trn NAME,0,`). opponent: the user in the
    other seat. role: whether it challenges that user or accepts its challenge. team: packed, None for formats with random
    teams; team_file: the same in Showdown's export format. folder: a folder for this battle, removed afterwards.
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
    """How a program is started. environment: added to ours. folder: its working folder."""

    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    folder: Path | None = None


def new_program_log() -> Path:
    """Return a new file for the output of an external program; the last 100 stay."""
    return new_log("program-logs", 100)


class ProgramAgent(SinglesAgent):
    """An agent that is an external program. One process plays one battle; the arena starts and ends it.

    role: its preferred role. allowance: seconds per decision beyond the run's think limit, for communication (the server's
    clock adds up to half a second). start_limit: seconds from its start to the start of the battle.
    """

    is_external: ClassVar[bool] = True
    repeatable: ClassVar[bool] = False
    option_limits: ClassVar[OptionLimits] = dict.fromkeys(("allowance", "start"), (0, math.inf))
    role: Role = "challenge"
    allowance: float = 5.0
    start_limit: float = 60.0

    def program(self, address: BattleAddress) -> Program:
        """Return the program for one battle. Called in a thread, so it may read files. Raises ArenaError."""
        raise NotImplementedError(f"{type(self).__name__}.program")

    def act(self, battle: Any) -> Any:
        """Not called: the program plays on the server."""
        raise NotImplementedError(f"{self.name} can play on a server only")
