"""The schedule of one agent against several opponents, with a number of battles for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arena.fixture import Fixture
from arena.schedules.plan import Plan, numbered_pair
from arena.schedules.schedule import FixedSchedule, Results


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
