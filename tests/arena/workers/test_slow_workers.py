"""A place that repeats: what a slow worker has for long is given to an idle one as well, and counts once."""

from __future__ import annotations

from typing import Any

import pytest
from support.workers import BATTLE, HEADER, Heard, Still

from arena.venue import Rules
from arena.workers.coordinator import Coordinator
from arena.workers.local_pool import LocalPool
from arena.workers.progress import RunProgress
from arena.workers.slow_battles import SlowBattles
from arena.workers.worker_settings import WorkerSettings


@pytest.fixture
def clock() -> list[float]:
    return [0.0]


@pytest.fixture
def coordinator(clock: list[float]) -> Any:
    """A coordinator with a slow worker, which has battles 1 and 2, and a fast one; battle 3 took a second."""
    made: Any = Coordinator(LocalPool(WorkerSettings("run", Rules()), 2), [].append, RunProgress(None))
    made.schedule, made.slow_battles = Heard(), SlowBattles(lambda: clock[0])
    made.workers += [Still(), Still()]
    for serial, worker in ((1, 0), (2, 0), (3, 1)):
        made.slow_battles.record_start(serial)
        made.workers[worker].give(serial, BATTLE)
    clock[0] = 1.0
    made.on_line(made.workers[1], {**HEADER, "serial": 3}, b"")
    return made


def test_an_idle_worker_gets_what_takes_too_long_and_the_first_report_counts(
    coordinator: Any, clock: list[float]
) -> None:
    slow, fast = coordinator.workers
    clock[0] = 5.0
    coordinator.duplicate_slow_battles()
    assert not fast.fixtures, "three times the mean, and two seconds, are not over"
    clock[0] = 5.1
    coordinator.duplicate_slow_battles()
    assert list(fast.fixtures) == [1, 2]
    coordinator.on_line(fast, {**HEADER, "serial": 1}, b"")
    assert list(slow.fixtures) == list(fast.fixtures) == [2] and coordinator.schedule.results == [1.0, 1.0]
    fast.fixtures.clear()
    coordinator.duplicate_slow_battles()
    assert not fast.fixtures, "each battle is given away once"


def test_a_lost_machine_charges_nobody_and_what_another_worker_has_is_not_played_a_third_time(
    coordinator: Any, clock: list[float]
) -> None:
    slow, fast = coordinator.workers
    fast.give(2, BATTLE)
    slow.lost = slow.begun = True
    coordinator.on_death(slow)
    assert coordinator.retry_queue == [(1, BATTLE)] and not coordinator.solo_queue and not coordinator.deaths


def test_a_worker_that_an_agent_ended_takes_its_battles_from_the_others(coordinator: Any) -> None:
    slow, fast = coordinator.workers
    fast.give(2, BATTLE)
    slow.begun, slow.last_step = True, 2 * 2
    coordinator.on_death(slow)
    assert (
        not fast.fixtures
        and [serial for serial, _ in coordinator.solo_queue] == [2]
        and coordinator.retry_queue == [(1, BATTLE)]
    )
