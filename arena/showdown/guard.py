"""The clock of a step: no piece of an agent's code keeps a worker's loop longer than its limit.

A step of plain Python that runs too long is interrupted where it stands by SIGALRM. A step inside C code that never
returns cannot be: for those the coordinator reads, in memory shared with the worker, whose step it is and since when,
and ends the worker.
"""

from __future__ import annotations

import mmap
import signal
import struct
import time
from collections.abc import Awaitable, Generator
from typing import Any

_LAYOUT = struct.Struct("<Bqd")  # a step is under way; the fixture's serial * 2 + seat; since when (monotonic seconds)
SHARED_BYTES = _LAYOUT.size


class TimeUp(BaseException):
    """Raised inside an agent's code when its time is up. Not an Exception, so that `except Exception` lets it through."""


class StepGuard:
    """Runs the steps of agents under a limit. One per worker, on its main thread.

    shared: memory of SHARED_BYTES that another process may read with `read_step`, or None.
    """

    def __init__(self, shared: mmap.mmap | None = None) -> None:
        self._shared = shared if shared is not None else mmap.mmap(-1, SHARED_BYTES)
        signal.signal(signal.SIGALRM, self._ring)
        self._open = False

    def _ring(self, *_: Any) -> None:
        if self._open:
            raise TimeUp

    def call(self, who: int, limit: float, function: Any, *arguments: Any) -> Any:
        """`function(*arguments)`, or TimeUp after `limit` seconds. who: the fixture's serial * 2 + seat (0 or 1)."""
        _LAYOUT.pack_into(self._shared, 0, 1, who, time.monotonic())
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
            self._shared[0] = 0

    async def drive(self, who: int, limit: float, awaitable: Awaitable[Any]) -> Any:
        """Awaits an agent's coroutine; each of its steps between two awaits runs under `call`."""
        return await _Stepped(self, who, limit, awaitable)


class _Stepped:
    def __init__(self, guard: StepGuard, who: int, limit: float, awaitable: Awaitable[Any]) -> None:
        self._guard, self._who, self._limit, self._awaitable = guard, who, limit, awaitable

    def __await__(self) -> Generator[Any, Any, Any]:
        steps = self._awaitable.__await__()
        send: Any = getattr(steps, "send", lambda _: next(steps))
        throw: Any = getattr(steps, "throw", None)
        function, argument = send, None
        while True:
            try:
                wanted = self._guard.call(self._who, self._limit, function, argument)
            except StopIteration as done:
                return done.value
            try:
                argument = yield wanted
                function = send
            except BaseException as error:  # cancellation, mostly: the agent's coroutine must hear of it
                if throw is None:
                    raise
                function, argument = throw, error


def read_step(shared: mmap.mmap) -> tuple[int, float] | None:
    """Whose step is under way and for how many seconds, or None: (fixture's serial * 2 + seat, seconds)."""
    busy, who, since = _LAYOUT.unpack_from(shared, 0)
    return (who, time.monotonic() - since) if busy else None
