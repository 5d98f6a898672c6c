"""The coordinator begins one battle with a program of other people for each worker, and those behind go before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from support.workers import BATTLE

from arena.fixture import Fixture
from arena.schedules.schedule import FixedSchedule
from arena.venue import Rules
from arena.workers.coordinator import MAX_WAITING, Coordinator
from arena.workers.local_pool import LocalPool
from arena.workers.progress import RunProgress
from arena.workers.worker_process import WorkerProcess
from arena.workers.worker_settings import WorkerSettings

OUTSIDE = replace(BATTLE, agents=("external?command=sleep 1", "random"), external_seats=(True, False))


def coordinator(*fixtures: Fixture, workers: int = 1) -> Any:
    made: Any = Coordinator(LocalPool(WorkerSettings("run", Rules()), workers), lambda line: None, RunProgress(None))
    made.schedule = FixedSchedule(iter(fixtures), len(fixtures), {})
    return made


def worker(*fixtures: Fixture) -> WorkerProcess:
    made = WorkerProcess(lambda *_: None, lambda _: None)
    made.fixtures = dict(enumerate(fixtures))
    return made


def test_a_second_one_waits_and_others_go_before() -> None:
    one = coordinator(OUTSIDE, OUTSIDE, BATTLE)
    assert one.next_fixture()[1] is OUTSIDE
    one.workers.append(worker(OUTSIDE))
    assert one.next_fixture()[1] is BATTLE
    assert one.next_fixture() is None and len(one.waiting) == 1 and one.exhausted
    one.workers[0].fixtures.clear()
    assert one.next_fixture()[1] is OUTSIDE
    assert one.next_fixture() is None and not one.waiting


def test_as_many_as_there_are_workers() -> None:
    two = coordinator(OUTSIDE, OUTSIDE, workers=2)
    two.workers += [worker(OUTSIDE), worker(BATTLE, BATTLE)]
    assert two.next_fixture()[1] is OUTSIDE
    two.workers[1].fixtures[2] = OUTSIDE
    assert two.next_fixture() is None


def test_not_more_wait_than_are_kept_in_mind() -> None:
    one = coordinator(*[OUTSIDE] * (MAX_WAITING + 1), BATTLE)
    one.workers.append(worker(OUTSIDE))
    assert one.next_fixture() is None and one.serial == MAX_WAITING
    assert one.next_fixture() is None and one.serial == MAX_WAITING
