"""The adaptive schedule: the same battles whenever results arrive, none twice, more of them where less is known."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Mapping

import pytest

from arena.fixture import Fixture, FixtureTeam
from arena.record import BattleRecord
from arena.schedules.adaptive import Adaptive
from arena.schedules.plan import DRAWN, Plan, numbered_pair
from arena.schedules.schedule import KnownPair
from arena.testing import StandInVenue
from teamsets.errors import BadInput

TEAMS = tuple(FixtureTeam(f"{number:016x}", f"team {number}", packed=f"packed {number}") for number in range(6))
AGENTS = ("a", "b", "c", "d", "e", "f")
STRENGTHS = dict(zip(AGENTS, (0, 100, 200, 300, 400, 1400), strict=True))
PLAN = Plan(AGENTS, {("gen1ou", "one"): TEAMS, ("gen1ou", "two"): TEAMS}, battles=2, seed=5)


def score(fixture: Fixture) -> float:
    """Luck that depends on the fixture alone, as on the simulator."""
    lead = STRENGTHS[fixture.agents[0]] - STRENGTHS[fixture.agents[1]]
    return float(random.Random(fixture.key).random() < 1 / (1 + 10 ** (-lead / 400)))


VENUE = StandInVenue(lambda fixture: "p1" if score(fixture) else "p2")


def adaptive(budget: int | None = 400, results: Mapping[str, float | None] | None = None, **more: object) -> Adaptive:
    return Adaptive(PLAN, results or {}, anchor="c", budget=budget, **more)  # type: ignore[arg-type]


def keys(fixtures: list[Fixture]) -> list[str]:
    return [fixture.key for fixture in fixtures]


def test_the_same_battles_in_the_same_order_however_many_are_played_at_once() -> None:
    first = keys(VENUE.play_schedule(adaptive(), at_once=1))
    for at_once, seed in ((12, 1), (24, 2), (1000, 3)):
        assert keys(VENUE.play_schedule(adaptive(), at_once=at_once, seed=seed)) == first


def test_the_budget_is_spent_to_the_last_pair_and_no_battle_comes_twice() -> None:
    fixtures = VENUE.play_schedule(adaptive(budget=401), at_once=24)
    assert len(fixtures) == len(set(keys(fixtures))) == 402
    assert set(Counter(fixture.pair for fixture in fixtures).values()) == {2}


def test_team_sets_are_played_equally_often() -> None:
    counts = Counter(fixture.team_set for fixture in VENUE.play_schedule(adaptive(), at_once=24))
    assert abs(counts["one"] - counts["two"]) <= 0.1 * counts.total()


def test_the_one_that_is_far_above_meets_those_nearest_to_it() -> None:
    """Its interval is the widest, and battles against the weakest tell nothing about it."""
    counts = Counter(frozenset(fixture.agents) for fixture in VENUE.play_schedule(adaptive(), at_once=24))
    assert counts[frozenset("ef")] > 400 / 15  # its share of a round robin
    assert counts[frozenset("af")] + counts[frozenset("bf")] < 2 * 400 / 15 / 2


def test_a_run_that_was_killed_goes_on_with_the_same_battles() -> None:
    whole = VENUE.play_schedule(adaptive(), at_once=24)
    for played in (1, 100, 333):
        # Whatever had ended when it was killed: most of the first, some of the next.
        rng = random.Random(played)
        ended = {f.key: score(f) for i, f in enumerate(whole[: played + 24]) if i < played or rng.random() < 0.5}
        schedule = adaptive(results=ended)
        rest = VENUE.play_schedule(schedule, at_once=7, seed=9)
        assert keys(rest) == [key for key in keys(whole) if key not in ended]
        assert schedule.already_played == len(ended)


def test_without_a_budget_it_goes_on_until_nobody_asks_any_more() -> None:
    schedule = adaptive(budget=None)
    assert schedule.total is None
    assert keys(VENUE.play_schedule(schedule, at_once=24, seed=0, limit=1000))[:400] == keys(
        VENUE.play_schedule(adaptive(), at_once=24)
    )


def test_pairs_of_earlier_runs_count_and_are_not_played_again() -> None:
    known = []
    for pairing in (("a", "b"), ("c", "d")):
        for number in range(40):
            pair = numbered_pair(PLAN, ("gen1ou", "one"), pairing, number)
            known.append(KnownPair(pair[0].pair, "gen1ou", pairing, score(pair[0]) + 1 - score(pair[1]), 2))
    fixtures = VENUE.play_schedule(adaptive(known=known), at_once=24)
    assert not {fixture.pair for fixture in fixtures} & {pair.pair for pair in known}
    counts = Counter(frozenset(fixture.agents) for fixture in fixtures)
    plain = Counter(frozenset(fixture.agents) for fixture in VENUE.play_schedule(adaptive(), at_once=24))
    assert counts[frozenset("ab")] < plain[frozenset("ab")]
    assert counts[frozenset("cd")] < plain[frozenset("cd")]


def test_an_aborted_battle_tells_nothing_and_stops_nothing() -> None:
    battles = itertools.count()

    def aborted_often(fixture: Fixture) -> BattleRecord:
        if next(battles) % 3:
            return BattleRecord(fixture, None, "aborted", fault="venue")
        return VENUE.record(fixture)

    assert len(StandInVenue(aborted_often).play_schedule(adaptive(budget=200))) == 200


def test_challengers_alone_are_played() -> None:
    plan = Plan(AGENTS, PLAN.pools, battles=2, seed=5, challengers=frozenset("b"))
    fixtures = VENUE.play_schedule(Adaptive(plan, {}, anchor="c", budget=100), at_once=24)
    assert len(fixtures) == 100 and all("b" in fixture.agents for fixture in fixtures)


def test_several_formats_share_the_budget() -> None:
    plan = Plan(AGENTS, {("gen1ou", "one"): TEAMS, ("gen9randombattle", DRAWN): ()}, battles=2, seed=5)
    counts = Counter(f.format for f in VENUE.play_schedule(Adaptive(plan, {}, anchor="c", budget=400), at_once=24))
    assert min(counts["gen1ou"], counts["gen9randombattle"]) > 150


def test_a_pool_of_one_is_refused() -> None:
    with pytest.raises(BadInput, match="at least two"):
        Adaptive(Plan(("a",), PLAN.pools, battles=2, seed=5), {}, anchor="a", budget=10)
