"""The clock of a step: no piece of an agent's code keeps a worker's loop longer than its limit.

A step of plain Python that runs too long is interrupted where it stands by SIGALRM. A step inside C code that never
returns cannot be: for those the coordinator reads, in memory shared with the worker, whose step it is and until when it
may last, and ends the worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import mmap
import os
import signal
import time
from collections.abc import Awaitable, Generator
from dataclasses import dataclass
from typing import Any

# The shared memory, in words of 8 bytes, each written at one stroke: the number of the step under way (0: none), whose it
# is (the fixture's serial * 2 + seat), and until when it may last (monotonic seconds). The number is written last and
# taken away first, and no two steps have the same: who finds it twice, before and after, has read what belongs to it.
# Then what shows that the worker lives: how often its loop has beaten, how many lines it has reported, its process id.
_STEP, _WHO, _UNTIL, _BEATS, _REPORTS, _PID = range(6)
SHARED_BYTES = 6 * 8
#: How often a worker's loop beats, in seconds.
BEAT_SECONDS = 0.25
#: How long an agent's coroutine may take to end once its time is up, in seconds.
_LAST_STEP = 0.5


class TimeUp(BaseException):
    """Raised inside an agent's code when its time is up. Not an Exception, so that `except Exception` lets it through."""


class StepGuard:
    """Runs the steps of agents under a limit. One per worker, on its main thread.

    shared: memory of SHARED_BYTES that another process may read with `read_step`, or None.
    spent: the seconds that all steps have taken so far.
    """

    def __init__(self, shared: mmap.mmap | None = None) -> None:
        memory = memoryview(shared if shared is not None else mmap.mmap(-1, SHARED_BYTES))
        self._numbers, self._times = memory.cast("q"), memory.cast("d")
        self._steps = 0
        signal.signal(signal.SIGALRM, self._ring)
        self._open = False
        self.spent = 0.0

    def beat(self) -> None:
        """Beats now and every BEAT_SECONDS on the running loop: whoever reads `read_life` sees that the loop runs."""
        self._numbers[_PID] = os.getpid()
        self._numbers[_BEATS] += 1
        asyncio.get_running_loop().call_later(BEAT_SECONDS, self.beat)

    def reported(self) -> None:
        """Another line has been written for the coordinator."""
        self._numbers[_REPORTS] += 1

    def _ring(self, *_: Any) -> None:
        if self._open:
            raise TimeUp

    def call(self, who: int, limit: float, function: Any, *arguments: Any) -> Any:
        """`function(*arguments)`, or TimeUp after `limit` seconds. who: the fixture's serial * 2 + seat (0 or 1)."""
        began = time.monotonic()
        self._steps += 1
        self._numbers[_WHO] = who
        self._times[_UNTIL] = began + limit
        self._numbers[_STEP] = self._steps
        try:
            self._open = True
            # Again every 50 ms: code with a bare `except:` may swallow the first.
            signal.setitimer(signal.ITIMER_REAL, max(limit, 0.001), 0.05)
            try:
                return function(*arguments)
            finally:
                self._open = False
                signal.setitimer(signal.ITIMER_REAL, 0)
        finally:
            self._numbers[_STEP] = 0
            self.spent += time.monotonic() - began


