"""A schedule that needs no more ends with battles in the air: whoever thinks in one of them has not lost it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.workers import BATTLE, Heard

from arena.venue import Rules
from arena.workers.coordinator import Coordinator
from arena.workers.local_pool import LocalPool
from arena.workers.progress import RunProgress
from arena.workers.worker_process import WorkerProcess
from arena.workers.worker_settings import WorkerSettings


class Decided(Heard):
    """A schedule that is decided as soon as it has heard of a battle, or never."""

    def __init__(self, decides: bool) -> None:
        super().__init__(BATTLE, replace(BATTLE, pair="other"))
        self._decides = decides

    @property
    def over(self) -> bool:  # type: ignore[override]
        return self._decides and bool(self.results)


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
