"""The coordinator: shares fixtures out to workers, keeps what they report, and outlives them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.fixture import SEATS, Fixture
from arena.record import BattleRecord, score
from arena.runner.process import WorkerProcess, WorkerSettings
from arena.schedules.schedule import Schedule
from arena.showdown.table import is_outside
from teamsets.errors import ArenaError

#: Battles in the air for each worker: enough that neither Node nor Python waits for the other.
IN_THE_AIR = 12
#: How long after its limit an agent's step may still run before its worker is ended: SIGALRM should have ended it.
GRACE_SECONDS = 5.0
#: How often workers are looked at for such a step, in seconds.
WATCH_SECONDS = 0.5
#: A fixture whose worker died this often, with no agent's step to blame, is given up.
WORKER_DEATHS = 3
#: How many battles with programs of other people may wait for those before them.
MOST_WAITING = 200


class WorkersFail(ArenaError):
    """Workers die as soon as they start. What was finished is kept."""


@dataclass
class Progress:
    """Counts of this invocation. wins and faults by agent spec.

    total: None when nobody knows how many battles there will be. known: battles of the total that were known before it
    began. remark: what the schedule knows by now. points: (agent, opponent) -> what the agent has won against the opponent,
    over all battles that count for the run, also earlier ones; anchor: who is rated 1000.
    """

    total: int | None
    known: int = 0
    played: int = 0
    turns: int = 0
    wins: Counter[str] = field(default_factory=Counter)
    games: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    aborted: int = 0
    began: float = field(default_factory=time.monotonic)
    remark: str = ""
    points: dict[tuple[str, str], float] = field(default_factory=dict)
    anchor: str = ""

    def note(self, header: dict[str, Any]) -> None:
        """Counts one finished battle (a worker's header)."""
        self.played += 1
        self.turns += header["turns"]
        if header["reason"] == "aborted":
            self.aborted += 1
            return
        self.games.update(header["agents"])
        self._count(header["agents"], score(header["winner"], header["reason"]))
        if header["winner"]:
            self.wins[header["agents"][SEATS.index(header["winner"])]] += 1
        if header["fault"] in SEATS:
            self.faults[header["agents"][SEATS.index(header["fault"])]] += 1

    def _count(self, agents: Sequence[str], first: float | None) -> None:
        """agents: p1 and p2; first: the score of p1, None for a battle that does not count."""
        if first is None:
            return
        p1, p2 = agents
        self.points[p1, p2] = self.points.get((p1, p2), 0.0) + first
        self.points[p2, p1] = self.points.get((p2, p1), 0.0) + 1 - first

    @property
    def done(self) -> int:
        """Battles of the total whose results are known by now."""
        return self.known + self.played

    @property
    def speed(self) -> float:
        """Battles a second in this invocation."""
        return self.played / max(time.monotonic() - self.began, 1e-9)


class Coordinator:
    """Plays fixtures on `workers` processes until there are none, the deadline has come, or `stop` is called.

    keep(line) is called with each record's line, before anything else learns of the battle; then the schedule hears of it.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        workers: int,
        keep: Callable[[bytes], None],
        progress: Progress,
        *,
        in_the_air: int = IN_THE_AIR,
    ) -> None:
        self.settings, self.count, self.keep, self.progress = settings, workers, keep, progress
        self.in_the_air = in_the_air
        self.workers: list[WorkerProcess] = []
        self.again: list[tuple[int, Fixture]] = []
        self.waiting: deque[tuple[int, Fixture]] = deque()  # with programs of other people; see `next_fixture`
        self.deaths: Counter[int] = Counter()
        self.serial = 0
        self.stopping = False
        self.ended = False  # workers are being closed: what dies now has done nothing wrong
        self.exhausted = False  # the schedule has given out its last fixture
        self.deadline: float | None = None
        self.idle_deaths = 0
        self.changed = asyncio.Event()
        self.failure: Exception | None = None

    async def play(self, schedule: Schedule, *, seconds: float | None = None) -> bool:
        """Plays a schedule; True when it came to its end.

        seconds: after so long no new battle is begun; those in the air are finished.
        """
        self.schedule = schedule
        self.deadline = None if seconds is None else time.monotonic() + seconds
        watching = asyncio.ensure_future(self.watch())
        try:
            while not self.stopping and not schedule.over:
                if self.failure is not None:
                    raise self.failure
                await self.hand_out()
                if not self.again and not any(worker.fixtures for worker in self.workers):
                    break
                self.changed.clear()
                await self.changed.wait()
            return schedule.over or (self.exhausted and not self.waiting and not self.stopping)
        finally:
            self.ended = True
            watching.cancel()
            for worker in self.workers:
                worker.end_input()
            await asyncio.sleep(0)
            for worker in list(self.workers):
                worker.kill()

    def stop(self) -> None:
        """Begins no more battles and drops those in the air."""
        self.stopping = True
        self.changed.set()

    async def hand_out(self) -> None:
        """Fills the workers up, launching those that are missing. Evenly: one battle at a time to the least busy."""
        while True:
            has_room = [w for w in self.workers if len(w.fixtures) < self.in_the_air]
            if not has_room and len(self.workers) >= self.count:
                return
            following = self.next_fixture()
            if following is None:
                return
            outside = is_outside(following[1])
            if len(self.workers) < self.count:
                worker = await WorkerProcess.launch(self.settings, self.on_line, self.on_death)
                self.workers.append(worker)
            else:
                worker = min(has_room, key=lambda w: (outside and w.outside(), len(w.fixtures)))
            worker.give(*following)

    def next_fixture(self) -> tuple[int, Fixture] | None:
        """The next battle that may be begun now.

        A program of other people is a process that wants a core, and one limited by time plays worse without it. So there
        is one such battle for each worker at a time; the others wait, and those behind them go before.
        """
        if self.again:
            return self.again.pop(0)
        if self.deadline is not None and time.monotonic() > self.deadline:
            return None
        free = sum(worker.outside() for worker in self.workers) < self.count
        if free and self.waiting:
            return self.waiting.popleft()
        while len(self.waiting) < MOST_WAITING:
            following = self.scheduled()
            if following is None or free or not is_outside(following[1]):
                return following
            self.waiting.append(following)
        return None

    def scheduled(self) -> tuple[int, Fixture] | None:
        """The schedule's next battle."""
        try:
            fixture = next(self.schedule)
        except StopIteration:
            self.exhausted = True
            return None
        finally:
            self.progress.known = self.schedule.passed_over
        if fixture is None:  # the schedule waits for those in the air
            return None
        self.serial += 1
        return self.serial, fixture

    def on_line(self, worker: WorkerProcess, header: dict[str, Any], record: bytes) -> None:
        if self.stopping or self.schedule.over or header["serial"] not in worker.fixtures:
            return
        try:
            self.keep(record)
        except OSError as error:  # a full disk, say: nothing more can be kept, so nothing more is played
            self.failure = ArenaError(
                f"journal: {error.strerror}: what was kept so far is safe; resume when that is mended"
            )
            self.changed.set()
            return
        fixture = worker.fixtures.pop(header["serial"])
        self.idle_deaths = 0
        self.tell(fixture, header)

    async def watch(self) -> None:
        """Ends workers whose agent holds them in a step that no signal can interrupt."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            for worker in self.workers:
                step = worker.step()
                if step is not None and step[1] > GRACE_SECONDS:
                    self.blame(
                        worker, step[0], "timeout", "blocked its worker, out of reach of any signal, until it was ended"
                    )
                    worker.kill()

    def on_death(self, worker: WorkerProcess) -> None:
        """The rest of a dead worker's fixtures is played again; the agent in whose step it died has lost that battle."""
        if worker in self.workers:
            self.workers.remove(worker)
        self.changed.set()
        if self.stopping or self.ended or self.schedule.over or not worker.fixtures:
            return
        blamed = worker.last_step is not None
        if worker.last_step is not None:
            self.blame(worker, worker.last_step, "error", f"ended its worker process: {worker.last_words()}")
        self.idle_deaths += not blamed
        for serial, fixture in worker.fixtures.items():
            self.deaths[serial] += not blamed
            if self.deaths[serial] < WORKER_DEATHS:
                self.again.append((serial, fixture))
            else:
                detail = f"its worker died {WORKER_DEATHS} times: {worker.last_words()}"
                self.settle(BattleRecord(fixture, None, "aborted", "venue", detail, started=time.time()), serial)
        worker.fixtures.clear()
        if self.idle_deaths > 2 * self.count + 2:
            self.failure = WorkersFail(f"workers die one after the other; the last said: {worker.last_words()}")

    def blame(self, worker: WorkerProcess, who: int, reason: str, detail: str) -> None:
        serial, seat = divmod(who, 2)
        fixture = worker.fixtures.pop(serial, None)
        if fixture is None:
            return  # it was over already
        record = BattleRecord(fixture, SEATS[1 - seat], reason, SEATS[seat], detail, started=time.time())
        self.settle(record, serial)

    def settle(self, record: BattleRecord, serial: int) -> None:
        self.keep(record.to_line(self.settings.run))
        self.tell(record.fixture, record.header(serial))

    def tell(self, fixture: Fixture, header: dict[str, Any]) -> None:
        """A battle is kept: the display and the schedule may know."""
        self.progress.note(header)
        self.schedule.heard(fixture, score(header["winner"], header["reason"]))
        self.changed.set()
