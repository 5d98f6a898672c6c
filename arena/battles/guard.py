"""Time limits for the steps of agents: no piece of an agent's code blocks a worker's event loop beyond its limit.

SIGALRM interrupts a step of Python code that takes too long. It cannot interrupt C code that never returns: for that
case the coordinator reads the running step's seat and deadline from shared memory, and kills the worker.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import ctypes
import gc
import mmap
import os
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Generator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from arena.battles.clock import CLOCK_BYTES, RunClock

# The shared memory, in words of 8 bytes, each written atomically. First those of the run's clock (clock.py). Then the
# number of the running step (0: none), its seat (the fixture's serial * 2 + seat), and its deadline in the run's time. The
# number is written last and cleared first, and is unique: a reader that finds the same number before and after has read a
# consistent state. Then the signs of life of the worker: number of heartbeats of its loop, number of reported lines,
# process id.
_STEP, _SEAT_ID, _UNTIL, _BEATS, _REPORTS, _PID = range(CLOCK_BYTES // 8, CLOCK_BYTES // 8 + 6)
SHARED_BYTES = CLOCK_BYTES + 6 * 8
#: Interval of the heartbeats of a worker's loop, in seconds.
BEAT_SECONDS = 0.25
#: Seconds that an agent's coroutine has to end after its time is up.
_LAST_STEP = 0.5
#: Seconds between two interruptions: code with a bare `except:` may swallow the first.
_ALARM_SECONDS = 0.05
#: Seconds for agents' code that is in no decision's time: to format an exception's message, to read a decision's
#: diagnostics, and for the finalizers which one garbage collection runs (four times as long as each of those that follow an
#: interrupted one).
UNTIMED_SECONDS = 1.0
#: Seconds of garbage collection that are left out of a decision's time. The rest counts: finalizers are agents' code.
_FORGIVEN_SECONDS = 5.0


class TimeUp(BaseException):
    """Raised inside an agent's code when its time is up. Not an Exception, so that `except Exception` lets it through."""


class StepGuard:
    """Runs the steps of agents under a limit. One per process, on its main thread.

    shared: memory of SHARED_BYTES that another process may read with `read_step`, or None. clock: the run's time.
    untimed_limit: see UNTIMED_SECONDS. spent: the seconds that all steps have taken so far. collected: those of garbage
    collections, which are in no step's.
    """

    def __init__(
        self,
        shared: mmap.mmap | None = None,
        clock: RunClock | None = None,
        *,
        untimed_limit: float = UNTIMED_SECONDS,
    ) -> None:
        memory = memoryview(shared if shared is not None else mmap.mmap(-1, SHARED_BYTES))
        self._numbers, self._times = memory.cast("q"), memory.cast("d")
        self.clock = clock or RunClock(shared)
        self.untimed_limit = untimed_limit
        self._steps = 0
        self._deadline = 0.0
        self._open = False
        self.spent = self.collected = 0.0
        self._collecting = 0.0  # when the garbage collection that is in progress began (monotonic); 0: none is
        self._finalizer: FrameType | None = None  # which one the last alarm in it found
        _Collections.guard = self
        signal.signal(signal.SIGALRM, self._on_alarm)

    def beat(self) -> None:
        """Write a heartbeat now and every BEAT_SECONDS on the running loop; `read_life` reads it."""
        self._numbers[_PID] = os.getpid()
        self._numbers[_BEATS] += 1
        asyncio.get_running_loop().call_later(BEAT_SECONDS, self.beat)

    def count_report(self) -> None:
        """Count a line that was written for the coordinator."""
        self._numbers[_REPORTS] += 1

    def _on_alarm(self, _number: int, frame: FrameType | None) -> None:
        if self._collecting:
            finalizer = _Collections.finalizer(frame)
            if finalizer is not None and finalizer is self._finalizer and self.clock.certain:
                raise TimeUp  # ends it; the collection continues with the next
            self._finalizer = finalizer  # it blocks if it is found again
        elif self._open:
            if self.clock.is_past(self._deadline):
                raise TimeUp
            # The run has stood still meanwhile, or garbage was collected.
            left = self._deadline - self.clock.now()
            signal.setitimer(signal.ITIMER_REAL, left if left > 0 else _ALARM_SECONDS, _ALARM_SECONDS)

    def call(self, seat_id: int, limit: float, function: Any, *arguments: Any) -> Any:
        """Return `function(*arguments)`. Raises TimeUp after `limit` seconds. seat_id: serial * 2 + seat (0, 1)."""
        began, collected = self.clock.now(), self.collected
        self._steps += 1
        self._deadline = began + limit
        self._numbers[_SEAT_ID] = seat_id
        self._times[_UNTIL] = self._deadline
        try:
            self._open = True
            self._numbers[_STEP] = self._steps
            signal.setitimer(signal.ITIMER_REAL, max(limit, 0.001), _ALARM_SECONDS)
            try:
                return function(*arguments)
            finally:
                self._open = False
                signal.setitimer(signal.ITIMER_REAL, 0)
        finally:
            self._numbers[_STEP] = 0
            self.spent += self.clock.now() - began - (self.collected - collected)


