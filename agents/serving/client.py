"""Client of a model's server: connects to it or starts it, and sends it the questions of this process.

One server per model and device serves all processes of a user. A process takes the server's lock, connects, and starts
the server if nothing answers, so of several workers that start together one starts it and the others connect. A process has
one connection per server, shared by all its battles.

Any process of the user can find the server's socket, and put one of its own in that place. So the agent processes of
`--isolate` that run the arena's own code have a mailbox instead (`use_mailbox`): broker.py answers it, and nobody else.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, TypeVar

import orjson

from agents.serving import wire
from teamsets.errors import ArenaError, BadInput
from teamsets.locking import file_lock

#: Timeout in seconds for a server to become ready: it loads torch and the weights.
READY_SECONDS = 240.0
#: Environment variable: CPU threads of started servers; 0 or unset: one per core.
THREADS = "ARENA_POLICY_THREADS"
_PROJECT = Path(__file__).parents[2]
#: Where there is one of these, `auto` may be a GPU: looking is quicker than importing torch.
_GPU_FILES = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")


def runs_on_cpu(device: str) -> bool:
    """Return whether a model with this option `device` runs on the CPU."""
    return device == "cpu" or (device == "auto" and not any(map(os.path.exists, _GPU_FILES)))


class ServerFailed(ArenaError):
    """A model's server could not be started, has ended, or reported an error. The message says which and why."""


@dataclass(frozen=True)
class Service:
    """A server that can be started. name: for messages ("the inference server of PATH"). path: of its socket.

    module: run with `python -m`; it is given --socket, --listen (the bound socket's descriptor), --threads and `arguments`.
    """

    name: str
    path: Path
    module: str
    arguments: Sequence[str]


