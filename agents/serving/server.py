"""A model's server: its connections, and its end some seconds after the last one has closed, also if clients were killed.

client.py starts it and passes the bound socket; or broker.py does, and passes a socket on which connected ones arrive. A
subclass answers the frames in `Server.received`.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from agents.serving import wire
from teamsets.locking import file_lock

if TYPE_CHECKING:
    import torch


class ServerConnection(wire.Framed):
    """A client's connection. number: unique, so that sessions of different clients have different keys."""

    def __init__(self, server: Server, number: int) -> None:
        super().__init__()
        self.server, self.number = server, number
        self.sessions: set[int] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.send(wire.frame(wire.READY))

    def send(self, data: bytes) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write(data)

    def frame_received(self, kind: int, session: int, position: int, body: bytes) -> None:
        if kind == wire.FORGET:
            self.sessions.discard(session)
            self.server.forget(self, session)
        else:
            self.server.received(self, kind, session, position, body)

    def connection_lost(self, exc: Exception | None) -> None:
        self.server.disconnected(self)


class Server:
    """The connections of a server. path: of the socket. linger: seconds without a connection until it ends.

    held: whether a broker may still send connections, so that the server does not end; None: clients find it by its path.
    """

    def __init__(self, path: Path, linger: float) -> None:
        self.path, self.linger = path, linger
        self.held: bool | None = None
        self.loop = asyncio.get_running_loop()
        self.ended = asyncio.Event()
        self._connections: set[ServerConnection] = set()
        self._count = 0
        self._end = self.loop.call_later(linger, self._end_if_alone)

    def received(self, connection: ServerConnection, kind: int, session: int, position: int, body: bytes) -> None:
        """Take a frame of a client."""
        raise NotImplementedError

    def forget(self, connection: ServerConnection, session: int) -> None:
        """Drop what is kept and what waits of a session."""
        raise NotImplementedError

    def connect(self) -> ServerConnection:
        """Create the protocol of a new connection."""
        self._end.cancel()
        self._count += 1
        connection = ServerConnection(self, self._count)
        self._connections.add(connection)
        return connection

    def disconnected(self, connection: ServerConnection) -> None:
        """Forget the sessions of a client that has gone."""
        for session in connection.sessions:
            self.forget(connection, session)
        self._connections.discard(connection)
        if not self._connections:
            self._end = self.loop.call_later(self.linger, self._end_if_alone)

    def release(self) -> None:
        """No broker will send connections any more: end with the last one."""
        self.held = False
        if not self._connections:
            self.ended.set()

    def _end_if_alone(self) -> None:
        """End the server. If a process holds the lock it is about to connect: then try again later."""
        if self.held is not None:
            if not (self.held or self._connections):
                self.ended.set()
            return
        with file_lock(wire.lock_of(self.path), wait=False, remove=True) as acquired:
            if acquired:
                self.path.unlink(missing_ok=True)
                wire.log_of(self.path).unlink(missing_ok=True)
                self.ended.set()
            else:
                self._end = self.loop.call_later(self.linger, self._end_if_alone)


Question = TypeVar("Question")


class QuestionServer(Server, Generic[Question]):
    """A server of questions that wait until it answers several of them together; a session asks one at a time."""

    def __init__(self, path: Path, linger: float) -> None:
        super().__init__(path, linger)
        self._waiting: dict[tuple[int, int], tuple[ServerConnection, Question]] = {}

    @abstractmethod
    def read_question(self, body: bytes) -> Question:
        """Return the question of a body of ASK. Raises ValueError if it is malformed."""

    @abstractmethod
    def _plan(self) -> None:
        """See to it that what waits is answered."""

    def received(self, connection: ServerConnection, kind: int, session: int, position: int, body: bytes) -> None:
        if kind != wire.ASK:
            return
        try:
            question = self.read_question(body)
        except ValueError as error:
            connection.send(wire.frame(wire.FAILED, session, 0, reported(error)))
            return
        connection.sessions.add(session)
        self._waiting[connection.number, session] = connection, question
        self._plan()

    def forget(self, connection: ServerConnection, session: int) -> None:
        self._waiting.pop((connection.number, session), None)


def reported(error: Exception) -> bytes:
    """Print an error to the log, and return it as the body of FAILED."""
    message = f"{type(error).__name__}: {error}"
    print(message, flush=True)
    return message[:500].encode()


def device_of(name: str) -> torch.device:
    """Return the device of an option: `auto` is the first GPU if there is one, else the CPU."""
    import torch

    return torch.device("cuda" if torch.cuda.is_available() else "cpu") if name == "auto" else torch.device(name)


def server_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that client.py gives to every server."""
    parser.add_argument("--socket", type=Path, required=True, help="path of the socket, removed at exit")
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--listen", type=int, help="the file descriptor of the bound socket")
    way.add_argument("--clients", type=int, help="the file descriptor of a socket on which connected ones arrive")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1 …")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads; 0: one per usable core")
    parser.add_argument("--linger", type=float, default=3.0, help="exit after so many seconds without a client")


async def serve(make: Callable[[], Server], options: argparse.Namespace) -> None:
    """Serve until the server's end. make: creates the server on the running event loop. options: of `server_options`."""
    way = socket.socket(fileno=options.clients if options.listen is None else options.listen)
    way.setblocking(False)
    server = make()
    if options.listen is not None:
        listening = await server.loop.create_unix_server(server.connect, sock=way)
        await server.ended.wait()
        listening.close()
        return
    server.held = True
    connecting: set[asyncio.Task[Any]] = set()

    def receive() -> None:
        message, descriptors, _, _ = socket.recv_fds(way, 1, 1)
        for descriptor in descriptors:
            client = socket.socket(fileno=descriptor)
            client.setblocking(False)
            task = server.loop.create_task(server.loop.connect_accepted_socket(server.connect, client))
            connecting.add(task)
            task.add_done_callback(connecting.discard)
        if not message:
            server.loop.remove_reader(way)
            server.release()

    server.loop.add_reader(way, receive)
    await server.ended.wait()
