"""The worker's end of the inference server (serve.py): finds or starts it, and asks it for all battles of this process.

One server serves a checkpoint on a device to all processes of a user. Who needs it takes its lock, and connects or, where
nobody answers, starts it; so of several workers that begin together one starts it and the others find it. A process has
one connection to it, shared by all its battles.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.policy import wire
from agents.policy.checkpoint import identity
from agents.policy.observation import Observation
from teamsets.errors import ArenaError, BadInput

#: How long a server may take until it is ready, in seconds: it loads torch and the weights.
READY_SECONDS = 240.0
#: CPU threads of the servers that we start; 0 or unset: one for each core.
THREADS = "ARENA_POLICY_THREADS"
_PROJECT = Path(__file__).parents[2]


class ServerFailed(ArenaError):
    """The inference server could not be started, has ended, or could not answer. The message says which and why."""


class Connection(wire.Framed):
    """This process's connection to one server. Belongs to the event loop that asks first.

    ready: connected, and the server has said that it is ready. process: the server, if this process has started it.
    """

    def __init__(
        self, folder: Path, place: Path, ready: socket.socket, process: subprocess.Popen[bytes] | None
    ) -> None:
        super().__init__()
        self.folder, self.place, self.process = folder, place, process
        self._socket = ready
        self._sessions = itertools.count(1)
        self._answers: dict[int, asyncio.Future[bytes]] = {}
        self._attaching: asyncio.Task[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lost = ""

    @property
    def alive(self) -> bool:
        """False once the server has hung up, or the loop that the connection belonged to has ended."""
        return not self._lost and not (self._loop is not None and self._loop.is_closed())

    def new_session(self) -> int:
        """A number for one seat of one battle."""
        return next(self._sessions)

    async def ask(self, session: int, position: int, seen: Observation) -> NDArray[np.float32]:
        """float32 [14]: 13 logits (-inf where illegal) and the value. position: as `Network.step`. Raises ServerFailed."""
        transport = await self._attached()
        if self._lost:
            raise ServerFailed(self._lost)
        answer = asyncio.get_running_loop().create_future()
        self._answers[session] = answer
        try:
            transport.write(wire.frame(wire.ASK, session, position, wire.packed(seen)))
            return np.frombuffer(await answer, dtype=np.float32)
        finally:
            del self._answers[session]

    def forget(self, session: int) -> None:
        """The session's battle is over."""
        if self.transport is not None and self.alive and not self.transport.is_closing():
            self.transport.write(wire.frame(wire.FORGET, session))

    async def _attached(self) -> asyncio.Transport:
        """Puts the socket under the running loop, once."""
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
            words = body.decode(errors="replace")
            answer.set_exception(ServerFailed(f"the inference server of {self.folder} failed to answer: {words}"))

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = (
            f"the inference server of {self.folder} has ended{_how(self.process)}; its log: {wire.log_of(self.place)}"
        )
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(ServerFailed(self._lost))

    def close(self) -> None:
        """Hangs up."""
        self._lost = self._lost or f"the connection to the inference server of {self.folder} was closed"
        if self.transport is not None and self._loop is not None and not self._loop.is_closed():
            self.transport.abort()
        self._socket.close()


_connections: dict[Path, Connection] = {}


def connection_to(folder: Path, device: str) -> Connection:
    """This process's connection to the server of a checkpoint, which is started where there is none. Blocks meanwhile.

    device: "auto" (the first GPU, else the CPU), or torch's name of one. Raises ServerFailed when it does not start.
    """
    place = wire.place_of(folder, identity(folder), device)
    connection = _connections.get(place)
    if connection is None or not connection.alive:
        if connection is not None:
            connection.close()
        with wire.locked(wire.lock_of(place)):
            found = _connected(place)
            process = None
            if found is None:
                process = _start(folder, place, device)
                found = _connected(place)
            if found is None:
                raise ServerFailed(_why_not(folder, place, process))
        connection = _connections[place] = Connection(folder, place, found, process)
    return connection


def _connected(place: Path) -> socket.socket | None:
    """A socket on which the server has said that it is ready; None where there is no server, or it ends before."""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(READY_SECONDS)
    try:
        client.connect(os.fspath(place))
        greeting = b""
        while len(greeting) < wire.HEAD.size:
            more = client.recv(wire.HEAD.size - len(greeting))
            if not more:
                raise ConnectionError
            greeting += more
    except OSError:
        client.close()
        return None
    except BaseException:  # the time for making an agent is up
        client.close()
        raise
    client.setblocking(False)
    return client


def _start(folder: Path, place: Path, device: str) -> subprocess.Popen[bytes]:
    """A server, in a session of its own, so that what ends this process's group does not end what others use."""
    threads = os.environ.get(THREADS, "0")
    if not threads.isdecimal():
        raise BadInput(f"{THREADS}={threads}: must be a number of threads (0: one per core)")
    place.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener, wire.log_of(place).open("wb") as log:
        listener.bind(os.fspath(place))
        listener.listen(128)
        path = os.pathsep.join(filter(None, [str(_PROJECT), os.environ.get("PYTHONPATH")]))
        words = [os.fspath(folder.resolve()), "--socket", os.fspath(place), "--listen", str(listener.fileno())]
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "agents.policy.serve", *words, "--device", device, "--threads", threads],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # Threads that wait for others do so asleep: the workers need the cores that they would keep busy.
            env={**os.environ, "PYTHONPATH": path, "OMP_WAIT_POLICY": "PASSIVE"},
            pass_fds=(listener.fileno(),),
            start_new_session=True,
        )


def _why_not(folder: Path, place: Path, process: subprocess.Popen[bytes] | None) -> str:
    log = wire.log_of(place)
    said = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    last = f": {said[-1][:200]}" if said else ""
    return f"the inference server of {folder} did not start{_how(process)}{last}; its log: {log}"


def _how(process: subprocess.Popen[bytes] | None) -> str:
    """How a server has ended, where this process started it and so can know."""
    if process is None:
        return ""
    patience = time.monotonic() + 0.2  # its sockets close a moment before it can be waited for
    while (code := process.poll()) is None and time.monotonic() < patience:
        time.sleep(0.005)
    return "" if code is None else f" by signal {-code}" if code < 0 else f" with code {code}"
