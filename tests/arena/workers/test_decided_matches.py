"""A schedule that needs no more ends with battles in the air: whoever thinks in one of them has not lost it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from arena.fixture import Fixture, FixtureTeam, showdown_seed
from arena.venue import Rules
from arena.workers.coordinator import Coordinator
from arena.workers.local_pool import LocalPool
from arena.workers.progress import RunProgress
from arena.workers.worker_process import WorkerProcess
from arena.workers.worker_settings import WorkerSettings

TEAM = FixtureTeam("0" * 16, "drawn", seed=showdown_seed("team"))
BATTLE = Fixture("gen1randombattle", ("random", "random"), (TEAM, TEAM), showdown_seed("battle"), "pair", "drawn")


class Decided:
    """A schedule that is decided as soon as it has heard of a battle, or never."""

    total, already_played, over = None, 0, False

    def __init__(self, decides: bool) -> None:
        self._decides, self._left = decides, iter([BATTLE, replace(BATTLE, pair="other")])

    def __iter__(self) -> Iterator[Fixture]:
        return self._left

    def __next__(self) -> Fixture:
        return next(self._left)

    def record_result(self, fixture: Fixture, score: float | None) -> None:
        self.over = self._decides

    def remark(self) -> str:
        return ""


@pytest.mark.parametrize("decided", [True, False])
def test_who_thinks_when_all_is_decided_has_not_ended_its_worker(decided: bool) -> None:
    kept: list[bytes] = []
    made: Any = Coordinator(LocalPool(WorkerSettings("run", Rules()), 1), kept.append, RunProgress(None))
    made.schedule = Decided(decided)
    worker = WorkerProcess(lambda *_: None, made.on_death)
    worker.fixtures, worker.last_step = {1: BATTLE}, 2  # the first seat of battle 1 is in a step
    made.workers.append(worker)
    worker.begun = True
    made.schedule.record_result(BATTLE, 1.0)
    made.on_death(worker)
    assert list(made.solo_queue) == ([] if decided else [(1, BATTLE)])
    assert made.workers == [] and not kept and not made.attribution.convicted