class Clock:
    """One seat's time for one decision. It stands still while the step of another seat holds the loop."""

    def __init__(self, guard: StepGuard, who: int, limit: float) -> None:
        self._guard, self._who, self.limit = guard, who, limit
        self.start()

    def start(self) -> None:
        """From now on it is this seat's turn to think."""
        self._began = time.monotonic()
        self._spent = self._guard.spent
        self._own = 0.0

    @property
    def elapsed(self) -> float:
        """Seconds that this seat has had."""
        others = self._guard.spent - self._spent - self._own
        return time.monotonic() - self._began - others

    @property
    def left(self) -> float:
        return self.limit - self.elapsed

    def call(self, function: Any, *arguments: Any) -> Any:
        """One step of the agent's code: `function(*arguments)`, or TimeUp when no time is left."""
        return self._step(self.left, function, *arguments)

    async def wait_for(self, awaitable: Awaitable[Any]) -> Any:
        """The result of an agent's coroutine, or TimeUp. Each of its steps between two awaits is a step for the guard."""
        scope = asyncio.timeout(None)
        self._look(scope)
        try:
            async with scope:
                return await _Stepped(self, awaitable)
        except TimeoutError:
            if scope.expired():
                raise TimeUp from None
            raise  # the agent's own
        finally:
            self._alarm.cancel()

    def _look(self, scope: asyncio.Timeout) -> None:
        """Ends `scope` if the time is up by now, or looks again when it would be if nobody else held the loop."""
        loop, left = asyncio.get_running_loop(), self.left
        if left > 0:
            self._alarm: asyncio.Handle = loop.call_later(left, self._look, scope)
        else:
            self._alarm = loop.call_soon(scope.reschedule, loop.time())

    def aside(self, limit: float, function: Any, *arguments: Any) -> Any:
        """A step of the agent's code that does not count as thinking; TimeUp after `limit` seconds."""
        return self._guard.call(self._who, limit, function, *arguments)

    def last_step(self, function: Any, *arguments: Any) -> None:
        """A step that may do what it likes but last long: its time is up, or the battle is over."""
        with contextlib.suppress(BaseException):
            self._step(_LAST_STEP, function, *arguments)

    def _step(self, limit: float, function: Any, *arguments: Any) -> Any:
        before = self._guard.spent
        try:
            return self._guard.call(self._who, limit, function, *arguments)
        finally:
            self._own += self._guard.spent - before


class _Stepped:
    """A coroutine driven step by step. Once its task is cancelled it hears of it, and is not waited for any longer."""

    def __init__(self, clock: Clock, awaitable: Awaitable[Any]) -> None:
        self._clock, self._awaitable = clock, awaitable

    def __await__(self) -> Generator[Any, Any, Any]:
        steps, send, throw = self._clock.call(self._begun)
        function, argument = send, None
        while True:
            try:
                wanted = self._clock.call(function, argument)
            except StopIteration as done:
                return done.value
            try:
                argument = yield wanted
                function = send
            except BaseException as error:
                task = asyncio.current_task()
                if throw is None or (task is not None and task.cancelling()):
                    if throw is not None:
                        self._clock.last_step(throw, error)
                        self._clock.last_step(self._close, steps)
                    raise
                function, argument = throw, error  # what it waited for has failed: the agent's own affair

    def _begun(self) -> tuple[Any, Any, Any]:
        """The awaitable's iterator, and its ways to be resumed: it may be of a type of the agent's own."""
        steps: Any = self._awaitable.__await__()
        return steps, getattr(steps, "send", lambda _: next(steps)), getattr(steps, "throw", None)

    def _close(self, steps: Any) -> None:
        try:
            steps.close()
        finally:
            if getattr(self._awaitable, "cr_frame", None) is not None:  # it has not ended
                _never_collect(steps, self._awaitable)


def _never_collect(*things: Any) -> None:
    """Keeps them for good: the collector would run a coroutine that swallows its end for ever, with no clock on it."""
    for thing in things:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def read_step(shared: mmap.mmap) -> tuple[int, float] | None:
    """Whose step is under way and for how many seconds it is overdue (negative: it has time left), or None.

    Whose: the fixture's serial * 2 + seat.
    """
    numbers, times = _words_of(shared)
    step, who, until = numbers[_STEP], numbers[_WHO], times[_UNTIL]
    if step == 0 or numbers[_STEP] != step:
        return None  # none, or another has begun just now: that one is not overdue
    return who, time.monotonic() - until


@dataclass(frozen=True)
class Life:
    """What a worker has shown of itself. step: the number of the step under way, 0: none. pid: 0 before the first beat."""

    beats: int
    step: int
    reports: int
    pid: int


def read_life(shared: mmap.mmap) -> Life:
    """How a worker is, by the memory that it shares."""
    numbers, _ = _words_of(shared)
    return Life(numbers[_BEATS], numbers[_STEP], numbers[_REPORTS], numbers[_PID])


def _words_of(shared: mmap.mmap) -> tuple[memoryview[int], memoryview[float]]:
    memory = memoryview(shared)
    return memory.cast("q"), memory.cast("d")
