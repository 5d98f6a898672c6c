"""One event loop in a thread of its own, for all environments of this process.

Environments are called without `await`, also where a loop runs already (a notebook). There is one loop for all, since a
connection to an inference server belongs to the loop that used it first (agents/policy/client.py).
"""

from __future__ import annotations

import asyncio
import functools
import os
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")


def wait_for(awaitable: Awaitable[T]) -> T:
    """Runs an awaitable on the background loop and returns its result."""
    future = asyncio.run_coroutine_threadsafe(_awaited(awaitable), _loop(os.getpid()))
    try:
        return future.result()
    except BaseException:  # Ctrl-C, too: what nobody waits for must not go on
        future.cancel()
        raise


def soon(function: Callable[[], Any]) -> None:
    """Calls a function on the background loop, without waiting for it."""
    _loop(os.getpid()).call_soon_threadsafe(function)


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


@functools.cache
def _loop(process: int) -> asyncio.AbstractEventLoop:
    """The loop of this process: a thread does not survive a fork."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name=f"environments-{process}", daemon=True).start()
    return loop
