"""The coordinator's end of a worker process."""

from __future__ import annotations

import asyncio
import mmap
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from arena.fixture import Fixture
from arena.showdown.guard import SHARED_BYTES, read_step
from arena.showdown.simulator import Rules


@dataclass(frozen=True)
class WorkerSettings:
    """What every worker of a run is told. stock: play on Showdown's code untouched."""

    run: str
    rules: Rules
    stock: bool = False


class WorkerProcess(asyncio.SubprocessProtocol):
    """One worker: the fixtures it has, what it reports, whose step it is in, and its death.

    on_line(worker, header, record line), on_death(worker): called on the coordinator's loop.
    """

    def __init__(
        self,
        on_line: Callable[[WorkerProcess, dict[str, Any], bytes], None],
        on_death: Callable[[WorkerProcess], None],
    ) -> None:
        self._on_line, self._on_death = on_line, on_death
        self._rest = b""
        self._errors = bytearray()
        self._stdin: asyncio.WriteTransport | None = None
        self._transport: asyncio.SubprocessTransport | None = None
        self.shared: mmap.mmap | None = None
        self.fixtures: dict[int, Fixture] = {}
        self.last_step: int | None = None
        self.dead = False

    @classmethod
    async def launch(
        cls,
        settings: WorkerSettings,
        on_line: Callable[[WorkerProcess, dict[str, Any], bytes], None],
        on_death: Callable[[WorkerProcess], None],
    ) -> WorkerProcess:
        # The hash of strings is fixed, so that an agent that walks a set walks it in the same order every time.
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        # -P: a folder called `agents`, say, in the user's current folder must not take the place of ours.
        command = [sys.executable, "-P", "-m", "arena.runner.worker"]
        # A file without a name, which the worker inherits: nothing is left of it when both are dead, however they die.
        with tempfile.TemporaryFile() as file:
            file.truncate(SHARED_BYTES)
            _, worker = await asyncio.get_running_loop().subprocess_exec(
                lambda: cls(on_line, on_death),
                *command,
                env=environment,
                start_new_session=True,
                pass_fds=(file.fileno(),),
            )
            worker.shared = mmap.mmap(file.fileno(), SHARED_BYTES)
            settled = {"run": settings.run, "rules": asdict(settings.rules), "stock": settings.stock}
            worker._send({**settled, "shared": file.fileno()})
        return worker

    @property
    def pid(self) -> int:
        assert self._transport is not None
        return self._transport.get_pid()

    def give(self, serial: int, fixture: Fixture) -> None:
        """Another battle for this worker."""
        self.fixtures[serial] = fixture
        self._send({"serial": serial, "fixture": fixture.to_json()})

    def step(self) -> tuple[int, float] | None:
        """Whose step it is in, and for how many seconds it is overdue: (serial * 2 + seat, seconds)."""
        return read_step(self.shared) if self.shared is not None else None

    def last_words(self) -> str:
        """The last line that it, or an agent in it, wrote to stderr."""
        lines = self._errors.decode(errors="replace").strip().split("\n")
        return lines[-1][:300]

    def kill(self) -> None:
        if self._transport is not None and self._transport.get_returncode() is None:
            self._transport.send_signal(signal.SIGKILL)

    def stop(self) -> None:
        """Asks it to end; what it has in the air is dropped."""
        if self._stdin is not None:
            self._stdin.close()

    def _send(self, order: dict[str, Any]) -> None:
        assert self._stdin is not None
        self._stdin.write(orjson.dumps(order) + b"\n")

    # asyncio's side of the protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport
        stdin = transport.get_pipe_transport(0)
        assert isinstance(stdin, asyncio.WriteTransport)
        self._stdin = stdin

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._errors = (self._errors + data)[-4000:]
            return
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            header, _, record = line.partition(b"\t")
            self._on_line(self, orjson.loads(header), record)

    def process_exited(self) -> None:
        # Every pipe is drained before asyncio calls connection_lost, so that is where the death is told.
        step = self.step()
        self.last_step = step[0] if step else None

    def connection_lost(self, exc: Exception | None) -> None:
        self.dead = True
        self._on_death(self)
