"""The coordinator: distributes fixtures to workers, stores their reports, and replaces workers that die.

Where the workers live is a `WorkerPool` (worker_pool.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from arena.battles.guard import BEAT_SECONDS
from arena.fixture import Fixture
from arena.record import score
from arena.schedules.schedule import Schedule
from arena.venue import VenuesDiffer
from arena.workers.crash_attribution import AgentLoses, CrashAttribution, End, Ruling, WorkersBroken
from arena.workers.progress import RunProgress
from arena.workers.slow_battles import SlowBattles
from arena.workers.worker_pool import WorkerHandle, WorkerPool
from teamsets.errors import ArenaError

#: Concurrent battles per worker: enough that neither Node nor Python waits for the other.
BATTLES_PER_WORKER = 12
#: A fixture is played solo, as the only battle of a worker, after its worker died this many times.
WORKER_DEATHS = 2
#: A solo worker that has been idle for this many seconds, and will soon be ended, makes room for the next one.
SOLO_IDLE_SECONDS = 1.0
#: Seconds between two checks for such workers, and the maximum number of solo workers for each regular one.
SOLO_CHECK_SECONDS, SOLO_WORKERS_PER_SLOT = 0.5, 4
#: Seconds that the coordinator waits at its end for its workers and their child processes.
END_SECONDS = 10.0
#: How many battles with external programs may wait for earlier ones.
MAX_WAITING = 200


class WorkersFailed(ArenaError):
    """Raised when workers die as soon as they start. Finished battles are stored."""


class Coordinator:
    """Plays fixtures on the workers of a pool until none are left, the time limit is reached, or `stop` is called.

    keep(line) is called with each record's line before anything else; then the schedule receives the result.
    """

    def __init__(self, pool: WorkerPool, keep: Callable[[bytes], None], progress: RunProgress) -> None:
        self.pool, self.keep, self.progress = pool, keep, progress
        self.workers: list[WorkerHandle] = []
        self.solo_workers: list[WorkerHandle] = []  # each plays one battle, then ends
        self.closing: set[WorkerHandle] = set()  # asked to end
        self.solo_queue: deque[tuple[int, Fixture]] = deque()  # battles to be played by a solo worker
        self.trials: dict[int, tuple[int, int]] = {}  # a trial's serial -> its battle's serial, the trial's number
        self.solo_seconds: dict[int, float] = {}  # serial of a battle -> seconds until its solo worker ended
        self.attribution = CrashAttribution()
        self.retry_queue: list[tuple[int, Fixture]] = []
        self.slow_battles = SlowBattles()
        self.waiting: deque[tuple[int, Fixture]] = deque()  # with external programs; see `next_fixture`
        self.deaths: Counter[int] = Counter()
        self.serial = 0
        self.stopping = False
        self.ended = False  # workers are being closed: deaths are expected
        self.exhausted = False  # the schedule has no more fixtures
        self.deadline: float | None = None
        self.idle_deaths = 0
        self.changed = asyncio.Event()
        self.failure: Exception | None = None

    async def play(
        self, schedule: Schedule, *, seconds: float | None = None, all_played: Callable[[], object] = lambda: None
    ) -> bool:
        """Plays a schedule; returns True if it was finished.

        seconds: time limit, after which no new battle starts; those in progress are finished. all_played(): called when no
        more records will be kept, before the workers' end is waited for.
        """
        self.schedule = schedule
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.progress.nodes, self.progress.remarks = self.pool.nodes, self.pool.remarks
        try:
            await self.pool.open(self.on_line, self.on_death, self.on_change)
            while not self.stopping and not schedule.over:
                if self.failure is not None:
                    raise self.failure
                await self.assign_battles()
                if not self.pool.capacity:  # e.g. the machines of a cluster are starting, or were lost
                    if self.deadline is not None and time.monotonic() > self.deadline:
                        break
                elif not self.retry_queue and not any(worker.fixtures for worker in self.all_workers()):
                    undecided = self.attribution.abort_undecided()
                    if not undecided:
                        break
                    self.apply_rulings(undecided)
                    continue
                self.changed.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(SOLO_CHECK_SECONDS if self.solo_queue else None):
                        await self.changed.wait()
            return schedule.over or (self.exhausted and not self.waiting and not self.stopping)
        finally:
            self.ended = True
            for worker in list(self.all_workers()):
                self.dismiss(worker)
            all_played()
            await self.close()
            await self.pool.close()

    async def close(self) -> None:
        """Wait for the workers that are asked to end."""
        try:
            async with asyncio.timeout(END_SECONDS):
                while self.closing:
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError:
            return  # asyncio kills the rest when its loop closes

    def all_workers(self) -> list[WorkerHandle]:
        return [*self.workers, *self.solo_workers]

    def dismiss(self, worker: WorkerHandle) -> None:
        """End a worker; its death is expected."""
        self.forget(worker)
        worker.fixtures.clear()
        self.closing.add(worker)
        worker.kill()

    def forget(self, worker: WorkerHandle) -> None:
        for known in (self.workers, self.solo_workers):
            if worker in known:
                known.remove(worker)

    def stop(self) -> None:
        """Start no more battles, and drop those in progress."""
        self.stopping = True
        self.changed.set()

    async def assign_battles(self) -> None:
        """Distribute battles evenly, one at a time to the least busy worker; launch missing workers."""
        if not self.pool.capacity:
            return
        await self.fill_workers()
        if self.pool.duplicates_slow:
            self.duplicate_slow_battles()
        # One additional worker, or one in place of idle ones.
        while self.solo_queue and self.has_room_for_solo():
            following = self.solo_queue.popleft()
            worker = await self.pool.launch(solo=True)
            self.solo_workers.append(worker)
            worker.give(*following)

    def has_room_for_solo(self) -> bool:
        """Return whether another battle may be played solo: beside all that compute there is a core for it."""
        computing = sum(worker.idle_seconds < SOLO_IDLE_SECONDS for worker in self.solo_workers)
        free = max(1, self.pool.capacity - sum(bool(worker.fixtures) for worker in self.workers))
        return computing < free and len(self.solo_workers) < SOLO_WORKERS_PER_SLOT * self.pool.capacity

    async def fill_workers(self) -> None:
        """Give battles to the workers that play several concurrently."""
        while True:
            has_room = [w for w in self.workers if w.load < BATTLES_PER_WORKER + w.prefetch]
            if not has_room and len(self.workers) >= self.pool.capacity:
                return
            following = self.next_fixture()
            if following is None:
                return
            is_external = following[1].has_program
            if len(self.workers) < self.pool.capacity:
                worker = await self.pool.launch()
                self.workers.append(worker)
            else:
                worker = min(has_room, key=lambda w: (is_external and w.external_battles(), w.load))
            self.slow_battles.record_start(following[0])
            worker.give(*following)

    def duplicate_slow_battles(self) -> None:
        """Give the battles that slow workers have had for long to idle ones as well: the first report of each counts."""
        idle = deque(worker for worker in self.workers if not worker.fixtures)
        if not idle:
            return
        in_progress = {serial: fixture for worker in self.workers for serial, fixture in worker.fixtures.items()}
        for serial in self.slow_battles.overdue():
            if serial in in_progress and not in_progress[serial].has_program:
                self.slow_battles.duplicated.add(serial)
                idle[0].give(serial, in_progress[serial])
                idle.rotate()

    def next_fixture(self) -> tuple[int, Fixture] | None:
        """Return the next battle that may start now.

        An external program is a process that needs a core, and one limited by time plays worse without it. So each worker
        plays one such battle at a time; the others wait, and later battles overtake them.
        """
        if self.retry_queue:
            return self.retry_queue.pop(0)
        if self.deadline is not None and time.monotonic() > self.deadline:
            return None
        free = sum(worker.external_battles() for worker in self.all_workers()) < self.pool.capacity
        if free and self.waiting:
            return self.waiting.popleft()
        while len(self.waiting) < MAX_WAITING:
            following = self.next_scheduled()
            if following is None or free or not following[1].has_program:
                return following
            self.waiting.append(following)
        return None

    def next_scheduled(self) -> tuple[int, Fixture] | None:
        """Return the schedule's next battle that may be played beside others."""
        while len(self.solo_queue) < MAX_WAITING:
            try:
                fixture = next(self.schedule)
            except StopIteration:
                self.exhausted = True
                return None
            finally:
                self.progress.known = self.schedule.already_played
            if fixture is None:  # the schedule waits for battles in progress
                return None
            self.serial += 1
            if not self.attribution.must_play_solo(fixture):
                return self.serial, fixture
            self.solo_queue.append((self.serial, fixture))
        return None

    def on_line(self, worker: WorkerHandle, header: dict[str, Any], record: bytes) -> None:
        if self.stopping or self.schedule.over:
            return
        self.idle_deaths = 0
        if "differs" in header:
            self.failure = VenuesDiffer(header["differs"])
            self.changed.set()
            return
        if header["serial"] in self.trials:
            self.conclude_trial(worker, header["serial"])
            return
        try:
            self.keep(record)
        except OSError as error:  # e.g. a full disk: results cannot be stored, so the run ends
            self.failure = ArenaError(
                f"journal: {error.strerror}: battles stored so far are safe; resume when the problem is fixed"
            )
            self.changed.set()
            return
        fixture = worker.fixtures[header["serial"]]
        self.unassign(header["serial"])
        self.slow_battles.record_end(header["serial"])
        if worker.solo:
            self.dismiss(worker)
            self.attribution.handle_solo_finish(header["serial"])
        self.report_result(fixture, header)

    def conclude_trial(self, worker: WorkerHandle, serial: int) -> None:
        """Handle a trial that was played to its end, once its worker has survived long enough and is not silent."""
        if serial not in self.trials or self.ended:
            return
        # A thread may need as long to end the process as in the battle, which had a slower opponent.
        wait = 1.5 * self.solo_seconds[self.trials[serial][0]] + 0.5 - worker.age
        if wait > 0 or worker.silent_seconds > BEAT_SECONDS * 2:
            asyncio.get_running_loop().call_later(max(wait, BEAT_SECONDS), self.conclude_trial, worker, serial)
        else:
            self.dismiss(worker)
            self.apply_rulings(self.attribution.handle_trial_end(*self.trials.pop(serial), None))

    def unassign(self, serial: int) -> None:
        """Remove a battle from the workers that have it."""
        for worker in self.all_workers():
            worker.fixtures.pop(serial, None)

    def on_change(self, error: Exception | None = None) -> None:
        """Handle that the capacity of the pool has changed, or that the pool failed."""
        self.failure = self.failure or error
        self.changed.set()

    def on_death(self, worker: WorkerHandle) -> None:
        """Replay a dead worker's battles: solo if they may have caused its death (see crash_attribution.py)."""
        self.forget(worker)
        self.closing.discard(worker)
        self.changed.set()
        if self.stopping or self.ended or self.schedule.over or not worker.fixtures:
            return
        fixtures, worker.fixtures = worker.fixtures, {}
        if worker.lost:
            elsewhere = {serial for other in self.all_workers() for serial in other.fixtures}
            lost = [battle for battle in fixtures.items() if battle[0] not in elsewhere]
            (self.solo_queue if worker.solo else self.retry_queue).extend(lost)
            return
        for serial in fixtures:
            self.unassign(serial)
        if not worker.begun:
            self.idle_deaths += 1
            (self.solo_queue if worker.solo else self.retry_queue).extend(fixtures.items())
            if self.idle_deaths > 2 * self.pool.capacity + 2:
                self.failure = _workers_fail(worker.last_error_line())
            return
        self.retry_queue.extend((serial, fixtures.pop(serial)) for serial in worker.waiting & fixtures.keys())
        in_step, seat = (None, None) if worker.last_step is None else divmod(worker.last_step, 2)
        end = worker.cause or End("error", f"ended its worker process{_outside_turn(seat)}: {worker.last_error_line()}")
        for serial, fixture in fixtures.items():
            battle_end = replace(end, seat=seat) if serial == in_step else end
            if serial in self.trials:
                self.apply_rulings(self.attribution.handle_trial_end(*self.trials.pop(serial), battle_end))
            elif worker.solo:
                self.solo_seconds[serial] = worker.age - worker.silent_seconds  # it was over when it fell silent
                self.apply_rulings(self.attribution.handle_solo_end(serial, fixture, battle_end))
            else:
                self.deaths[serial] += 1
                # A silent worker costs the full time limit each time: its battles are played solo immediately.
                suspect = serial == in_step or (in_step is None and worker.cause is not None)
                solo = suspect or self.deaths[serial] >= WORKER_DEATHS
                (self.solo_queue if solo else self.retry_queue).append((serial, fixture))

    def apply_rulings(self, rulings: list[Ruling]) -> None:
        """Apply the decisions about battles whose solo workers ended."""
        for ruling in reversed(rulings):  # the first is played first
            if isinstance(ruling, WorkersBroken):
                self.failure = _workers_fail(ruling.message)
            elif isinstance(ruling, AgentLoses):
                self.drop_trials(ruling.serial)
                record = ruling.record(time.time())
                self.keep(record.to_line(self.pool.settings.run))
                self.report_result(ruling.fixture, record.header(ruling.serial))
            elif ruling.trial is not None:
                self.serial += 1
                self.trials[self.serial] = ruling.serial, ruling.trial
                self.solo_queue.appendleft((self.serial, ruling.fixture))
            else:
                self.solo_queue.appendleft((ruling.serial, ruling.fixture))
        self.changed.set()

    def drop_trials(self, serial: int) -> None:
        """Play no more trials for a battle: it is decided."""
        dropped = {trial for trial, (battle, _) in self.trials.items() if battle == serial}
        for trial in dropped:
            del self.trials[trial]
        self.solo_queue = deque(battle for battle in self.solo_queue if battle[0] not in dropped)
        for worker in [worker for worker in self.solo_workers if worker.fixtures.keys() & dropped]:
            self.dismiss(worker)

    def report_result(self, fixture: Fixture, header: dict[str, Any]) -> None:
        """Report a stored battle to the display and the schedule."""
        self.progress.note(header)
        self.schedule.record_result(fixture, score(header["winner"], header["reason"]))
        self.changed.set()


def _outside_turn(seat: int | None) -> str:
    return " outside of its turn" if seat is None else ""


def _workers_fail(error: str) -> WorkersFailed:
    return WorkersFailed(f"worker processes keep dying; the last one: {error}")
