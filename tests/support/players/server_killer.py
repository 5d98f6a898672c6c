"""An agent that kills the inference server of the other seat."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from support.command_line import processes

from agents import Agent
from agents.battle import SeatBattle
from agents.battle.choices import Choice

SERVER = "agents.policy.serve"
#: Names of variables of the environment: the word by which the servers are found, and the file that says which was killed.
MARK, KILLED = "ARENA_POLICY_TEST", "ARENA_POLICY_KILLED"


class KillsTheServer(Agent):
    """Plays at random; in its first battle that comes to turn 3, while the other has still to choose, it kills."""

    def act(self, battle: SeatBattle) -> Choice:
        if battle.turn >= 3:
            self._kill_once()
        return self.rng.choice(battle.legal)

    def _kill_once(self) -> None:
        with contextlib.suppress(FileExistsError), Path(os.environ[KILLED]).open("x") as noted:
            victim = processes(os.environ[MARK], SERVER)[0]
            os.kill(victim, signal.SIGKILL)
            noted.write(str(victim))
