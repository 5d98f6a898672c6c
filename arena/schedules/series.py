"""Series: several battles of the same agents with the same teams, until one side has won most of them.

A schedule plans series by their first battles, as it plans single battles. `SeriesSchedule` around it plays each series to
its end, and reports the result of the whole series to it. So all that a schedule does with results (a sequential test, the
choice of the next pairing) counts a series as one result.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence

from arena.fixture import Fixture
from arena.schedules.schedule import Results, Schedule


def series_score(scores: Sequence[float], best_of: int) -> float | None:
    """The score of p1 in a series: 1 won, 0.5 tied, 0 lost; None while it is undecided.

    scores: of p1 in its battles, 0.5 for a tie. As Showdown has it, ties shorten the series: with t of them it is won by
    (best_of - t) // 2 + 1 battles. After best_of battles it is a tie.
    """
    needed = (best_of - scores.count(0.5)) // 2 + 1
    if scores.count(1) >= needed:
        return 1.0
    if scores.count(0) >= needed:
        return 0.0
    return 0.5 if len(scores) >= best_of else None


class SeriesSchedule:
    """Plays the series of another schedule. total, already_played: numbers of battles.

    planned: yields the first battle of each series, and knows no results. results: of stored battles. on_decided: called
    with the first battle of a series that has just been decided, and the score of p1 in the series.
    """

    #: How many battles it takes depends on their results.
    total: int | None = None

    def __init__(self, planned: Schedule, results: Results) -> None:
        self.planned, self.results = planned, results
        self.already_played = 0
        self.decided = 0
        self.over = False
        self.on_decided: Callable[[Fixture, float], None] = lambda fixture, score: None
        self._open: dict[str, tuple[Fixture, list[float]]] = {}  # series -> its first battle, the scores so far
        self._next_games: deque[Fixture] = deque()

    def __iter__(self) -> Iterator[Fixture | None]:
        return self

    def __next__(self) -> Fixture | None:
        while not self.over:
            if self._next_games:
                fixture = self._next_games.popleft()
            else:
                try:
                    first = next(self.planned)
                except StopIteration:
                    if self._open:
                        return None
                    raise
                if first is None:
                    return None
                fixture = first
                self._open[_series(fixture)] = fixture, []
            if fixture.key not in self.results:
                return fixture
            self.already_played += 1
            self._record(fixture, self.results[fixture.key])
        raise StopIteration

    def record_result(self, fixture: Fixture, score: float | None) -> None:
        """An aborted battle ends its series without a result."""
        first, _ = self._open[_series(fixture)]
        result = self._record(fixture, score)
        if result is not None:
            self.on_decided(first, result)

    def _record(self, fixture: Fixture, score: float | None) -> float | None:
        """Return the score of p1 in a series that is decided by this battle."""
        first, scores = self._open[_series(fixture)]
        result = None
        if score is not None:
            scores.append(score)
            result = series_score(scores, fixture.best_of)
            if result is None:
                self._next_games.append(fixture.next_game())
                return None
            self.decided += 1
        del self._open[_series(fixture)]
        self.planned.record_result(first, result)
        self.over = self.planned.over
        return result

    def remark(self) -> str:
        """The series that are decided, and the state of the schedule."""
        planned = "" if self.planned.total is None else f" of {self.planned.total:,}"
        return " · ".join(filter(None, (f"{self.decided:,}{planned} series", self.planned.remark())))


def _series(fixture: Fixture) -> str:
    assert fixture.series is not None
    return fixture.series
