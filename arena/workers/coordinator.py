"""The coordinator: distributes fixtures to workers, stores their reports, and replaces workers that die.

Where the workers live is a `Place` (place.py).
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
from arena.workers.crash_attribution import Broken, Charge, Culprits, End, Ruling
from arena.workers.progress import Progress
from arena.workers.slowness import Slowness
from arena.workers.worker_pool import Place, Worker
from teamsets.errors import ArenaError

#: Concurrent battles per worker: enough that neither Node nor Python waits for the other.
IN_THE_AIR = 12
#: A fixture is played alone after its worker died this many times.
WORKER_DEATHS = 2
#: A lone worker that has been still for this many seconds, and will soon be ended, leaves its place to the next.
STILL_SECONDS = 1.0
#: Seconds between two looks for such workers, and the number of lone workers for each place.
STILL_LOOKS, LONE_WORKERS = 0.5, 4
#: Seconds that the coordinator waits at its end for its workers and their child processes.
END_SECONDS = 10.0
#: How many battles with external programs may wait for earlier ones.
MOST_WAITING = 200


class WorkersFailed(ArenaError):
    """Raised when workers die as soon as they start. Finished battles are stored."""


class Coordinator:
    """Plays fixtures on the workers of a place until none are left, the time limit is reached, or `stop` is called.

    keep(line) is called with each record's line before anything else; then the schedule receives the result.
    """

    def __init__(self, place: Place, keep: Callable[[bytes], None], progress: Progress) -> None:
        self.place, self.keep, self.progress = place, keep, progress
        self.workers: list[Worker] = []
        self.lone: list[Worker] = []  # each plays one battle, then ends
        self.closing: set[Worker] = set()  # asked to end
        self.alone: deque[tuple[int, Fixture]] = deque()  # battles to be played by such a worker
        self.trials: dict[int, tuple[int, int]] = {}  # its serial -> its battle's serial, its number
        self.lasted: dict[int, float] = {}  # serial of a battle -> seconds until its lone worker ended
        self.culprits = Culprits()
        self.again: list[tuple[int, Fixture]] = []
        self.slowness = Slowness()
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
        self.progress.nodes, self.progress.remarks = self.place.nodes, self.place.remarks
        try:
            await self.place.open(self.on_line, self.on_death, self.on_change)
            while not self.stopping and not schedule.over:
                if self.failure is not None:
                    raise self.failure
                await self.hand_out()
                if not self.place.room:  # e.g. the machines of a cluster are starting, or were lost
                    if self.deadline is not None and time.monotonic() > self.deadline:
                        break
                elif not self.again and not any(worker.fixtures for worker in self.all_workers()):
                    undecided = self.culprits.give_up()
                    if not undecided:
                        break
                    self.rule(undecided)
                    continue
                self.changed.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(STILL_LOOKS if self.alone else None):
                        await self.changed.wait()
            return schedule.over or (self.exhausted and not self.waiting and not self.stopping)
        finally:
            self.ended = True
            for worker in list(self.all_workers()):
                self.dismiss(worker)
            all_played()
            await self.close()
            await self.place.close()

    async def close(self) -> None:
        """Wait for the workers that are asked to end."""
        try:
            async with asyncio.timeout(END_SECONDS):
                while self.closing:
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError:
            return  # asyncio kills the rest when its loop closes

    def all_workers(self) -> list[Worker]:
        return [*self.workers, *self.lone]

    def dismiss(self, worker: Worker) -> None:
        """End a worker; its death is expected."""
        self.forget(worker)
        worker.fixtures.clear()
        self.closing.add(worker)
        worker.kill()

    def forget(self, worker: Worker) -> None:
        for known in (self.workers, self.lone):
            if worker in known:
                known.remove(worker)

    def stop(self) -> None:
        """Start no more battles, and drop those in progress."""
        self.stopping = True
        self.changed.set()

    async def hand_out(self) -> None:
        """Distribute battles evenly, one at a time to the least busy worker; launch missing workers."""
        if not self.place.room:
            return
        await self.fill()
        if self.place.repeats:
            self.repeat_slow()
        # One additional worker, or one in place of idle ones.
        while self.alone and self.has_room_for_one_alone():
            following = self.alone.popleft()
            worker = await self.place.launch(alone=True)
            self.lone.append(worker)
            worker.give(*following)

    def has_room_for_one_alone(self) -> bool:
        """Return whether another battle may be played alone: beside all that compute there is a core for it."""
        computing = sum(worker.still < STILL_SECONDS for worker in self.lone)
        free = max(1, self.place.room - sum(bool(worker.fixtures) for worker in self.workers))
        return computing < free and len(self.lone) < LONE_WORKERS * self.place.room

    async def fill(self) -> None:
        """Give battles to the workers that play several concurrently."""
        while True:
            has_room = [w for w in self.workers if w.load < IN_THE_AIR + w.ahead]
            if not has_room and len(self.workers) >= self.place.room:
                return
            following = self.next_fixture()
            if following is None:
                return
            outside = following[1].has_program
            if len(self.workers) < self.place.room:
                worker = await self.place.launch()
                self.workers.append(worker)
            else:
                worker = min(has_room, key=lambda w: (outside and w.outside(), w.load))
            self.slowness.given(following[0])
            worker.give(*following)

    def repeat_slow(self) -> None:
        """Give the battles that slow workers have had for long to idle ones as well: the first report of each counts."""
        idle = deque(worker for worker in self.workers if not worker.fixtures)
        if not idle:
            return
        out = {serial: fixture for worker in self.workers for serial, fixture in worker.fixtures.items()}
        for serial in self.slowness.slow():
            if serial in out and not out[serial].has_program:
                self.slowness.repeated.add(serial)
                idle[0].give(serial, out[serial])
                idle.rotate()

    def next_fixture(self) -> tuple[int, Fixture] | None:
        """Return the next battle that may start now.

        An external program is a process that needs a core, and one limited by time plays worse without it. So each worker
        plays one such battle at a time; the others wait, and later battles overtake them.
        """
        if self.again:
            return self.again.pop(0)
        if self.deadline is not None and time.monotonic() > self.deadline:
            return None
        free = sum(worker.outside() for worker in self.all_workers()) < self.place.room
        if free and self.waiting:
            return self.waiting.popleft()
        while len(self.waiting) < MOST_WAITING:
            following = self.scheduled()
            if following is None or free or not following[1].has_program:
                return following
            self.waiting.append(following)
        return None

    def scheduled(self) -> tuple[int, Fixture] | None:
        """Return the schedule's next battle that may be played beside others."""
        while len(self.alone) < MOST_WAITING:
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
            if not self.culprits.wants_alone(fixture):
                return self.serial, fixture
            self.alone.append((self.serial, fixture))
        return None

    def on_line(self, worker: Worker, header: dict[str, Any], record: bytes) -> None:
        if self.stopping or self.schedule.over:
            return
        self.idle_deaths = 0
        if "differs" in header:
            self.failure = VenuesDiffer(header["differs"])
            self.changed.set()
            return
        if header["serial"] in self.trials:
            self.judge_trial(worker, header["serial"])
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
        self.take_back(header["serial"])
        self.slowness.finished(header["serial"])
        if worker.alone:
            self.dismiss(worker)
            self.culprits.finished_alone(header["serial"])
        self.tell(fixture, header)

    def judge_trial(self, worker: Worker, serial: int) -> None:
        """Handle a trial that was played to its end, once its worker has survived long enough and is not silent."""
        if serial not in self.trials or self.ended:
            return
        # A thread may need as long to end the process as in the battle, which had a slower opponent.
        wait = 1.5 * self.lasted[self.trials[serial][0]] + 0.5 - worker.age
        if wait > 0 or worker.silent > BEAT_SECONDS * 2:
            asyncio.get_running_loop().call_later(max(wait, BEAT_SECONDS), self.judge_trial, worker, serial)
        else:
            self.dismiss(worker)
            self.rule(self.culprits.trial_over(*self.trials.pop(serial), None))

    def take_back(self, serial: int) -> None:
        """Forget who has a battle."""
        for worker in self.all_workers():
            worker.fixtures.pop(serial, None)

    def on_change(self, error: Exception | None = None) -> None:
        """Handle that the place has more or less room, or that it failed."""
        self.failure = self.failure or error
        self.changed.set()

    def on_death(self, worker: Worker) -> None:
        """Replay a dead worker's battles: alone if they may have caused its death (see culprits.py)."""
        self.forget(worker)
        self.closing.discard(worker)
        self.changed.set()
        if self.stopping or self.ended or self.schedule.over or not worker.fixtures:
            return
        fixtures, worker.fixtures = worker.fixtures, {}
        if worker.lost:
            elsewhere = {serial for other in self.all_workers() for serial in other.fixtures}
            left = [battle for battle in fixtures.items() if battle[0] not in elsewhere]
            (self.alone if worker.alone else self.again).extend(left)
            return
        for serial in fixtures:
            self.take_back(serial)
        if not worker.begun:
            self.idle_deaths += 1
            (self.alone if worker.alone else self.again).extend(fixtures.items())
            if self.idle_deaths > 2 * self.place.room + 2:
                self.failure = _workers_fail(worker.last_words())
            return
        self.again.extend((serial, fixtures.pop(serial)) for serial in worker.waiting & fixtures.keys())
        in_step, seat = (None, None) if worker.last_step is None else divmod(worker.last_step, 2)
        end = worker.cause or End("error", f"ended its worker process{_where(seat)}: {worker.last_words()}")
        for serial, fixture in fixtures.items():
            here = replace(end, seat=seat) if serial == in_step else end
            if serial in self.trials:
                self.rule(self.culprits.trial_over(*self.trials.pop(serial), here))
            elif worker.alone:
                self.lasted[serial] = worker.age - worker.silent  # it was over when it fell silent
                self.rule(self.culprits.ended_alone(serial, fixture, here))
            else:
                self.deaths[serial] += 1
                # A silent worker costs the full time limit each time: its battles are played alone immediately.
                suspect = serial == in_step or (in_step is None and worker.cause is not None)
                alone = suspect or self.deaths[serial] >= WORKER_DEATHS
                (self.alone if alone else self.again).append((serial, fixture))

    def rule(self, rulings: list[Ruling]) -> None:
        """Apply the decisions about battles whose lone workers ended."""
        for ruling in reversed(rulings):  # the first is played first
            if isinstance(ruling, Broken):
                self.failure = _workers_fail(ruling.words)
            elif isinstance(ruling, Charge):
                self.drop_trials(ruling.serial)
                record = ruling.record(time.time())
                self.keep(record.to_line(self.place.settings.run))
                self.tell(ruling.fixture, record.header(ruling.serial))
            elif ruling.trial is not None:
                self.serial += 1
                self.trials[self.serial] = ruling.serial, ruling.trial
                self.alone.appendleft((self.serial, ruling.fixture))
            else:
                self.alone.appendleft((ruling.serial, ruling.fixture))
        self.changed.set()

    def drop_trials(self, serial: int) -> None:
        """Play no more trials for a battle: it is decided."""
        dropped = {trial for trial, (battle, _) in self.trials.items() if battle == serial}
        for trial in dropped:
            del self.trials[trial]
        self.alone = deque(battle for battle in self.alone if battle[0] not in dropped)
        for worker in [worker for worker in self.lone if worker.fixtures.keys() & dropped]:
            self.dismiss(worker)

    def tell(self, fixture: Fixture, header: dict[str, Any]) -> None:
        """Report a stored battle to the display and the schedule."""
        self.progress.note(header)
        self.schedule.record_result(fixture, score(header["winner"], header["reason"]))
        self.changed.set()


def _where(seat: int | None) -> str:
    return " outside of its turn" if seat is None else ""


def _workers_fail(words: str) -> WorkersFailed:
    return WorkersFailed(f"worker processes keep dying; the last one: {words}")
