"""A stand-in venue for tests of agents' runs, schedules and reports: it decides battles at once, without a simulator.

venue = StandInVenue(lambda fixture: "p1" if fixture.agents[0] == "random" else "p2")
played = play_into(db, settings, cluster=venue)             # a whole run: arena/run/tournament.py
fixtures = venue.play_schedule(schedule, at_once=12)        # a schedule alone, without a database
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

from agents import AgentSource
from arena.fixture import SEATS, Fixture
from arena.record import BattleRecord, score
from arena.schedules.schedule import Schedule
from arena.workers.worker_pool import OnDeath, OnLine, WorkerHandle
from arena.workers.worker_settings import WorkerSettings


class StandInVenue:
    """A venue (arena/venue.py) that takes the result of each fixture from a function.

    result: fixture -> the winner ("p1", "p2", None for a tie) or a whole BattleRecord. What it raises is raised by whoever
    plays. As the `cluster` of a run it has one worker, in this process; no agent is made.
    """

    gone = False

    def __init__(self, result: Callable[[Fixture], BattleRecord | str | None]) -> None:
        self.result = result

    def record(self, fixture: Fixture) -> BattleRecord:
        """The record of a fixture; one turn long unless `result` says otherwise."""
        result = self.result(fixture)
        if isinstance(result, BattleRecord):
            return result
        if result not in (*SEATS, None):
            raise ValueError(f"result {result!r} of a stand-in battle: must be p1, p2, None or a BattleRecord")
        return BattleRecord(fixture, result, "tie" if result is None else "win", turns=1)

    async def play(self, fixture: Fixture, serial: int) -> BattleRecord:
        return self.record(fixture)

    def end(self) -> None:
        """There is no process."""

    def pool(
        self, settings: WorkerSettings, sources: Callable[[], list[AgentSource]], formats: tuple[str, ...]
    ) -> StandInPool:
        """The workers of a run whose battles this venue plays: it can be the `cluster` of a run."""
        return StandInPool(self, settings)

    def play_schedule(
        self, schedule: Schedule, *, at_once: int = 1, seed: int = 0, limit: int | None = None
    ) -> list[Fixture]:
        """Plays a schedule to its end; returns its fixtures in the order in which they began.

        at_once: number of battles in progress, which end in an order drawn with `seed`. limit: maximum number of battles.
        """
        begun: list[Fixture] = []
        in_progress: list[Fixture] = []
        rng = random.Random(seed)
        exhausted = False
        while not schedule.over:
            while not exhausted and len(in_progress) < at_once and len(begun) != limit:
                try:
                    fixture = next(schedule)
                except StopIteration:
                    exhausted = True
                    break
                if fixture is None:  # it needs results first
                    break
                begun.append(fixture)
                in_progress.append(fixture)
            if not in_progress:
                break
            record = self.record(in_progress.pop(rng.randrange(len(in_progress))))
            schedule.record_result(record.fixture, score(record.winner, record.reason))
        return begun


class StandInPool:
    """The pool (arena/workers/worker_pool.py) of a StandInVenue: one worker at a time, beside a solo one."""

    def __init__(self, venue: StandInVenue, settings: WorkerSettings) -> None:
        self.venue, self.settings = venue, settings
        self.capacity = 1
        self.nodes: dict[str, tuple[int, int]] = {}
        self.remarks: list[str] = []
        self.duplicates_slow = False

    async def open(self, on_line: OnLine, on_death: OnDeath, on_change: Callable[[Exception | None], None]) -> None:
        self.on_line, self.on_death, self.on_change = on_line, on_death, on_change

    async def launch(self, *, solo: bool = False) -> StandInWorker:
        return StandInWorker(self, solo=solo)

    async def close(self) -> None:
        """Its workers have ended."""


class StandInWorker(WorkerHandle):
    """A worker of a StandInPool: a task for each of its battles."""

    def __init__(self, pool: StandInPool, *, solo: bool = False) -> None:
        super().__init__(solo=solo)
        self.begun = True
        self._pool = pool
        self._playing: set[asyncio.Task[None]] = set()

    def order(self, order: dict[str, Any]) -> None:
        task = asyncio.ensure_future(self._play(order["serial"], Fixture.from_json(order["fixture"])))
        self._playing.add(task)
        task.add_done_callback(self._playing.discard)

    async def _play(self, serial: int, fixture: Fixture) -> None:
        pool = self._pool
        try:
            record = await pool.venue.play(fixture, serial)
            pool.on_line(self, record.header(serial), record.to_line(pool.settings.run))
        except Exception as error:
            pool.on_change(error)  # the run ends with it

    def kill(self) -> None:
        for task in self._playing:
            task.cancel()
        asyncio.get_running_loop().call_soon(self._pool.on_death, self)

    def last_error_line(self) -> str:
        return ""
