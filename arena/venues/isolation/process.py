"""The worker's side of the nursery that forks agent processes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections import OrderedDict
from typing import Any

import orjson

from agents.serving.client import Mailbox
from arena.battles.clock import RunClock
from arena.venues.isolation.agent_process import AgentProcess, Turns

#: Maximum number of idle agent processes of a worker.
MAX_IDLE = 24
_CHECK_SECONDS = 0.1  # interval of the checks for overdue replies


class _Output(asyncio.Protocol):
    """Reads an agent's output, so that its pipe never fills up."""

    def __init__(self, process: AgentProcess) -> None:
        self._process = process

    def data_received(self, data: bytes) -> None:
        self._process.output_received(data)


class NurseryProcess:
    """The worker's side of the nursery. turns: schedules the processes. clock: the run's time. max_idle: see MAX_IDLE."""

    def __init__(
        self, orders: socket.socket, process: subprocess.Popen[bytes], clock: RunClock, max_idle: int = MAX_IDLE
    ) -> None:
        self.turns = Turns()
        self.clock, self.max_idle = clock, max_idle
        self._orders = orders
        self._process = process
        self._loop = asyncio.get_running_loop()
        self._forking = asyncio.Lock()
        self._pid: asyncio.Future[int] | None = None
        self._living: dict[int, AgentProcess] = {}
        self._idle: OrderedDict[AgentProcess, None] = OrderedDict()  # oldest first
        self._rest = b""
        self._loop.add_reader(orders, self._on_readable)
        self._check_timer = self._loop.call_later(_CHECK_SECONDS, self._check_deadlines)

    @classmethod
    def launch(cls, mailbox: Mailbox, clock: RunClock, max_idle: int = MAX_IDLE) -> NurseryProcess:
        """Start a nursery with this process's environment and module path, for the running event loop.

        mailbox: to the servers of models, for the agent processes that run only the arena's code. clock: the run's time.
        """
        ours, its = socket.socketpair()
        with its:
            command = [
                sys.executable,
                "-P",
                "-m",
                "arena.venues.isolation.nursery",
                str(mailbox.descriptor),
                str(mailbox.folder),
            ]
            process = subprocess.Popen(
                command,
                stdin=its.fileno(),
                stdout=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=(mailbox.descriptor,),
            )
        ours.setblocking(False)
        return cls(ours, process, clock, max_idle)

    async def agent_process(self, spec: str, role: str, gen: int) -> AgentProcess:
        """Return a process for a seat of an agent: an idle one that played in that seat, or a new one.

        The seat matters because the two battles of a pair exchange the teams: a process that plays both would know the
        opponent's team.
        """
        idle = next((process for process in reversed(self._idle) if process.key == (spec, role)), None)
        if idle is not None:
            del self._idle[idle]
            return idle
        forking = asyncio.ensure_future(self._fork((spec, role), gen))
        try:
            return await asyncio.shield(forking)
        except asyncio.CancelledError:  # the battle is over: keep the process for the next one
            forking.add_done_callback(self._keep_forked)
            raise

    def _keep_forked(self, forking: asyncio.Task[AgentProcess]) -> None:
        if not forking.cancelled():
            self.keep(forking.result())

    async def _fork(self, key: tuple[str, str], gen: int) -> AgentProcess:
        async with self._forking:
            return await self._fork_locked(key, gen)

    async def _fork_locked(self, key: tuple[str, str], gen: int) -> AgentProcess:
        process = AgentProcess(key, self.turns, self.kill, self.clock)
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
        """Keep a process whose battle is over; end the oldest idle ones beyond the limit."""
        if process.ended:
            return
        self._idle[process] = None
        while len(self._idle) > self.max_idle:
            oldest, _ = self._idle.popitem(last=False)
            oldest.kill()

    def kill(self, pid: int) -> None:
        """Kill an agent process unless it was reaped: its id may have been reused."""
        if pid in self._living:
            self._send({"kill": pid})

    def _check_deadlines(self) -> None:
        """Kill the processes whose replies are overdue. One timer for all: one per request costs more."""
        for process in list(self._living.values()):
            process.check_deadline()
        self._check_timer = self._loop.call_later(_CHECK_SECONDS, self._check_deadlines)

    def end(self) -> None:
        """End the nursery and all agent processes."""
        self._check_timer.cancel()
        self._loop.remove_reader(self._orders)
        self._living.clear()
        self._orders.close()

    def _send(self, order: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # `_on_readable` handles the end of input
            self._orders.send(orjson.dumps(order) + b"\n")

    def _on_readable(self) -> None:
        try:
            data = self._orders.recv(65536)
        except ConnectionResetError:
            data = b""
        if not data:
            # It was killed by an unknown cause: end this worker, whose battles are then replayed.
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