class _Collections:
    """Garbage collections in the main thread, while agents' code runs or between it.

    They run finalizers of whatever is garbage: other agents' code, in the step of one that has not made it. So the step is
    suspended meanwhile: it is not the running one, its time stands still, and the alarm is the finalizers'.
    """

    guard: StepGuard | None = None
    collecting: FrameType | None = None  # the frame in which the collection began

    @classmethod
    def called(cls, phase: str, _details: dict[str, int]) -> None:
        """Suspend or continue the guard's step. No Python function is called here: see `StepGuard._on_alarm`."""
        guard = cls.guard
        if guard is None or threading.get_ident() != _MAIN_THREAD:
            return
        if phase == "start":
            guard._collecting = time.monotonic()
            guard._numbers[_STEP] = 0
            cls.collecting = sys._getframe().f_back
            signal.setitimer(signal.ITIMER_REAL, guard.untimed_limit, guard.untimed_limit / 4)
        elif guard._collecting:
            seconds = time.monotonic() - guard._collecting
            guard.collected += seconds
            delay = 0.0
            if guard._open:
                guard._deadline += seconds if seconds < _FORGIVEN_SECONDS else _FORGIVEN_SECONDS
                guard._times[_UNTIL] = guard._deadline
                guard._numbers[_STEP] = guard._steps
                delay = 0.001  # `_on_alarm` finds out how much it is
            guard._collecting = 0.0
            guard._finalizer = cls.collecting = None
            signal.setitimer(signal.ITIMER_REAL, delay, _ALARM_SECONDS)

    @classmethod
    def finalizer(cls, frame: FrameType | None) -> FrameType | None:
        """Return the frame of the finalizer that runs, by the innermost frame; None if it is `called` that runs."""
        if frame is None or frame.f_code is _CALLBACK:
            return None
        while frame is not None and frame.f_back is not cls.collecting:
            frame = frame.f_back
        return frame


_CALLBACK = _Collections.called.__func__.__code__  # type: ignore[attr-defined]
_MAIN_THREAD = threading.main_thread().ident
gc.callbacks.append(_Collections.called)
# The interpreter's last collection comes when it handles signals no longer: an alarm would kill the process.
atexit.register(setattr, _Collections, "guard", None)


