"""The schedule of a match between two agents: ends when a sequential test decides."""

from __future__ import annotations

from collections.abc import Iterator

from arena.fixture import Fixture
from arena.ratings.sprt import Sprt
from arena.schedules.plan import Plan, numbered_pair
from arena.schedules.schedule import Results


class Match:
    """Pairs of one pairing, until the test decides or `plan.battles` have been played on every pool.

    The test receives the pairs in the schedule's order, not in the order in which they end, so the same seed gives the same
    decision after the same pair with any number of workers. A pair with an aborted battle is skipped. Battles that end after
    the deciding pair are not counted.
    """

    def __init__(self, plan: Plan, results: Results, test: Sprt | None) -> None:
        (self.pairing,) = plan.pairings
        self.plan, self.results, self.test = plan, results, test
        self.total: int | None = len(plan) if test is None else None
        self.over = False
        self.already_played = 0
        self._fixtures = self._all()
        self._scores: dict[int, list[float | None]] = {}
        self._number_of: dict[str, int] = {}
        self._next = 0
        self.points: list[float] = []

    def _all(self) -> Iterator[Fixture]:
        pools = list(self.plan.pools)
        for number in range(self.plan.pairs * len(pools)):
            pool = pools[number % len(pools)]
            for fixture in numbered_pair(self.plan, pool, self.pairing, number // len(pools)):
                self._number_of[fixture.key] = number
                yield fixture

    def __iter__(self) -> Iterator[Fixture | None]:
        return self

    def __next__(self) -> Fixture | None:
        for fixture in self._fixtures:
            if fixture.key not in self.results:
                return fixture
            self.already_played += 1
            self.record_result(fixture, self.results[fixture.key])
            if self.over:
                break
        raise StopIteration

    def record_result(self, fixture: Fixture, score: float | None) -> None:
        """Adds all complete pairs to the test, up to the first incomplete one."""
        if self.over:
            return
        first = score if score is None or fixture.agents == self.pairing else 1 - score
        self._scores.setdefault(self._number_of.pop(fixture.key), []).append(first)
        while len(pair := self._scores.get(self._next, [])) == 2:
            del self._scores[self._next]
            self._next += 1
            first_score, second_score = pair
            if first_score is None or second_score is None:
                continue
            points = first_score + second_score
            self.points.append(points)
            if self.test is not None and self.test.add(points) is not None:
                self.over = True
                return

    def remark(self) -> str:
        """The score so far, and the test's state where there is one."""
        if not self.points:
            return ""
        share = f"{self.pairing[0]} {50 * sum(self.points) / len(self.points):.1f}% (pairs: {len(self.points):,})"
        if self.test is None:
            return share
        low, high = self.test.settings.bounds
        return f"{share} · LLR {self.test.llr:.2f} ({low:.2f}, {high:.2f})"
