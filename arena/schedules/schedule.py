"""The interface between runner and schedule: the runner requests the next fixture, and reports results."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from arena.fixture import Fixture
from arena.schedules.plan import Plan, numbered_pair, round_robin

#: fixture key -> the score of its p1: 1, 0.5, 0; None for a battle that was aborted.
Results = Mapping[str, float | None]


@dataclass(frozen=True)
class KnownPair:
    """A pair that is known from an earlier run: its name, its pool's format, its agents, the points of the first."""

    pair: str
    format_id: str
    agents: tuple[str, str]
    points: float
    games: int


class Schedule(Protocol):
    """Yields fixtures one by one. They may depend on results, but never on the time at which results arrive.

    total: number of battles in total, stored ones included; None while it is unknown.
    over: True once it needs no further result, not even of battles in progress.
    already_played: number of battles that were skipped because their results are stored already.
    """

    total: int | None
    over: bool
    already_played: int

    def __iter__(self) -> Iterator[Fixture | None]: ...

    def __next__(self) -> Fixture | None:
        """Returns the next fixture; None if it needs results first. Raises StopIteration at the end."""
        ...

    def record_result(self, fixture: Fixture, score: float | None) -> None:
        """Reports the result of a battle. score: of p1; None if it was aborted."""
        ...

    def remark(self) -> str:
        """Returns its state in a few words for the live display."""
        ...


class FixedSchedule:
    """A list of fixtures that no result changes; what is known is not played again. total: how long the list is."""

    over = False

    def __init__(self, fixtures: Iterator[Fixture], total: int, results: Results) -> None:
        self.total: int | None = total
        self._remaining = fixtures
        self.already_played = 0
        if results:
            remaining = [fixture for fixture in fixtures if fixture.key not in results]
            self.already_played = total - len(remaining)
            self._remaining = iter(remaining)

    def __iter__(self) -> Iterator[Fixture | None]:
        return self

    def __next__(self) -> Fixture | None:
        return next(self._remaining)

    def record_result(self, fixture: Fixture, score: float | None) -> None:
        """Results change nothing."""

    def remark(self) -> str:
        return ""


class RoundRobin(FixedSchedule):
    """Every pairing equally often. limit: only so many battles."""

    def __init__(self, plan: Plan, results: Results, limit: int | None = None) -> None:
        fixtures = itertools.islice(round_robin(plan), limit)
        super().__init__(fixtures, min(len(plan), limit or len(plan)), results)


class Quotas(FixedSchedule):
    """The plan's first agent against each opponent on each team set so many battles, in pairs, all evenly mixed.

    quotas: (opponent, team set, battles); an odd number is rounded up. What is known is not played again.
    """

    def __init__(self, plan: Plan, results: Results, quotas: Sequence[tuple[str, str, int]]) -> None:
        fixtures = list(_mixed(plan, quotas))
        super().__init__(iter(fixtures), len(fixtures), results)


def _mixed(plan: Plan, quotas: Sequence[tuple[str, str, int]]) -> Iterator[Fixture]:
    """Every opponent's pairs at even distances over the whole, so that a run that is cut short has the same shares."""
    pool_of = {pool[1]: pool for pool in plan.pools}
    places = []
    for place, (_, _, battles) in enumerate(quotas):
        pairs = (battles + 1) // 2
        places += [((number + 0.5) / pairs, place, number) for number in range(pairs)]
    for _, place, number in sorted(places):
        opponent, team_set, _ = quotas[place]
        yield from numbered_pair(plan, pool_of[team_set], (plan.agents[0], opponent), number)