class SeatClock:
    """One seat's time for one decision. It is paused while a step of another seat blocks the loop."""

    def __init__(self, guard: StepGuard, seat_id: int, limit: float) -> None:
        self._guard, self.seat_id, self.limit = guard, seat_id, limit
        self.start()

    def start(self, used: float = 0.0) -> None:
        """Start the time of a decision. used: seconds of it that have passed already."""
        self._began = self._guard.clock.now() - used
        self._spent, self._collected = self._guard.spent, self._guard.collected
        self._own = 0.0

    @property
    def elapsed(self) -> float:
        """Seconds that this seat has used."""
        return max(self._guard.clock.now() - self._began - self._paused, 0.0)

    @property
    def seconds_left(self) -> float:
        return self.limit - self.elapsed

    @property
    def is_over(self) -> bool:
        """Whether the time is up for certain: not if the run may have stood still until just now."""
        return self._guard.clock.is_past(self._began + self._paused + self.limit)

    @property
    def _paused(self) -> float:
        others = self._guard.spent - self._spent - self._own
        return others + min(self._guard.collected - self._collected, _FORGIVEN_SECONDS)

    def call(self, function: Any, *arguments: Any) -> Any:
        """Run one step of the agent's code: `function(*arguments)`. Raises TimeUp if no time is left."""
        return self._step(self.seconds_left, function, *arguments)

    async def wait_for(self, awaitable: Awaitable[Any]) -> Any:
        """Return the result of an agent's coroutine. Raises TimeUp. Each part between two awaits is a step for the guard.

        The coroutine runs in a task of its own, which its own time limits (asyncio.timeout, wait_for) may cancel. When its
        time is up, or this coroutine's task is cancelled, it is notified and not awaited any longer.
        """
        loop = asyncio.get_running_loop()
        over: asyncio.Future[None] = loop.create_future()
        stepped = _GuardedCoroutine(self, awaitable)
        task = loop.create_task(stepped.run())
        task.add_done_callback(lambda _: _set_done(over))
        self._check_time_up(over)
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

    def _check_time_up(self, over: asyncio.Future[None]) -> None:
        """Set TimeUp in `over` if the time is up; otherwise check again at the earliest time at which it can be."""
        if over.done():
            return
        if self.is_over:
            over.set_exception(TimeUp())
        else:
            wait = self.seconds_left if self.seconds_left > 0 else _ALARM_SECONDS
            self._alarm = asyncio.get_running_loop().call_later(wait, self._check_time_up, over)

    @property
    def untimed_limit(self) -> float:
        """Seconds for a step of `call_untimed`."""
        return self._guard.untimed_limit

    def call_untimed(self, function: Any, *arguments: Any) -> Any:
        """Run a step of the agent's code that does not use its decision time. Raises TimeUp after `untimed_limit`."""
        return self._guard.call(self.seat_id, self.untimed_limit, function, *arguments)

    def last_step(self, function: Any, *arguments: Any) -> None:
        """Run a short step after the time is up or the battle is over; its result is ignored."""
        with contextlib.suppress(BaseException):
            self._step(_LAST_STEP, function, *arguments)

    def _step(self, limit: float, function: Any, *arguments: Any) -> Any:
        before = self._guard.spent
        try:
            return self._guard.call(self.seat_id, limit, function, *arguments)
        finally:
            self._own += self._guard.spent - before


class _GuardedCoroutine:
    """A coroutine of an agent, run step by step in a task of its own."""

    def __init__(self, clock: SeatClock, awaitable: Awaitable[Any]) -> None:
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
        steps, send, throw = self._clock.call(self._open_iterator)
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

    def _open_iterator(self) -> tuple[Any, Any, Any]:
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
    numbers, times = _shared_arrays(shared)
    step, seat_id, until = numbers[_STEP], numbers[_SEAT_ID], times[_UNTIL]
    if step == 0 or numbers[_STEP] != step:
        return None  # none, or another one has just started: it is not overdue
    return seat_id, RunClock(shared).now() - until


@dataclass(frozen=True)
class Life:
    """A worker's signs of life. step: the number of the running step, 0: none. pid: 0 before the first heartbeat."""

    beats: int
    step: int
    reports: int
    pid: int


def read_life(shared: mmap.mmap) -> Life:
    """Read a worker's signs of life from the shared memory."""
    numbers, _ = _shared_arrays(shared)
    return Life(numbers[_BEATS], numbers[_STEP], numbers[_REPORTS], numbers[_PID])


def _shared_arrays(shared: mmap.mmap) -> tuple[memoryview[int], memoryview[float]]:
    memory = memoryview(shared)
    return memory.cast("q"), memory.cast("d")
