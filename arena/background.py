"""Background tasks of a run: signals that stop it, ingesting the journal, displays."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from arena.store import Store

#: How often the journal is moved into the database while a run goes on, in seconds.
TAKE_IN_SECONDS = 2.0


@contextmanager
def signals_to(stop: Callable[[], None]) -> Iterator[None]:
    """SIGINT and SIGTERM call `stop` on the running loop, however often they come, until this is left.

    Python gives signals to the main thread only; a run in another thread (a notebook's) is stopped by cancelling its task.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    # Not the loop's own handlers: once removed, they leave Python's, and the next Ctrl-C would cut the end of a run off.
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


async def regularly(seconds: float, function: Callable[[], None]) -> None:
    """Calls a function periodically, so many seconds apart."""
    while True:
        await asyncio.sleep(seconds)
        function()


async def taking_in(store: Store) -> None:
    """Ingests the journal periodically; skips a time when a reader has the file open."""
    while True:
        await asyncio.sleep(TAKE_IN_SECONDS)
        # Shielded: a transaction under way when the run ends is waited for, never cut off.
        moving = asyncio.ensure_future(asyncio.to_thread(store.try_take_in))
        try:
            await asyncio.shield(moving)
        except asyncio.CancelledError:
            await moving
            raise
