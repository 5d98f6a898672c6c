"""Agents that look and reach where they should not; each works in a process that it shares with its opponent."""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import threading
from typing import Any

from agents import Agent, SeatBattle


class Attacker(Agent):
    """Attacks at its second decision, when its opponent has been asked once. Plays badly.

    Its diagnostics say what it has got hold of.
    """

    attacked = False

    def act(self, battle: Any) -> Any:
        if not self.attacked and battle.turn > 1:
            self.attacked = True
            self.diagnostics = {"loot": self.attack(battle)}
        return battle.legal[-1]

    def attack(self, battle: Any) -> Any:
        raise NotImplementedError


class Spy(Attacker):
    """Looks for the opponent's battle among all objects of the process, and reads its team."""

    def attack(self, battle: Any) -> Any:
        others = (o for o in gc.get_objects() if type(o) is SeatBattle and o.player_role != battle.player_role)
        return [sorted(mon.species for mon in other.team.values()) for other in others if other.team]


class SeedSpy(Attacker):
    """Looks for the seed of the battle, from which all its chance could be computed."""

    def attack(self, battle: Any) -> Any:
        from arena.fixture import Fixture

        return list({o.seed for o in gc.get_objects() if type(o) is Fixture})


class Saboteur(Attacker):
    """Has the opponent's seat answer its last legal choice, whatever its agent says."""

    def attack(self, battle: Any) -> Any:
        from arena.simulator.seat import Seat

        seats = [o for o in gc.get_objects() if type(o) is Seat and o.role != battle.player_role]
        for seat in seats:
            seat.agent.act = lambda theirs: theirs.legal[-1]
        return len(seats)


class Forger(Attacker):
    """Has every battle of the process end with its own victory."""

    def attack(self, battle: Any) -> Any:
        from arena.fixture import SEATS
        from arena.simulator.session import BattleSession

        def forged(session: Any, end: Any) -> dict[str, Any]:
            return {"winner": SEATS[session.fixture.agents.index(self.name)], "reason": "win"}

        BattleSession._verdict = forged  # type: ignore[method-assign]
        return None


class Honest(Agent):
    """Always its first legal choice; has poke-env follow the battle."""

    def act(self, battle: Any) -> Any:
        return battle.legal[0]


class Rubbish(Agent):
    """Writes into every descriptor that it finds."""

    def act(self, battle: Any) -> Any:
        for descriptor in range(3, 20):
            try:
                os.write(descriptor, b"rubbish\n")
            except OSError:
                continue
        return battle.legal[0]


class Flood(Agent):
    """Writes a line without end into the channel."""

    def act(self, battle: Any) -> Any:
        while True:
            with contextlib.suppress(BlockingIOError):
                os.write(3, b"x" * 65536)


class AnswersItself(Agent):
    """Writes an answer of its own making into the channel: a choice that is not legal."""

    def act(self, battle: Any) -> Any:
        os.write(3, b'{"choice":"move splashdance"}\n')
        return battle.legal[0]


class Descriptors(Agent):
    """Tells which files it has, what is in its environment, and who its parent is."""

    def act(self, battle: Any) -> Any:
        files = {}
        for number in range(256):
            try:
                files[number] = os.readlink(f"/proc/self/fd/{number}")
            except OSError:
                continue
        self.diagnostics = {"files": files, "pid": os.getpid(), "environment": dict(os.environ)}
        return battle.legal[0]


class Threads(Agent):
    """Ends its process from a thread while its opponent thinks."""

    def act(self, battle: Any) -> Any:
        threading.Timer(0.0, os._exit, (9,)).start()
        return battle.legal[0]


class LeavesAChild(Agent):
    """Starts a program that would go on for long, and tells its number. away: in a process group of its own."""

    def __init__(self, away: bool = False) -> None:
        self.child = subprocess.Popen(["sleep", "1000"], start_new_session=away)

    def act(self, battle: Any) -> Any:
        self.diagnostics = {"child": self.child.pid}
        return battle.legal[0]


class Finishes(Agent):
    """Notes in a file how its battle ended."""

    def __init__(self, file: str = "") -> None:
        self.file = file

    def act(self, battle: Any) -> Any:
        return battle.legal[0]

    def finish(self, battle: Any) -> None:
        with open(self.file, "a") as file:
            file.write(f"{battle.player_role} {battle.finished} {os.getpid()}\n")
