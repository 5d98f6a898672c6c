"""The dashboard's server: uvicorn on a socket that is bound already, until Ctrl-C."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn

from arena.dashboard.app import application

#: Open streams end by themselves within a look; a reader that is slow is not waited for longer, in seconds.
_LAST_SECONDS = 3


class _Announced(uvicorn.Server):
    """Calls a function once it accepts connections."""

    opened: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.should_exit:
            self.opened()


def serve(
    listening: socket.socket, db: Path, folders: tuple[Path, ...], token: str | None, *, opened: Callable[[], None]
) -> None:
    """Serves until SIGINT or SIGTERM. opened: called once, when connections are accepted."""
    app = application(db, folders, token, lambda: server.should_exit)
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=_LAST_SECONDS,
    )
    server = _Announced(config)
    server.opened = opened
    with listening, suppress(KeyboardInterrupt):  # uvicorn raises the signal again when it has ended
        asyncio.run(server.serve(sockets=[listening]))
