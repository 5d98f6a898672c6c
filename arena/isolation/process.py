"""The worker's end of agent processes and of the nursery that forks them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections import OrderedDict
from typing import Any

import orjson

from teamsets.errors import ArenaError

#: The longest line that an agent process may write, in bytes: a choice with its diagnostics, which are bounded as well.
MAX_LINE = 512 * 1024
#: How many agent processes of a worker may wait for a next battle.
MAX_IDLE = 24
_KEPT_OUTPUT = 4000  # bytes of what an agent prints, of which its last line may be told


class ProcessEnded(ArenaError):
    """An agent process has ended, or has broken the rules of its channel and was ended. The message says how."""


class Silent(ArenaError):
    """An agent process has not answered in time, and was ended."""


class AgentProcess(asyncio.Protocol):
    """One agent process: asked one thing at a time. Nothing that it writes is trusted, and nothing of it is executed."""

    def __init__(self, nursery: NurseryProcess, key: tuple[str, str]) -> None:
        self.key = key
        self.pid = 0
        self._nursery = nursery
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._parts: list[bytes] = []
        self._size = 0  # of the parts
        self._waiting: asyncio.Future[dict[str, Any]] | None = None
        self._unread: list[dict[str, Any]] = []
        self._printed = bytearray()
        self.output: tuple[asyncio.ReadTransport, int] | None = None  # the pipe of what it prints, and its descriptor
        self._breach = ""
        self.ended = ""  # how, once it has

    async def ask(self, line: bytes, seconds: float) -> dict[str, Any]:
        """Sends a line and waits for the answer. Raises ProcessEnded; Silent, having ended it, after so many seconds."""
        assert self._transport is not None
        self._transport.write(line + b"\n")
        return await self.next_answer(seconds)

    async def next_answer(self, seconds: float) -> dict[str, Any]:
        """The next line that it writes; see `ask`."""
        if self._unread:
            return self._unread.pop(0)
        if self.ended:
            raise ProcessEnded(self.ended)
        waiting = self._waiting = self._loop.create_future()
        alarm = self._loop.call_later(max(seconds, 0.0), self._ring, waiting)
        try:
            return await waiting
        finally:
            alarm.cancel()
            self._waiting = None

    def _ring(self, waiting: asyncio.Future[dict[str, Any]]) -> None:
        if not waiting.done():
            waiting.set_exception(Silent("silent"))
            self.kill()

    def kill(self) -> None:
        """Ends it at once, with the process group that it leads."""
        self._nursery.kill(self.pid)

    # asyncio's side of the protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *ends, rest = data.split(b"\n")
        for end in ends:
            line = b"".join([*self._parts, end])
            self._parts.clear()
            self._size = 0
            self._line_received(line)
        self._parts.append(rest)
        self._size += len(rest)
        if self._size > MAX_LINE:
            self._break(f"wrote more than {MAX_LINE:,} bytes in one line into its channel")

    def _line_received(self, line: bytes) -> None:
        if self._breach:
            return
        try:
            answer = orjson.loads(line) if len(line) <= MAX_LINE else None
        except orjson.JSONDecodeError:
            answer = None
        if not isinstance(answer, dict) or len(self._unread) > 1:
            self._break("wrote into its channel what is no answer")
        elif self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(answer)
        else:
            self._unread.append(answer)

    def _break(self, words: str) -> None:
        self._breach = self._breach or words
        self._parts.clear()
        self._size = 0
        self.kill()

    def connection_lost(self, exc: Exception | None) -> None:
        self.kill()  # it may have closed the channel only; the nursery says how it ended

    def output_received(self, data: bytes) -> None:
        """What the agent has printed."""
        self._printed = (self._printed + data)[-_KEPT_OUTPUT:]

    def process_ended(self, code: int) -> None:
        """The nursery has reaped it."""
        if self.output is not None:
            transport, descriptor = self.output
            with contextlib.suppress(OSError):  # its last words may not have been read yet
                self.output_received(os.read(descriptor, 1 << 16))
            transport.close()
        how = self._breach or f"ended its process {_how(code)}"
        last = self._printed.decode(errors="replace").strip().split("\n")[-1][:300]
        self.ended = how + (f": {last}" if last else "")
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(ProcessEnded(self.ended))
        if self._transport is not None:
            self._transport.abort()


def _how(code: int) -> str:
    return f"with exit code {code}" if code >= 0 else f"by {signal.Signals(-code).name}"


class _Output(asyncio.Protocol):
    """Reads what an agent prints, so that it is never kept waiting for room in the pipe."""

    def __init__(self, process: AgentProcess) -> None:
        self._process = process

    def data_received(self, data: bytes) -> None:
        self._process.output_received(data)


class NurseryProcess:
    """The worker's end of the nursery. turn: held by the agent process that computes.

    One computes at a time, as without isolation, so that an agent limited by time has as much of a core as there.
    """

    def __init__(self, orders: socket.socket, process: subprocess.Popen[bytes]) -> None:
        self.turn = asyncio.Lock()
        self._orders = orders
        self._process = process
        self._loop = asyncio.get_running_loop()
        self._forking = asyncio.Lock()
        self._pid: asyncio.Future[int] | None = None
        self._living: dict[int, AgentProcess] = {}
        self._idle: OrderedDict[AgentProcess, None] = OrderedDict()  # the one that has waited longest first
        self._rest = b""
        self._loop.add_reader(orders, self._hear)

    @classmethod
    def launch(cls) -> NurseryProcess:
        """Starts a nursery with this process's environment and module path. Belongs to the running event loop."""
        ours, its = socket.socketpair()
        with its:
            command = [sys.executable, "-P", "-m", "arena.isolation.nursery"]
            process = subprocess.Popen(command, stdin=its.fileno(), stdout=subprocess.DEVNULL, start_new_session=True)
        ours.setblocking(False)
        return cls(ours, process)

    async def agent_process(self, spec: str, role: str, gen: int) -> AgentProcess:
        """A process for a seat of an agent: one that has played its last battle in that seat, or a new one.

        The seat is part of it because the two battles of a pair exchange the teams: whoever held both ends of a pair in
        one process would know the opponent's team.
        """
        found = next((process for process in reversed(self._idle) if process.key == (spec, role)), None)
        if found is not None:
            del self._idle[found]
            return found
        forking = asyncio.ensure_future(self._fork((spec, role), gen))
        try:
            return await asyncio.shield(forking)
        except asyncio.CancelledError:  # the battle is over: the process is for the next one
            forking.add_done_callback(self._keep_forked)
            raise

    def _keep_forked(self, forking: asyncio.Task[AgentProcess]) -> None:
        if not forking.cancelled():
            self.keep(forking.result())

    async def _fork(self, key: tuple[str, str], gen: int) -> AgentProcess:
        async with self._forking:
            return await self._forked(key, gen)

    async def _forked(self, key: tuple[str, str], gen: int) -> AgentProcess:
        process = AgentProcess(self, key)
        channel, its = socket.socketpair()
        reading, writing = os.pipe()
        self._pid = self._loop.create_future()
        try:
            order = orjson.dumps({"fork": key[0], "gen": gen}) + b"\n"
            socket.send_fds(self._orders, [order], [its.fileno(), writing])
        finally:
            its.close()
            os.close(writing)
        process.pid = await self._pid
        self._living[process.pid] = process
        channel.setblocking(False)
        await self._loop.create_unix_connection(lambda: process, sock=channel)
        output = await self._loop.connect_read_pipe(lambda: _Output(process), os.fdopen(reading, "rb"))
        process.output = (output[0], reading)
        return process

    def keep(self, process: AgentProcess) -> None:
        """Takes back a process that has played its battle to the end; those that have waited longest are ended."""
        if process.ended:
            return
        self._idle[process] = None
        while len(self._idle) > MAX_IDLE:
            oldest, _ = self._idle.popitem(last=False)
            oldest.kill()

    def kill(self, pid: int) -> None:
        """Ends an agent process, if it has not been reaped: a number may have been given to another process by then."""
        if pid in self._living:
            self._say({"kill": pid})

    def end(self) -> None:
        """Ends the nursery and all agent processes."""
        self._loop.remove_reader(self._orders)
        self._living.clear()
        self._orders.close()

    def _say(self, order: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # `_hear` finds the end of input
            self._orders.send(orjson.dumps(order) + b"\n")

    def _hear(self) -> None:
        try:
            data = self._orders.recv(65536)
        except ConnectionResetError:
            data = b""
        if not data:
            # Somebody has ended it, and no one can say who: as if it had been this worker, whose battles are played again.
            sys.stderr.write("the nursery of isolated agents has ended\n")
            sys.stderr.flush()
            os._exit(1)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            message = orjson.loads(line)
            if "pid" in message:
                assert self._pid is not None
                self._pid.set_result(message["pid"])
            else:
                process = self._living.pop(message["ended"], None)
                if process is not None:
                    self._idle.pop(process, None)
                    process.process_ended(message["code"])
