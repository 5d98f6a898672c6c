"""Time limits for the steps of agents: no piece of an agent's code blocks a worker's event loop beyond its limit.

SIGALRM interrupts a step of Python code that takes too long. It cannot interrupt C code that never returns: for that
case the coordinator reads the running step's seat and deadline from shared memory, and kills the worker.
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

# The shared memory, in words of 8 bytes, each written atomically: the number of the running step (0: none), its seat (the
# fixture's serial * 2 + seat), and its deadline (monotonic seconds). The number is written last and cleared first, and is
# unique: a reader that finds the same number before and after has read a consistent state.
# Then the signs of life of the worker: number of heartbeats of its loop, number of reported lines, process id.
_STEP, _WHO, _UNTIL, _BEATS, _REPORTS, _PID = range(6)
SHARED_BYTES = 6 * 8
#: Interval of the heartbeats of a worker's loop, in seconds.
BEAT_SECONDS = 0.25
#: Seconds that an agent's coroutine has to end after its time is up.
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
        """Write a heartbeat now and every BEAT_SECONDS on the running loop; `read_life` reads it."""
        self._numbers[_PID] = os.getpid()
        self._numbers[_BEATS] += 1
        asyncio.get_running_loop().call_later(BEAT_SECONDS, self.beat)

    def reported(self) -> None:
        """Count a line that was written for the coordinator."""
        self._numbers[_REPORTS] += 1

    def _ring(self, *_: Any) -> None:
        if self._open:
            raise TimeUp

    def call(self, who: int, limit: float, function: Any, *arguments: Any) -> Any:
        """Return `function(*arguments)`. Raises TimeUp after `limit` seconds. who: fixture's serial * 2 + seat (0, 1)."""
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
    """One seat's time for one decision. It is paused while a step of another seat blocks the loop."""

    def __init__(self, guard: StepGuard, who: int, limit: float) -> None:
        self._guard, self.who, self.limit = guard, who, limit
        self.start()

    def start(self) -> None:
        """Start the time of a decision."""
        self._began = time.monotonic()
        self._spent = self._guard.spent
        self._own = 0.0

    @property
    def elapsed(self) -> float:
        """Seconds that this seat has used."""
        others = self._guard.spent - self._spent - self._own
        return time.monotonic() - self._began - others

    @property
    def left(self) -> float:
        return self.limit - self.elapsed

    def call(self, function: Any, *arguments: Any) -> Any:
        """Run one step of the agent's code: `function(*arguments)`. Raises TimeUp if no time is left."""
        return self._step(self.left, function, *arguments)

    async def wait_for(self, awaitable: Awaitable[Any]) -> Any:
        """Return the result of an agent's coroutine. Raises TimeUp. Each part between two awaits is a step for the guard.

        The coroutine runs in a task of its own, which its own time limits (asyncio.timeout, wait_for) may cancel. When its
        time is up, or this coroutine's task is cancelled, it is notified and not awaited any longer.
        """
        loop = asyncio.get_running_loop()
        over: asyncio.Future[None] = loop.create_future()
        stepped = _Stepped(self, awaitable)
        task = loop.create_task(stepped.run())
        task.add_done_callback(lambda _: _set_done(over))
        self._look(over)
        try:
            await over
        except TimeUp:
            stepped.abandon(task)
            await asyncio.wait([task], timeout=_LAST_STEP)
            raise
        except asyncio.CancelledError:
            stepped.abandon(task)
            raise
        finally:
            self._alarm.cancel()
        if task.cancelled():  # before its first step, by the agent's code
            raise asyncio.CancelledError
        succeeded, result = task.result()
        if not succeeded:
            raise result
        return result

    def _look(self, over: asyncio.Future[None]) -> None:
        """Set TimeUp in `over` if the time is up; otherwise check again at the earliest time at which it can be."""
        if over.done():
            return
        left = self.left
        if left > 0:
            self._alarm: asyncio.Handle = asyncio.get_running_loop().call_later(left, self._look, over)
        else:
            over.set_exception(TimeUp())

    def aside(self, limit: float, function: Any, *arguments: Any) -> Any:
        """Run a step of the agent's code that does not use its decision time. Raises TimeUp after `limit` seconds."""
        return self._guard.call(self.who, limit, function, *arguments)

    def last_step(self, function: Any, *arguments: Any) -> None:
        """Run a short step after the time is up or the battle is over; its result is ignored."""
        with contextlib.suppress(BaseException):
            self._step(_LAST_STEP, function, *arguments)

    def _step(self, limit: float, function: Any, *arguments: Any) -> Any:
        before = self._guard.spent
        try:
            return self._guard.call(self.who, limit, function, *arguments)
        finally:
            self._own += self._guard.spent - before


