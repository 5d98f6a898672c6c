"""Worker processes of this machine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from agents.serving.broker import Broker
from arena.battles.clock import TICK_SECONDS
from arena.workers.worker_pool import OnDeath, OnLine, WorkerWatchdog
from arena.workers.worker_process import WorkerProcess
from arena.workers.worker_settings import WorkerSettings
from teamsets.processes import close_to_others

#: Seconds beyond its limit after which a running step's worker is killed: SIGALRM should have interrupted it.
GRACE_SECONDS = 5.0


def default_workers() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LocalPool:
    """A pool (worker_pool.py) of `workers` processes on this machine.

    grace: seconds beyond its limit that an agent may block a worker before it is killed.
    """

    def __init__(self, settings: WorkerSettings, workers: int, *, grace: float = GRACE_SECONDS) -> None:
        self.settings, self.capacity = settings, workers
        self.nodes: dict[str, tuple[int, int]] = {}
        self.remarks: list[str] = []
        self.duplicates_slow = False
        self._broker: Broker | None = None
        self.watch = WorkerWatchdog(settings.rules.think_limit, grace, TICK_SECONDS)

    async def open(self, on_line: OnLine, on_death: OnDeath, on_change: Callable[[Exception | None], None]) -> None:
        self._on_line, self._on_death = on_line, on_death
        self._watching = asyncio.ensure_future(self.watch.run())
        if self.settings.isolate:
            close_to_others()
            self._broker = Broker()

    async def launch(self, *, solo: bool = False) -> WorkerProcess:
        mailbox = None if self._broker is None else self._broker.mailbox
        worker = await WorkerProcess.launch(self.settings, self._on_line, self._died, solo=solo, mailbox=mailbox)
        self.watch.add(worker)
        return worker

    def _died(self, worker: WorkerProcess) -> None:
        if worker in self.watch.workers:
            self.watch.workers.remove(worker)
        self._on_death(worker)

    async def close(self) -> None:
        self._watching.cancel()
        if self._broker is not None:
            self._broker.close()
