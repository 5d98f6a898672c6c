"""The coordinator's end of a worker process."""

from __future__ import annotations

import asyncio
import mmap
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from arena.child import ChildProcess
from arena.fixture import Fixture
from arena.showdown.guard import SHARED_BYTES, read_step
from arena.showdown.simulator import Rules
from arena.showdown.table import is_outside
from teamsets.showdown import PROJECT


@dataclass(frozen=True)
class WorkerSettings:
    """What every worker of a run is told.

    stock: play on Showdown's code untouched. venue: "simulator" or "server". isolate: each agent in a process of its own.
    """

    run: str
    rules: Rules
    stock: bool = False
    venue: str = "simulator"
    isolate: bool = False


class WorkerProcess(ChildProcess):
    """One worker: the fixtures it has, what it reports, whose step it is in, and its death.

    on_line(worker, header, record line), on_death(worker): called on the coordinator's loop.
    """

    def __init__(
        self,
        on_line: Callable[[WorkerProcess, dict[str, Any], bytes], None],
        on_death: Callable[[WorkerProcess], None],
    ) -> None:
        super().__init__()
        self._on_line, self._on_death = on_line, on_death
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
        # The hash of strings is fixed, so that an agent that walks a set walks it in the same order every time. Our own
        # packages come first (and -P: not the current folder's), or a user's folder called `agents` would take their place.
        path = os.pathsep.join(filter(None, [str(PROJECT), os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": path}
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
            worker._send({**asdict(settings), "shared": file.fileno()})
        return worker

    def give(self, serial: int, fixture: Fixture) -> None:
        """Another battle for this worker."""
        self.fixtures[serial] = fixture
        self._send({"serial": serial, "fixture": fixture.to_json()})

    def outside(self) -> int:
        """How many of its battles have programs of other people in them."""
        return sum(is_outside(fixture) for fixture in self.fixtures.values())

    def step(self) -> tuple[int, float] | None:
        """Whose step it is in, and for how many seconds it is overdue: (serial * 2 + seat, seconds)."""
        return read_step(self.shared) if self.shared is not None else None

    def _send(self, order: dict[str, Any]) -> None:
        self.write_line(orjson.dumps(order))

    def line_received(self, line: bytes) -> None:
        header, _, record = line.partition(b"\t")
        self._on_line(self, orjson.loads(header), record)

    def process_exited(self) -> None:
        # Every pipe is drained before asyncio calls connection_lost, so that is where the death is told.
        step = self.step()
        self.last_step = step[0] if step else None

    def connection_lost(self, exc: Exception | None) -> None:
        self.dead = True
        self._on_death(self)
