"""The workers of a run, as the coordinator sees them: on this machine (`LocalPool`) or on a Ray cluster (cluster/)."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

from arena.battles.clock import Witness
from arena.fixture import Fixture
from arena.workers.crash_attribution import End
from arena.workers.worker_settings import WorkerSettings

#: A battle in a batch of the engine, in battles of the simulator: a batch needs many. Where all agents act alone, more
#: battles at once only take longer each, and a test that counts pairs in their order (--sprt) waits for the longest.
BATCH_SHARE = 12 / 256


def load_of(fixture: Fixture) -> float:
    """How busy a battle keeps its worker, in battles of the simulator."""
    return BATCH_SHARE if fixture.in_batches else 1.0


class WorkerHandle(ABC):
    """One worker, as the coordinator sees it: the battles that it has, and how it ended.

    solo: it plays one battle only. node: the machine that it runs on; empty: this one. fixtures: by their serials.
    waiting: serials of those that had not begun when it ended.
    begun: whether its loop has run. last_step: serial * 2 + seat of the step in which it ended. cause: why it was ended by
    who watches it. lost: its machine is gone, so no agent is charged.
    """

    def __init__(self, *, solo: bool = False, node: str = "") -> None:
        self.solo, self.node = solo, node
        self.fixtures: dict[int, Fixture] = {}
        self.waiting: frozenset[int] = frozenset()
        self.begun = self.lost = False
        self.last_step: int | None = None
        self.cause: End | None = None
        self._given = time.monotonic()

    def give(self, serial: int, fixture: Fixture) -> None:
        """Give the worker another battle."""
        self._given = time.monotonic()
        self.fixtures[serial] = fixture
        self.order({"serial": serial, "fixture": fixture.to_json()})

    @property
    def age(self) -> float:
        """Seconds since it received its last battle."""
        return time.monotonic() - self._given

    @property
    def silent_seconds(self) -> float:
        """For how many seconds its loop has given no sign of life, as far as it is known here."""
        return 0.0

    @property
    def idle_seconds(self) -> float:
        """For how many of these seconds it has not computed either: it needs no core."""
        return 0.0

    @property
    def load(self) -> float:
        """How busy it is, in battles of the simulator."""
        return sum(map(load_of, self.fixtures.values()))

    @property
    def prefetch(self) -> float:
        """How many battles, as `load` counts them, may wait at its machine until it has room for them."""
        return 0.0

    def external_battles(self) -> int:
        """Return how many of its battles have external programs in them."""
        return sum(fixture.has_program for fixture in self.fixtures.values())

    @abstractmethod
    def order(self, order: dict[str, Any]) -> None:
        """Send it an order, JSON-able (worker.py). Does nothing once it has ended."""

    @abstractmethod
    def kill(self) -> None:
        """End it and its child processes; its death is reported later."""

    @abstractmethod
    def last_error_line(self) -> str:
        """Return the last line that it wrote to stderr."""


OnLine = Callable[[Any, dict[str, Any], bytes], None]
OnDeath = Callable[[Any], None]


class WorkerPool(Protocol):
    """The workers of a run, wherever they live. It watches them and ends those that an agent blocks.

    settings: of its workers. capacity: how many workers there may be at present, solo ones not counted. nodes: of each
    machine its workers and the battles that they have played; empty for this machine alone. remarks: one line each,
    e.g. about a machine that was lost. duplicates_slow: whether a battle that a slow worker has for long is given to an
    idle one as well.
    """

    settings: WorkerSettings
    nodes: dict[str, tuple[int, int]]
    remarks: list[str]
    duplicates_slow: bool

    @property
    def capacity(self) -> int: ...

    async def open(self, on_line: OnLine, on_death: OnDeath, on_change: Callable[[Exception | None], None]) -> None:
        """Begin. on_line(worker, header, record line), on_death(worker): called on the running loop. on_change(error):
        the same when `capacity` has changed, or, with an error, when the run cannot continue here."""

    async def launch(self, *, solo: bool = False) -> WorkerHandle:
        """Start a worker. solo: it plays one battle only."""

    async def close(self) -> None:
        """Release everything. Its workers have been asked to end."""


class WorkerWatchdog:
    """Kills workers that an agent blocks, in a step that no signal interrupts or outside of its steps.

    It is the witness of the workers' clocks (arena/battles/clock.py).
    """

    def __init__(
        self, think_limit: float, grace: float, seconds: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        """grace: seconds that a step may be overdue. seconds: between two checks. now: this process's clock."""
        self.grace, self.silence, self.seconds = grace, think_limit + grace, seconds
        self.workers: list[Any] = []
        self._now = now
        self._checked = now()
        self._witness = Witness()

    def add(self, worker: Any) -> None:
        """Watch a worker, which has just been started, from now on."""
        self.workers.append(worker)
        self._tick()

    def _tick(self) -> None:
        self._witness.tick(worker.shared for worker in self.workers if worker.shared is not None)

    async def run(self) -> None:
        """Check the workers until it is cancelled."""
        self._checked = self._now()
        while True:
            await asyncio.sleep(self.seconds)
            self.check()

    def check(self) -> None:
        """Check the workers once, and end those that are blocked."""
        self._tick()
        now = self._now()
        # Bounded as if this process had run all the time: the whole machine may have been suspended.
        passed, self._checked = min(now - self._checked, 2 * self.seconds), now
        for worker in list(self.workers):
            cause = worker.check_health(passed, self.grace, self.silence) if worker.cause is None else None
            if cause is not None:
                worker.end(cause)
