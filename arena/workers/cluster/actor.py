"""A Ray actor: one worker slot on a machine of the cluster. It starts worker processes there, watches them, and relays.

A worker stays a process of its own, as on one machine: a signal interrupts its agents, its death is no death of the actor,
and who watches it shares memory with it. The actor passes orders on and collects reports.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from agents.paths import FOLDER
from arena.fixture import Fixture
from arena.provenance import code_hash, versions
from arena.venues.isolation.describing import describe_agents
from arena.workers.cluster import payload
from arena.workers.cluster.payload import Piece
from arena.workers.coordinator import BATTLES_PER_WORKER
from arena.workers.local_pool import LocalPool
from arena.workers.worker_process import WorkerProcess
from arena.workers.worker_settings import WorkerSettings
from teamsets.errors import BadInput

#: Reports wait this long for others, in seconds: a call for each would cost more than the battle's own report.
GATHER_SECONDS = 0.05
#: While battles wait here for their turn, reports may wait so many seconds more.
PREFETCH_SECONDS = 0.45
#: A call for reports is answered after so many seconds, also if there are none.
ANSWER_SECONDS = 2.0

#: ("line", worker, header, record) or ("died", worker, what `WorkerHandle` has about its death, its last error line, serials
#: of the battles that had not begun).
Event = tuple[Any, ...]


def identity() -> dict[str, str]:
    """What must be the same on all machines of a run: versions, and the code that plays battles."""
    every = versions()
    return {name: every[name] for name in ("arena", "pokemon-showdown", "poke-env")} | {"code": code_hash()}


class WorkerActor:
    """The actor. surroundings: environment variables of its workers, with the values that they have where the run was
    started; None: not set there, e.g. OMP_NUM_THREADS, which Ray sets to 1."""

    def __init__(self, surroundings: dict[str, str | None]) -> None:
        for name, value in surroundings.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        if not os.environ.get("CUDA_VISIBLE_DEVICES", "none"):
            del os.environ[
                "CUDA_VISIBLE_DEVICES"
            ]  # Ray hides GPUs from actors that reserve none; a network may use one
        self.workers: dict[int, WorkerProcess] = {}
        self.numbers: dict[WorkerProcess, int] = {}
        self.events: list[Event] = []
        self.arrived = asyncio.Event()
        self.waiting: dict[int, deque[tuple[int, Fixture]]] = {}  # battles that have not begun, by worker
        self.dry = asyncio.Event()  # none waits
        self.dry.set()

    async def greet(self, pieces: Sequence[Piece]) -> tuple[dict[str, str], list[str]]:
        """Return the identity of this machine, and the hashes of the files that it lacks."""
        return identity(), payload.missing_files(pieces)

    async def keep(self, sha256: str, content: bytes) -> None:
        """Keep a file."""
        payload.keep(sha256, content)

    async def begin(self, settings: WorkerSettings, pieces: Sequence[Piece]) -> None:
        """Prepare for workers. All files must be there."""
        folder = payload.unpack(pieces)
        os.environ[FOLDER] = str(folder)
        os.chdir(folder)
        self.pool = LocalPool(settings, 1)
        await self.pool.open(self._on_line, self._on_death, lambda error: None)

    async def problem(self, fingerprints: dict[str, str], formats: Sequence[str]) -> str:
        """Return why the agents would not play here as they do where the run was started; empty if they would."""
        try:
            agents = describe_agents(list(fingerprints), formats)
        except BadInput as error:
            return str(error)
        for agent, expected in zip(agents, fingerprints.values(), strict=True):
            for format_id, lack in agent.lacks.items():
                return f"agent '{agent.spec}': cannot play {format_id}: {lack}"
            if agent.fingerprint != expected:
                return f"agent '{agent.spec}': its code or a file that it reads differs: install the same version"
        return ""

    async def carry_out(self, orders: Sequence[tuple[Any, ...]]) -> None:
        """("launch", worker, solo), ("give", worker, serial, fixture) or ("kill", worker), in this order."""
        for kind, number, *rest in orders:
            if kind == "launch":
                worker = await self.pool.launch(solo=rest[0])
                self.workers[number] = worker
                self.numbers[worker] = number
                self.waiting[number] = deque()
            elif number in self.workers:
                worker = self.workers[number]
                if kind == "give":
                    self.waiting[number].append((rest[0], Fixture.from_json(rest[1])))
                    self._feed(worker, number)
                else:
                    worker.kill()

    async def exchange(self, orders: Sequence[tuple[Any, ...]]) -> list[Event]:
        """Carry out orders, and return what has happened since the last call; waits for it."""
        await self.carry_out(orders)
        with suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_SECONDS):
                await self.arrived.wait()
                await asyncio.sleep(GATHER_SECONDS)
        with suppress(TimeoutError):
            async with asyncio.timeout(PREFETCH_SECONDS):
                await self.dry.wait()
        self.arrived.clear()
        events, self.events = self.events, []
        return events

    def _feed(self, worker: WorkerProcess, number: int) -> None:
        """Give a worker as many of the battles that wait for it as it plays at once."""
        queue = self.waiting[number]
        while queue and worker.load < BATTLES_PER_WORKER:
            worker.give(*queue.popleft())
        self._note_waiting()

    def _note_waiting(self) -> None:
        """Set or clear `dry`."""
        if any(self.waiting.values()):
            self.dry.clear()
        else:
            self.dry.set()

    def _report(self, *event: Any) -> None:
        self.events.append(event)
        self.arrived.set()

    def _on_line(self, worker: WorkerProcess, header: dict[str, Any], record: bytes) -> None:
        if not worker.solo:  # one that plays solo is charged with its battle until its death
            worker.fixtures.pop(header["serial"])
            self._feed(worker, self.numbers[worker])
        self._report("line", self.numbers[worker], header, record)

    def _on_death(self, worker: WorkerProcess) -> None:
        number = self.numbers.pop(worker)
        del self.workers[number]
        waiting = frozenset(serial for serial, _ in self.waiting.pop(number))
        self._note_waiting()
        self._report("died", number, (worker.begun, worker.last_step, worker.cause), worker.last_error_line(), waiting)
