"""Agents that play legally and harm what is around their steps: the worker, its pipes, the machine, their own records."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from agents import Agent


class Plays(Agent):
    """Plays uniformly at random; the subclasses do their harm in `harm`, at each decision."""

    def act(self, battle: Any) -> Any:
        self.harm(battle)
        return self.rng.choice(battle.legal)

    def harm(self, battle: Any) -> None:
        """What it does besides."""


class _Unreadable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


class _Endless:
    def __repr__(self) -> str:
        while True:
            pass


class ThinksDeep(Plays):
    """Diagnostics of 100,000 levels."""

    def harm(self, battle: Any) -> None:
        nested: list[Any] = []
        for _ in range(100_000):
            nested = [nested]
        self.diagnostics = {"nested": nested}


class ThinksUnreadably(Plays):
    """Diagnostics whose `repr` raises."""

    def harm(self, battle: Any) -> None:
        self.diagnostics = {"one": _Unreadable()}


class ThinksEndlessly(Plays):
    """Diagnostics whose `repr` never returns."""

    def harm(self, battle: Any) -> None:
        self.diagnostics = {"one": _Endless()}


class ThinksALot(Plays):
    """Diagnostics of 60 MB."""

    def harm(self, battle: Any) -> None:
        self.diagnostics = {"text": "x" * 60_000_000}


class ThinksABomb(Plays):
    """Diagnostics that are small in memory and would be 10^15 numbers as JSON."""

    def harm(self, battle: Any) -> None:
        bomb: list[Any] = [1] * 1000
        for _ in range(4):
            bomb = [bomb] * 1000
        self.diagnostics = {"bomb": bomb}


class ThinksOddKeys(Plays):
    """Diagnostics with keys and numbers that JSON does not have."""

    def harm(self, battle: Any) -> None:
        self.diagnostics = {float("nan"): float("inf"), None: 1 << 70, ("a", 1): b"bytes", 3: "\udcff\0"}


class ThinksThroughAProperty(Plays):
    """Diagnostics that raise when they are looked at."""

    @property
    def diagnostics(self) -> Any:
        raise RuntimeError("not telling")

    @diagnostics.setter
    def diagnostics(self, value: Any) -> None:
        raise RuntimeError("not listening")


class SetsTheFormerName(Plays):
    """An agent of an earlier version: its diagnostics are called `thought`."""

    def harm(self, battle: Any) -> None:
        self.thought = {"win_probability": 0.25}


class _SlowToSay:
    def __str__(self) -> str:
        time.sleep(1000)
        return "never"

    __repr__ = __str__


class AnswersSlowly(Agent):
    """Answers with something that never ends to be shown."""

    def act(self, battle: Any) -> Any:
        return _SlowToSay()


class RaisesSlowly(Agent):
    """Raises an exception that never ends to say its words."""

    def act(self, battle: Any) -> Any:
        class Slow(_SlowToSay, Exception):
            pass

        raise Slow


class RaisesSlowlyLater(RaisesSlowly):
    """The same in a coroutine."""

    async def act(self, battle: Any) -> Any:
        super().act(battle)


class LooksAwaitable(Agent):
    """Answers with something whose very type takes for ever to be found out."""

    def act(self, battle: Any) -> Any:
        class Chameleon:
            @property
            def __class__(self) -> Any:
                while True:
                    pass

        return Chameleon()


class AwaitsSlowly(Agent):
    """Answers with an awaitable that never begins."""

    def act(self, battle: Any) -> Any:
        class Slow:
            def __await__(self) -> Any:
                while True:
                    pass

        return Slow()


class NamedByMeta(Agent):
    """Raises an exception whose type never says its name."""

    def act(self, battle: Any) -> Any:
        class Meta(type):
            @property
            def __name__(self) -> str:
                while True:
                    pass

        class Odd(Exception, metaclass=Meta):
            pass

        raise Odd("named")


class TakesNoGenerator(Agent):
    """Cannot be given its generator."""

    @property
    def rng(self) -> Any:
        raise AttributeError

    @rng.setter
    def rng(self, value: Any) -> None:
        raise RuntimeError("no chance")

    def act(self, battle: Any) -> Any:
        raise NotImplementedError


class AlwaysEqual(Plays):
    """Answers with a choice of its own that says that it equals every other."""

    def act(self, battle: Any) -> Any:
        class Equal(type(battle.legal[0])):  # type: ignore[misc]
            def __eq__(self, other: object) -> bool:
                return True

            __hash__ = None

        return Equal("move splashdance", "move 99", "move", 99)


async def _blocks() -> None:
    await asyncio.sleep(0)
    time.sleep(1000)  # noqa: ASYNC251


class BlocksInATask(Plays):
    """Has a task of its own that calls blocking code: an ordinary mistake."""

    def harm(self, battle: Any) -> None:
        self.task = asyncio.ensure_future(_blocks())


class BlocksInACallback(Plays):
    """Has the loop call blocking code."""

    def harm(self, battle: Any) -> None:
        asyncio.get_running_loop().call_soon(time.sleep, 1000)


class ClosesEverything(Plays):
    """Closes all file descriptors, as daemons do."""

    def harm(self, battle: Any) -> None:
        os.closerange(0, 4096)


class StopsItself(Plays):
    """Stops its own process, which does not end and does not go on."""

    def harm(self, battle: Any) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)


class ExitsLater(Plays):
    """Ends its process when it is not its turn."""

    def harm(self, battle: Any) -> None:
        asyncio.get_running_loop().call_soon(os._exit, 7)


class KillsInAThread(Plays):
    """Has a thread that ends the process when the opponent is thinking."""

    def harm(self, battle: Any) -> None:
        if battle.turn == 2:
            threading.Timer(0.3, os._exit, [7]).start()


def _reports() -> list[int]:
    """The pipes that this process writes to, besides stdout and stderr."""
    found = []
    for fd in range(3, 256):
        try:
            if os.readlink(f"/proc/self/fd/{fd}").startswith("pipe:"):
                found += [fd] if fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY else []
        except OSError:
            continue
    return found


class SwallowsReports(Plays):
    """Puts something else in the place of its worker's way to the coordinator."""

    def harm(self, battle: Any) -> None:
        for fd in _reports():
            os.dup2(os.open(os.devnull, os.O_WRONLY), fd)


class WritesReports(Plays):
    """Writes something between its worker's reports."""

    def harm(self, battle: Any) -> None:
        for fd in _reports():
            os.write(fd, b"not a report\n")


class CancelsTasks(Plays):
    """Cancels every task of the loop."""

    def harm(self, battle: Any) -> None:
        for task in asyncio.all_tasks():
            task.cancel()


class StartsProcesses(Plays):
    """Starts a process in its worker's group, and a daemon that has left it and its parent."""

    def harm(self, battle: Any) -> None:
        if battle.turn == 1:
            subprocess.Popen(["sleep", "611"])
            daemon = "import os; os.setsid(); os.fork() and os._exit(0); os.execlp('sleep', 'sleep', '612')"
            subprocess.run([sys.executable, "-c", daemon], check=True)
