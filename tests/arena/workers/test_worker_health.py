"""When a worker is ended: by what its shared memory shows, and by how long the coordinator itself has been awake."""

from __future__ import annotations

import asyncio
import itertools
import mmap
import os
import time
from dataclasses import replace
from typing import Any

import pytest
from support.workers import BATTLE, Heard

from arena.battles.guard import SHARED_BYTES, StepGuard, read_life
from arena.venue import Rules
from arena.workers.coordinator import Coordinator
from arena.workers.crash_attribution import End
from arena.workers.local_pool import LocalPool
from arena.workers.progress import RunProgress
from arena.workers.worker_pool import WorkerWatchdog
from arena.workers.worker_process import STARTING_SECONDS, WorkerProcess
from arena.workers.worker_settings import WorkerSettings

FIXTURE = replace(BATTLE, agents=("heuristic:staller", "heuristic:gambler"))


@pytest.fixture
def guard() -> StepGuard:
    return StepGuard(mmap.mmap(-1, SHARED_BYTES))


@pytest.fixture
def worker(guard: StepGuard) -> WorkerProcess:
    return _worker(guard)


def _worker(guard: StepGuard, **more: Any) -> WorkerProcess:
    made = WorkerProcess(lambda *_: None, lambda _: None, **more)
    made.shared = mmap.mmap(-1, SHARED_BYTES)
    guard.__init__(made.shared)  # type: ignore[misc]
    return made


def _beat(guard: StepGuard) -> None:
    async def once() -> None:
        guard.beat()

    asyncio.run(once())


def _looks(worker: WorkerProcess, seconds: list[float]) -> list[str | None]:
    found = [worker.check_health(one, 5.0, 15.0) for one in seconds]
    return [None if end is None else end.message for end in found]


def test_a_worker_has_time_to_start(worker: WorkerProcess) -> None:
    assert _looks(worker, [STARTING_SECONDS / 2] * 2) == [None, None]
    assert _looks(worker, [1.0]) == ["its worker did not start"]


def test_a_loop_that_beats_is_not_silent_and_one_that_stands_still_is(worker: WorkerProcess, guard: StepGuard) -> None:
    for _ in range(5):
        _beat(guard)
        assert _looks(worker, [10.0]) == [None]
    assert _looks(worker, [10.0, 10.0]) == [None, "blocked its worker outside of its turn until it was ended"]
    assert read_life(worker.shared).pid == os.getpid()  # type: ignore[arg-type]


@pytest.mark.parametrize(("ticks", "longest"), [(0, 3), (1, 15)], ids=["waits", "computes"])
def test_a_blocked_loop_is_ended_sooner_if_its_process_does_not_compute(
    guard: StepGuard, ticks: int, longest: int
) -> None:
    times = itertools.count(100, ticks) if ticks else itertools.repeat(100)
    worker = _worker(guard, processor_time=lambda _: next(times))
    _beat(guard)
    found = _looks(worker, [0.5] * 40)
    words = "blocked its worker outside of its turn until it was ended"
    # The first look sees that it has beaten, and the second one how much it has computed by then.
    assert found.index(words) in range(2 * longest, 2 * longest + 3)
    assert worker.silent_seconds == 0.5 * 39


def test_a_step_in_progress_is_no_silence(worker: WorkerProcess, guard: StepGuard) -> None:
    _beat(guard)
    assert guard.call(7, 100.0, _looks, worker, [10.0] * 10) == [None] * 10


def test_an_overdue_step_has_a_grace_by_the_looks(worker: WorkerProcess, guard: StepGuard) -> None:
    _beat(guard)

    def overdue() -> list[str | None]:
        time.sleep(0.01)
        return _looks(worker, [1.0, 3.0, 3.0])

    guard._on_alarm = lambda *_: None  # type: ignore[method-assign]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("signal.setitimer", lambda *_: None)
        words = "blocked its worker, out of reach of any signal, until it was ended"
        assert guard.call(7, 0.001, overdue) == [None, None, words]
    assert worker.last_step == 7


def test_reports_that_do_not_arrive_are_missed(worker: WorkerProcess, guard: StepGuard) -> None:
    guard.count_report()
    for expected in (None, "cut its worker off: it did not take orders, or its reports did not arrive"):
        _beat(guard)
        assert _looks(worker, [3.0]) == [expected]


