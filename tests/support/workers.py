"""Stand-ins for what the coordinator deals with: a worker that does nothing, a schedule that listens, a battle."""

from __future__ import annotations

from typing import Any

from arena.fixture import Fixture, FixtureTeam, showdown_seed
from arena.schedules.schedule import FixedSchedule
from arena.workers.worker_pool import WorkerHandle

TEAM = FixtureTeam("0" * 16, "drawn", seed=showdown_seed("team"))
BATTLE = Fixture("gen1randombattle", ("random", "random"), (TEAM, TEAM), showdown_seed("battle"), "pair", "drawn")
HEADER = {"format": "gen1ou", "agents": BATTLE.agents, "winner": "p1", "reason": "win", "fault": None, "turns": 9}


class Still(WorkerHandle):
    """A worker that does nothing."""

    def order(self, order: dict[str, Any]) -> None: ...

    def kill(self) -> None: ...

    def last_error_line(self) -> str:
        return ""


class Heard(FixedSchedule):
    """A schedule of these fixtures that keeps the results that it is given."""

    def __init__(self, *fixtures: Fixture) -> None:
        super().__init__(iter(fixtures), len(fixtures), {})
        self.results: list[float | None] = []

    def record_result(self, fixture: Fixture, score: float | None) -> None:
        self.results.append(score)
