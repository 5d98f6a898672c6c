"""Agents that look and reach where they should not; each works in a process that it shares with its opponent."""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import struct
import subprocess
import tempfile
import threading
from pathlib import Path
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
        from arena.battles.seat import Seat

        seats = [o for o in gc.get_objects() if type(o) is Seat and o.role != battle.player_role]
        for seat in seats:
            seat.agent.act = lambda theirs: theirs.legal[-1]
        return len(seats)


class Forger(Attacker):
    """Has every battle of the process end with its own victory."""

    def attack(self, battle: Any) -> Any:
        from arena.battles.session import BattleSession
        from arena.fixture import SEATS

        def forged(session: Any, end: Any) -> dict[str, Any]:
            return {"winner": SEATS[session.fixture.agents.index(self.name)], "reason": "win"}

        BattleSession._result = forged  # type: ignore[method-assign]
        return None


class Honest(Agent):
    """Always its first legal choice; has poke-env follow the battle."""

    def act(self, battle: Any) -> Any:
        return battle.legal[0]


class Intruder(Attacker):
    """Looks for sockets of model servers in every way that a process of the user has, and speaks to them.

    Its loot is what it has reached. replace: it also puts a socket of its own in the place of each.
    """

    def __init__(self, replace: bool = False) -> None:
        self.replace = replace

    def attack(self, battle: Any) -> Any:
        reached = []
        for address in sorted(_socket_addresses()):
            with socket.socket(socket.AF_UNIX) as client, contextlib.suppress(OSError):
                client.settimeout(2)
                client.connect(address)
                client.sendall(struct.pack("<IBII", 5, 1, 1, 0) + b"wrong")
                reached.append(f"{address}: {client.recv(1)!r}")
                if self.replace and not address.startswith("\0"):
                    os.unlink(address)
                    listener = socket.socket(socket.AF_UNIX)
                    listener.bind(address)
                    listener.listen()
        for descriptor in range(4, 64):  # a mailbox that was left open
            with contextlib.suppress(OSError):
                kind = os.readlink(f"/proc/self/fd/{descriptor}")
                if kind.startswith("socket:") and socket.socket(fileno=os.dup(descriptor)).type == socket.SOCK_DGRAM:
                    reached.append(f"{descriptor}: {kind}")
        return reached


def _socket_addresses() -> set[str]:
    """Named sockets that may be a model server's: those in temporary folders, and all abstract ones."""
    folder = Path(tempfile.gettempdir())
    found = {str(path) for name in ("arena-policy-*", "arena-servers-*") for path in folder.glob(f"{name}/*.socket")}
    for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
        name = line.split(maxsplit=7)[7:]
        if name and ("arena-" in name[0] or name[0].startswith("@")):
            found.add(name[0].replace("@", "\0", 1) if name[0].startswith("@") else name[0])
    return found


class Tracer(Attacker):
    """Opens the memory, the environment and the descriptors of every other process, and asks to signal it.

    Its loot is what it was let to do with those of the arena: processes of Python and Node that it has not started.
    """

    def attack(self, battle: Any) -> Any:
        return opened()


def opened() -> list[str]:
    """Return "program: what" of each process whose memory or descriptors can be opened, or that can be signalled."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        if int(folder.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            program = next((word.decode() for word in words if b"arena" in word or b"agents." in word), "")
            if not program:
                continue
            for what, reach in (
                ("memory", lambda folder=folder: (folder / "mem").open("rb").close()),
                ("descriptors", lambda folder=folder: os.readlink(folder / "fd" / "0")),
                ("signals", lambda folder=folder: os.kill(int(folder.name), 0)),
            ):
                with contextlib.suppress(OSError):
                    reach()
                    found.add(f"{program}: {what}")
    return sorted(found)


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