def test_after_the_coordinator_was_suspended_nobody_is_silent() -> None:
    """Its own clock has jumped by an hour: that hour counts as two looks."""
    clock = iter([0.0, 0.25, 3600.25, 3600.5])
    watchdog = WorkerWatchdog(think_limit=10.0, grace=5.0, seconds=0.25, now=lambda: next(clock))
    seen: list[float] = []

    class Worker:
        cause = shared = None

        def check_health(self, seconds: float, grace: float, silence: float) -> None:
            seen.append(seconds)

    watchdog.workers.append(Worker())
    for _ in range(3):
        watchdog.check()
    assert seen == [0.25, 0.5, 0.25]


class _Ended(WorkerProcess):
    """A worker that has died."""

    def last_error_line(self) -> str:
        return "words"


def _died(fixtures: int, *, step: int | None = None, cause: End | None = None, solo: bool = False) -> Any:
    coordinator: Any = Coordinator(LocalPool(WorkerSettings("run", Rules()), 1), lambda line: None, RunProgress(None))
    coordinator.schedule = Heard()
    dead = _Ended(coordinator.on_line, coordinator.on_death, solo=solo)
    dead.begun, dead.last_step, dead.cause = True, step, cause
    dead.fixtures = dict.fromkeys(range(1, fixtures + 1), FIXTURE)
    coordinator.on_death(dead)
    return coordinator


def test_the_battle_in_whose_step_a_worker_died_is_played_alone_and_the_others_as_usual() -> None:
    coordinator = _died(3, step=2 * 2 + 1)
    assert [serial for serial, _ in coordinator.solo_queue] == [2] and [
        serial for serial, _ in coordinator.retry_queue
    ] == [1, 3]


def test_after_a_second_death_all_are_played_alone() -> None:
    coordinator = _died(2)
    assert not coordinator.solo_queue and len(coordinator.retry_queue) == 2
    dead = _Ended(coordinator.on_line, coordinator.on_death)
    dead.begun, dead.fixtures = True, dict(coordinator.retry_queue)
    coordinator.retry_queue.clear()
    coordinator.on_death(dead)
    assert [serial for serial, _ in coordinator.solo_queue] == [1, 2] and not coordinator.retry_queue


def test_what_a_silent_worker_had_is_played_alone_at_once() -> None:
    assert len(_died(3, cause=End("timeout", "silent")).solo_queue) == 3


def test_a_solo_death_is_followed_by_trials() -> None:
    coordinator = _died(1, solo=True, step=2)
    (first, trial), (second, other) = coordinator.solo_queue
    assert coordinator.trials == {first: (1, 0), second: (1, 1)}
    assert trial.agents == ("heuristic:staller", "random") and other.agents[0] == "random"


def test_no_more_trials_are_played_for_a_battle_that_is_decided() -> None:
    coordinator = _died(1, solo=True, step=2)
    (first, trial), _ = coordinator.solo_queue
    dead = _Ended(coordinator.on_line, coordinator.on_death, solo=True)
    dead.begun, dead.last_step, dead.fixtures = True, 2 * first, {first: trial}
    coordinator.solo_queue.popleft()
    coordinator.on_death(dead)
    assert (
        not coordinator.solo_queue
        and not coordinator.trials
        and coordinator.attribution.convicted == {"heuristic:staller"}
    )


def test_a_solo_worker_that_stands_still_leaves_its_place_to_the_next() -> None:
    """It waits to be ended, and needs no core; but there are never too many of them."""
    coordinator: Any = Coordinator(LocalPool(WorkerSettings("run", Rules()), 2), lambda line: None, RunProgress(None))
    coordinator.solo_workers = [WorkerProcess(coordinator.on_line, coordinator.on_death, solo=True) for _ in range(2)]
    assert not coordinator.has_room_for_solo()
    coordinator.solo_workers[0]._idle = 0.5
    assert not coordinator.has_room_for_solo()
    coordinator.solo_workers[0]._idle = 1.0
    assert coordinator.has_room_for_solo()
    coordinator.solo_workers = [WorkerProcess(coordinator.on_line, coordinator.on_death, solo=True) for _ in range(8)]
    for worker in coordinator.solo_workers:
        worker._idle = 2.0
    assert not coordinator.has_room_for_solo()