class Connection(wire.Framed):
    """This process's connection to one server, bound to the event loop of the first question.

    ready: a connected socket on which READY was received. process: the server, if this process started it.
    """

    def __init__(self, service: Service, ready: socket.socket, process: subprocess.Popen[bytes] | None) -> None:
        super().__init__()
        self.service, self.process = service, process
        self._socket = ready
        self._sessions = itertools.count(1)
        self._answers: dict[int, asyncio.Future[bytes]] = {}
        self._attaching: asyncio.Task[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lost = ""

    @property
    def alive(self) -> bool:
        """False once the server has disconnected or the connection's event loop is closed."""
        return not self._lost and not (self._loop is not None and self._loop.is_closed())

    def new_session(self) -> int:
        """Return a new number for one seat of one battle."""
        return next(self._sessions)

    def open_session(self, agent: object) -> tuple[int, Callable[[], Any]]:
        """Return a new session's number, and the function that releases it when the battle is over.

        `finish` is not called if the venue fails: then the session is released when the agent is garbage-collected.
        """
        session = self.new_session()
        release = weakref.finalize(agent, self.forget, session)
        release.atexit = False
        return session, release

    async def answer(self, kind: int, session: int, position: int, body: bytes) -> bytes:
        """Send a frame and return the body of its answer. Raises ServerFailed."""
        transport = await self._attached()
        if self._lost:
            raise ServerFailed(self._lost)
        answer = asyncio.get_running_loop().create_future()
        self._answers[session] = answer
        try:
            transport.write(wire.frame(kind, session, position, body))
            return await answer
        finally:
            del self._answers[session]

    def forget(self, session: int) -> None:
        """Release the session's slot: its battle is over."""
        if self.transport is not None and self.alive and not self.transport.is_closing():
            self.transport.write(wire.frame(wire.FORGET, session))

    async def _attached(self) -> asyncio.Transport:
        """Attach the socket to the running event loop, once."""
        if self._attaching is None:
            self._loop = asyncio.get_running_loop()
            self._attaching = asyncio.ensure_future(self._loop.create_unix_connection(lambda: self, sock=self._socket))
        await asyncio.shield(self._attaching)
        assert self.transport is not None
        return self.transport

    def frame_received(self, kind: int, session: int, position: int, body: bytes) -> None:
        answer = self._answers.get(session)
        if answer is None or answer.done():
            return
        if kind == wire.ANSWER:
            answer.set_result(body)
        else:
            answer.set_exception(ServerFailed(f"{self.service.name} failed to answer: {body.decode(errors='replace')}"))

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = f"{self.service.name} has ended{exit_of(self.process)}; its log: {wire.log_of(self.service.path)}"
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(ServerFailed(self._lost))

    def close(self) -> None:
        """Close the connection."""
        self._lost = self._lost or f"the connection to {self.service.name} was closed"
        if self.transport is not None and self._loop is not None and not self._loop.is_closed():
            self.transport.abort()
        self._socket.close()


_Kind = TypeVar("_Kind", bound=Connection)
_connections: dict[Path, Any] = {}


@dataclass(frozen=True)
class Mailbox:
    """A way to the servers of a broker (broker.py). descriptor: of the socket. folder: of their logs."""

    descriptor: int
    folder: Path


_mailbox: Mailbox | None = None


def use_mailbox(mailbox: Mailbox) -> None:
    """Have this process reach all servers through a broker."""
    global _mailbox
    _mailbox = mailbox


def connected(service: Service, kind: type[_Kind]) -> _Kind:
    """Return this process's connection to a server; starts the server if necessary. Blocks meanwhile.

    Raises ServerFailed if the server does not start.
    """
    connection = _connections.get(service.path)
    if connection is None or not connection.alive:
        if connection is not None:
            connection.close()
        connection = _by_path(service, kind) if _mailbox is None else _through(_mailbox, service, kind)
        _connections[service.path] = connection
    assert isinstance(connection, kind)
    return connection


def _by_path(service: Service, kind: type[_Kind]) -> _Kind:
    with file_lock(wire.lock_of(service.path), remove=True):
        connection = _socket_of(service.path)
        process = None
        if connection is None:
            process = _start(service)
            connection = _socket_of(service.path)
        if connection is None:
            raise ServerFailed(_start_failure(service, process))
    return kind(service, connection, process)


def _through(mailbox: Mailbox, service: Service, kind: type[_Kind]) -> _Kind:
    """Send one end of a new pair of sockets to the broker, with the server that it is for."""
    service = replace(service, path=mailbox.folder / service.path.name)
    request = {"module": service.module, "arguments": service.arguments, "path": os.fspath(service.path)}
    ours, its = socket.socketpair()
    with its, socket.socket(fileno=os.dup(mailbox.descriptor)) as post:
        socket.send_fds(post, [orjson.dumps({**request, "threads": _threads()})], [its.fileno()])
    connection = _greeted(ours)
    if connection is None:
        raise ServerFailed(_start_failure(service, None))
    return kind(service, connection, None)


def close_all() -> None:
    """Close all connections of this process."""
    for connection in _connections.values():
        connection.close()
    _connections.clear()


def _socket_of(path: Path) -> socket.socket | None:
    """Return a socket on which READY was received; None if there is no server, or it ends before."""
    client = socket.socket(socket.AF_UNIX)
    try:
        client.connect(os.fspath(path))
    except OSError:
        client.close()
        return None
    return _greeted(client)


def _greeted(client: socket.socket) -> socket.socket | None:
    """Return the socket once READY was received on it; None, with the socket closed, if the server ends before."""
    client.settimeout(READY_SECONDS)
    try:
        greeting = b""
        while len(greeting) < wire.HEAD.size:
            more = client.recv(wire.HEAD.size - len(greeting))
            if not more:
                raise ConnectionError
            greeting += more
    except OSError:
        client.close()
        return None
    except BaseException:  # the time limit for creating an agent interrupts this wait
        client.close()
        raise
    client.setblocking(False)
    return client


def _threads() -> str:
    """Return the value of THREADS. Raises BadInput."""
    threads = os.environ.get(THREADS, "0")
    if not threads.isdecimal():
        raise BadInput(f"{THREADS}={threads}: must be a number of threads (0: one per core)")
    return threads


def _start(service: Service) -> subprocess.Popen[bytes]:
    """Start a server that listens on the service's path."""
    path = service.path
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener, wire.log_of(path).open("wb") as log:
        listener.bind(os.fspath(path))
        listener.listen(128)
        own = ["--socket", os.fspath(path), "--listen", str(listener.fileno()), "--threads", _threads()]
        return launch(service.module, [*service.arguments, *own], log, listener.fileno())


def launch(module: str, arguments: Sequence[str], log: IO[bytes], descriptor: int) -> subprocess.Popen[bytes]:
    """Start a server's program, which inherits a descriptor; its output goes to the log.

    It has a session of its own: a signal to this process's group must not end what other processes use.
    """
    python_path = os.pathsep.join(filter(None, [str(_PROJECT), os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        # OpenMP threads sleep instead of spinning while they wait: the workers need the cores.
        env={**os.environ, "PYTHONPATH": python_path, "OMP_WAIT_POLICY": "PASSIVE"},
        pass_fds=(descriptor,),
        start_new_session=True,
    )


def _start_failure(service: Service, process: subprocess.Popen[bytes] | None) -> str:
    log = wire.log_of(service.path)
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    last = f": {lines[-1][:200]}" if lines else ""
    return f"{service.name} did not start{exit_of(process)}{last}; its log: {log}"


def exit_of(process: subprocess.Popen[bytes] | None, seconds: float = 0.2) -> str:
    """Return how a process has ended (" with code 1"); empty if unknown, as for a server of another process.

    seconds: how long its exit is waited for.
    """
    if process is None:
        return ""
    deadline = time.monotonic() + seconds  # its sockets close a moment before its exit code is available
    while (code := process.poll()) is None and time.monotonic() < deadline:
        time.sleep(0.005)
    return "" if code is None else f" by signal {-code}" if code < 0 else f" with code {code}"
