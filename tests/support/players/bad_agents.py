"""Agents that fail, each in its own way."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from typing import Any

from agents import Agent

SECONDS = 1000.0


class Raises(Agent):
    """Raises at its third decision."""

    def __init__(self) -> None:
        self.decisions = 0

    def act(self, battle: Any) -> Any:
        self.decisions += 1
        if self.decisions == 3:
            raise RuntimeError("out of ideas")
        return battle.legal[0]


class RaisesLater(Agent):
    """Raises in a coroutine, after it has waited."""

    async def act(self, battle: Any) -> Any:
        await asyncio.sleep(0)
        raise KeyError("charizard")


class RaisesAtStart(Agent):
    """Raises before its first decision."""

    def start(self, battle: Any) -> None:
        raise OSError("no weights here")

    def act(self, battle: Any) -> Any:
        raise NotImplementedError


class RaisesWhenMade(Agent):
    """Cannot even be made."""

    def __init__(self) -> None:
        raise ValueError("no such checkpoint")

    def act(self, battle: Any) -> Any:
        raise NotImplementedError


class RaisesWhenPreparing(Agent):
    """Cannot get ready for any format."""

    def prepare(self, format_id: str) -> None:
        raise RuntimeError(f"not ready for {format_id}")

    def act(self, battle: Any) -> Any:
        raise NotImplementedError


class RaisesAtFinish(Agent):
    """Plays well and raises when all is over, which is too late to matter."""

    def act(self, battle: Any) -> Any:
        return self.rng.choice(battle.legal)

    def finish(self, battle: Any) -> None:
        raise RuntimeError("too late to matter")


class Quits(Agent):
    """Calls sys.exit, as scripts do."""

    def act(self, battle: Any) -> Any:
        sys.exit("I am done")


class Cancelled(Agent):
    """Awaits something of its own that was cancelled."""

    async def act(self, battle: Any) -> Any:
        task = asyncio.ensure_future(asyncio.sleep(SECONDS))
        task.cancel()
        await task


class TimesOutItself(Agent):
    """Asks something of its own, which does not answer in time: an error of its own, not a slow decision."""

    async def act(self, battle: Any) -> Any:
        await asyncio.wait_for(asyncio.sleep(SECONDS), 0.01)


class HasAFallback(Agent):
    """Plays well: asks something slow for a moment only, by two kinds of time limits, and then plays what it has."""

    async def act(self, battle: Any) -> Any:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.sleep(SECONDS)
        except TimeoutError:
            pass
        try:
            await asyncio.wait_for(asyncio.sleep(SECONDS), 0.01)
        except TimeoutError:
            return self.rng.choice(battle.legal)


class SwallowsCancel(Agent):
    """Waits for ever, whatever it is told."""

    async def act(self, battle: Any) -> Any:
        while True:
            try:
                await asyncio.sleep(SECONDS)
            except BaseException:
                continue


class SleepsAsync(Agent):
    """Waits too long, politely."""

    async def act(self, battle: Any) -> Any:
        await asyncio.sleep(SECONDS)
        return battle.legal[0]


class SleepsSync(Agent):
    """Waits too long, keeping the whole loop."""

    def act(self, battle: Any) -> Any:
        time.sleep(SECONDS)
        return battle.legal[0]


class LoopsForEver(Agent):
    """Computes without end."""

    def act(self, battle: Any) -> Any:
        while True:
            pass


class LoopsAfterAwait(Agent):
    """Computes without end in the second step of a coroutine."""

    async def act(self, battle: Any) -> Any:
        await asyncio.sleep(0)
        while True:
            pass


class SwallowsOnce(Agent):
    """Swallows the first interruption and goes on sleeping; the second comes through."""

    def act(self, battle: Any) -> Any:
        try:
            time.sleep(SECONDS)
        except BaseException:
            time.sleep(SECONDS)


class SwallowsAll(Agent):
    """Swallows everything that interrupts it, for ever."""

    def act(self, battle: Any) -> Any:
        while True:
            try:
                time.sleep(SECONDS)
            except BaseException:
                continue


class HoldsTheLock(Agent):
    """Sits in C code that does not let go of the interpreter."""

    def act(self, battle: Any) -> Any:
        return sum(range(1 << 62))


class BlocksTheAlarm(Agent):
    """Blocks the very signal that would interrupt it."""

    def act(self, battle: Any) -> Any:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
        time.sleep(SECONDS)


class Illegal(Agent):
    """Always the same choice, which does not exist."""

    def act(self, battle: Any) -> Any:
        return "move splashdance"


class AnswersNothing(Agent):
    """Forgets to return."""

    def act(self, battle: Any) -> Any:
        battle.legal[0]


class AnswersOddly(Agent):
    """Answers with something that cannot even be shown."""

    def act(self, battle: Any) -> Any:
        class Unspeakable:
            def __str__(self) -> str:
                raise RuntimeError("no words")

            __repr__ = __str__

        return Unspeakable()


class OddWords(Agent):
    """Raises with words that are no Unicode, as file names can hold them."""

    def act(self, battle: Any) -> Any:
        raise RuntimeError("no file called \udcff\x00 here")


class OddThoughts(Agent):
    """Plays well, but its thoughts are no JSON."""

    def act(self, battle: Any) -> Any:
        self.diagnostics = {"seen": {1, 2}, "big": 1 << 70, "self": object(), "word": "\udcff"}
        return self.rng.choice(battle.legal)


class Exits(Agent):
    """Ends its own process."""

    def act(self, battle: Any) -> Any:
        os._exit(7)


class KillsItself(Agent):
    """Ends its own process with a signal."""

    def act(self, battle: Any) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


class Talks(Agent):
    """Plays well and prints a lot, in every way."""

    def act(self, battle: Any) -> Any:
        print('{"serial": 1}\tnot a record')
        sys.stdout.flush()
        os.write(1, b"straight to the descriptor\n" * 100)
        print("and to stderr", file=sys.stderr)
        return self.rng.choice(battle.legal)


class Patient(Agent):
    """Plays well and asynchronously: each decision waits for a moment."""

    def __init__(self, ms: float = 10.0) -> None:
        self.ms = ms

    async def act(self, battle: Any) -> Any:
        await asyncio.sleep(self.ms / 1000)
        return self.rng.choice(battle.legal)


class Slow(Agent):
    """Plays well, and takes its time."""

    def __init__(self, ms: float = 20.0) -> None:
        self.ms = ms

    def act(self, battle: Any) -> Any:
        time.sleep(self.ms / 1000)
        return self.rng.choice(battle.legal)


class Uniform(Agent):
    """Plays uniformly at random, and has poke-env follow the battle."""

    def act(self, battle: Any) -> Any:
        return self.rng.choice(battle.legal)