class _Stepped:
    """A coroutine of an agent, run step by step in a task of its own."""

    def __init__(self, clock: Clock, awaitable: Awaitable[Any]) -> None:
        self._clock, self._awaitable = clock, awaitable
        self._abandoned = False

    async def run(self) -> tuple[bool, Any]:
        """Return (True, result), or (False, what it raised): asyncio would let SystemExit end the event loop."""
        try:
            return True, await self
        except BaseException as error:
            if self._abandoned:
                raise
            return False, error

    def abandon(self, task: asyncio.Task[Any]) -> None:
        """Notify the coroutine by a cancellation, after which it is not awaited any longer. task: that of `run`."""
        if not task.done():
            self._abandoned = True
            self._clock.last_step(task.cancel)  # calls `cancel` of what it awaits, which may be the agent's
            _abandoned.add(task)  # it may await what ignores the cancellation; nobody else would keep it
            task.add_done_callback(_forget_abandoned)

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
                if throw is None:
                    raise
                if self._abandoned or isinstance(error, GeneratorExit):
                    self._clock.last_step(throw, error)
                    self._clock.last_step(self._close, steps)
                    raise
                function, argument = throw, error  # what it awaited has failed, or its own time limit: it handles that

    def _begun(self) -> tuple[Any, Any, Any]:
        """Return the awaitable's iterator and its resume methods; its type may be defined by the agent."""
        steps: Any = self._awaitable.__await__()
        return steps, getattr(steps, "send", lambda _: next(steps)), getattr(steps, "throw", None)

    def _close(self, steps: Any) -> None:
        try:
            steps.close()
        finally:
            if getattr(self._awaitable, "cr_frame", None) is not None:  # it has not ended
                _never_collect(steps, self._awaitable)


def _set_done(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


#: Tasks of abandoned coroutines that have not ended. The garbage collector would close them without a time limit.
_abandoned: set[asyncio.Task[Any]] = set()


def _forget_abandoned(task: asyncio.Task[Any]) -> None:
    _abandoned.discard(task)
    if not task.cancelled():
        task.exception()  # retrieved: nobody else will


def _never_collect(*things: Any) -> None:
    """Keep references to them: the garbage collector would close a coroutine that ignores it, without a time limit."""
    for thing in things:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def read_step(shared: mmap.mmap) -> tuple[int, float] | None:
    """Return the running step's seat and how many seconds it is overdue (negative: time left), or None.

    The seat is the fixture's serial * 2 + seat (0 or 1).
    """
    numbers, times = _words_of(shared)
    step, who, until = numbers[_STEP], numbers[_WHO], times[_UNTIL]
    if step == 0 or numbers[_STEP] != step:
        return None  # none, or another one has just started: it is not overdue
    return who, time.monotonic() - until


@dataclass(frozen=True)
class Life:
    """A worker's signs of life. step: the number of the running step, 0: none. pid: 0 before the first heartbeat."""

    beats: int
    step: int
    reports: int
    pid: int


def read_life(shared: mmap.mmap) -> Life:
    """Read a worker's signs of life from the shared memory."""
    numbers, _ = _words_of(shared)
    return Life(numbers[_BEATS], numbers[_STEP], numbers[_REPORTS], numbers[_PID])


def _words_of(shared: mmap.mmap) -> tuple[memoryview[int], memoryview[float]]:
    memory = memoryview(shared)
    return memory.cast("q"), memory.cast("d")
