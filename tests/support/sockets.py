"""A stand-in for a Showdown server: a websocket that a test answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from websockets.asyncio.server import ServerConnection, serve


def against(server: Callable[[ServerConnection], Awaitable[None]], what: Callable[[str], Awaitable[None]]) -> None:
    """Runs `what` with the URI of a stand-in for a server."""

    async def run() -> None:
        async with serve(server, "127.0.0.1", 0) as listening:
            port = next(iter(listening.sockets)).getsockname()[1]
            await asyncio.wait_for(what(f"ws://127.0.0.1:{port}/showdown/websocket"), 60)

    asyncio.run(run())
