"""Client of the inference server (serve.py): connects to it or starts it, and sends it the decisions of this process.

One server per checkpoint and device serves all processes of a user. A process takes the server's lock, connects, and starts
the server if nothing answers, so of several workers that start together one starts it and the others connect. A process has
one connection per server, shared by all its battles.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.policy import wire
from agents.policy.checkpoint import identity
from agents.policy.observation import Observation, Observations
from teamsets.errors import ArenaError, BadInput
from teamsets.locking import file_lock

#: Timeout in seconds for a server to become ready: it loads torch and the weights.
READY_SECONDS = 240.0
#: Environment variable: CPU threads of started servers; 0 or unset: one per core.
THREADS = "ARENA_POLICY_THREADS"
_PROJECT = Path(__file__).parents[2]


class ServerFailed(ArenaError):
    """The inference server could not be started, has ended, or reported an error. The message says which and why."""


class Connection(wire.Framed):
    """This process's connection to one server, bound to the event loop of the first `ask`.

    ready: a connected socket on which READY was received. process: the server, if this process started it.
    """

    def __init__(self, folder: Path, path: Path, ready: socket.socket, process: subprocess.Popen[bytes] | None) -> None:
        super().__init__()
        self.folder, self.path, self.process = folder, path, process
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

    async def ask(self, session: int, position: int, observation: Observation) -> NDArray[np.float32]:
        """Return float32 [14]: 13 logits (-inf for illegal actions) and the value. Raises ServerFailed.

        position: number of decisions that the seat had before, as in `Network.step`.
        """
        return np.frombuffer(await self._answer(wire.ASK, session, position, wire.packed(observation)), np.float32)

    async def ask_many(
        self, sessions: Sequence[int], positions: Sequence[int], observations: Observations
    ) -> NDArray[np.float32]:
        """Return float32 [n, 14] for n seats at once, as `ask` does for one. Raises ServerFailed if one of them fails.

        Up to wire.MAX_BATCH of them are one message and one forward pass. A single one is sent as by `ask`, so that the
        server batches it with those of other processes.
        """
        if len(sessions) == 1:
            one = Observation(observations.token_ids[0], observations.features[0], observations.legal[0])
            return (await self.ask(sessions[0], positions[0], one))[None]
        frames = []
        for start in range(0, len(sessions), wire.MAX_BATCH):
            rows = slice(start, start + wire.MAX_BATCH)
            body = wire.packed_many(sessions[rows], positions[rows], observations.take(rows))
            frames.append(self._answer(wire.ASK_MANY, self.new_session(), len(sessions[rows]), body))
        return np.frombuffer(b"".join(await asyncio.gather(*frames)), np.float32).reshape(len(sessions), -1)

    async def _answer(self, kind: int, session: int, position: int, body: bytes) -> bytes:
        """Send a frame and return the body of its answer."""
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
            message = body.decode(errors="replace")
            answer.set_exception(ServerFailed(f"the inference server of {self.folder} failed to answer: {message}"))

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = (
            f"the inference server of {self.folder} has ended{_exit(self.process)}; its log: {wire.log_of(self.path)}"
        )
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(ServerFailed(self._lost))

    def close(self) -> None:
        """Close the connection."""
        self._lost = self._lost or f"the connection to the inference server of {self.folder} was closed"
        if self.transport is not None and self._loop is not None and not self._loop.is_closed():
            self.transport.abort()
        self._socket.close()


_connections: dict[Path, Connection] = {}


def connection_to(folder: Path, device: str) -> Connection:
    """Return this process's connection to the server of a checkpoint; starts the server if necessary. Blocks meanwhile.

    device: "auto" (the first GPU, else the CPU) or a torch device. Raises ServerFailed if the server does not start.
    """
    path = wire.socket_path(folder, identity(folder), device)
    connection = _connections.get(path)
    if connection is None or not connection.alive:
        if connection is not None:
            connection.close()
        with file_lock(wire.lock_of(path), remove=True):
            found = _connected(path)
            process = None
            if found is None:
                process = _start(folder, path, device)
                found = _connected(path)
            if found is None:
                raise ServerFailed(_start_failure(folder, path, process))
        connection = _connections[path] = Connection(folder, path, found, process)
    return connection


def _connected(path: Path) -> socket.socket | None:
    """Return a socket on which READY was received; None if there is no server, or it ends before."""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(READY_SECONDS)
    try:
        client.connect(os.fspath(path))
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


def _start(folder: Path, path: Path, device: str) -> subprocess.Popen[bytes]:
    """Start a server in a session of its own: a signal to this process's group must not end what other processes use."""
    threads = os.environ.get(THREADS, "0")
    if not threads.isdecimal():
        raise BadInput(f"{THREADS}={threads}: must be a number of threads (0: one per core)")
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener, wire.log_of(path).open("wb") as log:
        listener.bind(os.fspath(path))
        listener.listen(128)
        python_path = os.pathsep.join(filter(None, [str(_PROJECT), os.environ.get("PYTHONPATH")]))
        arguments = [os.fspath(folder.resolve()), "--socket", os.fspath(path), "--listen", str(listener.fileno())]
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "agents.policy.serve", *arguments, "--device", device, "--threads", threads],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # OpenMP threads sleep instead of spinning while they wait: the workers need the cores.
            env={**os.environ, "PYTHONPATH": python_path, "OMP_WAIT_POLICY": "PASSIVE"},
            pass_fds=(listener.fileno(),),
            start_new_session=True,
        )


def _start_failure(folder: Path, path: Path, process: subprocess.Popen[bytes] | None) -> str:
    log = wire.log_of(path)
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    last = f": {lines[-1][:200]}" if lines else ""
    return f"the inference server of {folder} did not start{_exit(process)}{last}; its log: {log}"


def _exit(process: subprocess.Popen[bytes] | None) -> str:
    """Return how a server has ended (" with code 1"); empty if unknown, as for a server of another process."""
    if process is None:
        return ""
    deadline = time.monotonic() + 0.2  # its sockets close a moment before its exit code is available
    while (code := process.poll()) is None and time.monotonic() < deadline:
        time.sleep(0.005)
    return "" if code is None else f" by signal {-code}" if code < 0 else f" with code {code}"
