"""The adaptive schedule: the same battles whenever results arrive, none twice, more of them where less is known."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping

import pytest

from arena.fixture import Fixture, FixtureTeam
from arena.schedules.adaptive import Adaptive
from arena.schedules.plan import DRAWN, Plan, numbered_pair
from arena.schedules.schedule import KnownPair
from teamsets.errors import BadInput

TEAMS = tuple(FixtureTeam(f"{number:016x}", f"team {number}", packed=f"packed {number}") for number in range(6))
AGENTS = ("a", "b", "c", "d", "e", "f")
STRENGTHS = dict(zip(AGENTS, (0, 100, 200, 300, 400, 1400), strict=True))
PLAN = Plan(AGENTS, {("gen1ou", "one"): TEAMS, ("gen1ou", "two"): TEAMS}, battles=2, seed=5)


def score(fixture: Fixture) -> float:
    """Luck that depends on the fixture alone, as on the simulator."""
    lead = STRENGTHS[fixture.agents[0]] - STRENGTHS[fixture.agents[1]]
    return float(random.Random(fixture.key).random() < 1 / (1 + 10 ** (-lead / 400)))


def play(schedule: Adaptive, in_the_air: int, seed: int, most: int = 100_000) -> list[Fixture]:
    """Plays a schedule with so many battles in the air, which end in any order; what was begun, in its order."""
    begun: list[Fixture] = []
    air: list[Fixture] = []
    rng = random.Random(seed)
    waits = False
    while len(begun) < most:
        while len(air) < in_the_air and not waits:
            try:
                fixture = next(schedule)
            except StopIteration:
                waits = True
                break
            if fixture is None:
                break
            begun.append(fixture)
            air.append(fixture)
        if not air:
            break
        ended = air.pop(rng.randrange(len(air)))
        schedule.record_result(ended, score(ended))
    return begun


def adaptive(budget: int | None = 400, results: Mapping[str, float | None] | None = None, **more: object) -> Adaptive:
    return Adaptive(PLAN, results or {}, anchor="c", budget=budget, **more)  # type: ignore[arg-type]


def keys(fixtures: list[Fixture]) -> list[str]:
    return [fixture.key for fixture in fixtures]


def test_the_same_battles_in_the_same_order_however_many_are_in_the_air() -> None:
    first = keys(play(adaptive(), in_the_air=1, seed=0))
    for in_the_air, seed in ((12, 1), (24, 2), (1000, 3)):
        assert keys(play(adaptive(), in_the_air, seed)) == first


def test_the_budget_is_spent_to_the_last_pair_and_no_battle_comes_twice() -> None:
    fixtures = play(adaptive(budget=401), in_the_air=24, seed=0)
    assert len(fixtures) == len(set(keys(fixtures))) == 402
    assert set(Counter(fixture.pair for fixture in fixtures).values()) == {2}


def test_team_sets_are_played_equally_often() -> None:
    counts = Counter(fixture.team_set for fixture in play(adaptive(), in_the_air=24, seed=0))
    assert abs(counts["one"] - counts["two"]) <= 0.1 * counts.total()


def test_the_one_that_is_far_above_meets_those_nearest_to_it() -> None:
    """Its interval is the widest, and battles against the weakest tell nothing about it."""
    counts = Counter(frozenset(fixture.agents) for fixture in play(adaptive(), in_the_air=24, seed=0))
    assert counts[frozenset("ef")] > 400 / 15  # its share of a round robin
    assert counts[frozenset("af")] + counts[frozenset("bf")] < 2 * 400 / 15 / 2


def test_a_run_that_was_killed_goes_on_with_the_same_battles() -> None:
    whole = play(adaptive(), in_the_air=24, seed=0)
    for played in (1, 100, 333):
        # Whatever had ended when it was killed: most of the first, some of the next.
        rng = random.Random(played)
        ended = {f.key: score(f) for i, f in enumerate(whole[: played + 24]) if i < played or rng.random() < 0.5}
        schedule = adaptive(results=ended)
        rest = play(schedule, in_the_air=7, seed=9)
        assert keys(rest) == [key for key in keys(whole) if key not in ended]
        assert schedule.already_played == len(ended)


def test_without_a_budget_it_goes_on_until_nobody_asks_any_more() -> None:
    schedule = adaptive(budget=None)
    assert schedule.total is None
    assert keys(play(schedule, in_the_air=24, seed=0, most=1000))[:400] == keys(play(adaptive(), 24, 0))


def test_pairs_of_earlier_runs_count_and_are_not_played_again() -> None:
    known = []
    for pairing in (("a", "b"), ("c", "d")):
        for number in range(40):
            pair = numbered_pair(PLAN, ("gen1ou", "one"), pairing, number)
            known.append(KnownPair(pair[0].pair, "gen1ou", pairing, score(pair[0]) + 1 - score(pair[1]), 2))
    fixtures = play(adaptive(known=known), in_the_air=24, seed=0)
    assert not {fixture.pair for fixture in fixtures} & {pair.pair for pair in known}
    counts = Counter(frozenset(fixture.agents) for fixture in fixtures)
    plain = Counter(frozenset(fixture.agents) for fixture in play(adaptive(), 24, 0))
    assert counts[frozenset("ab")] < plain[frozenset("ab")]
    assert counts[frozenset("cd")] < plain[frozenset("cd")]


def test_an_aborted_battle_tells_nothing_and_stops_nothing() -> None:
    schedule = adaptive(budget=200)
    for count, fixture in enumerate(schedule):
        assert fixture is not None
        schedule.record_result(fixture, None if count % 3 else score(fixture))
    assert count == 199


def test_challengers_alone_are_played() -> None:
    plan = Plan(AGENTS, PLAN.pools, battles=2, seed=5, challengers=frozenset("b"))
    fixtures = play(Adaptive(plan, {}, anchor="c", budget=100), in_the_air=24, seed=0)
    assert len(fixtures) == 100 and all("b" in fixture.agents for fixture in fixtures)


def test_several_formats_share_the_budget() -> None:
    plan = Plan(AGENTS, {("gen1ou", "one"): TEAMS, ("gen9randombattle", DRAWN): ()}, battles=2, seed=5)
    counts = Counter(f.format for f in play(Adaptive(plan, {}, anchor="c", budget=400), in_the_air=24, seed=0))
    assert min(counts["gen1ou"], counts["gen9randombattle"]) > 150


def test_a_pool_of_one_is_refused() -> None:
    with pytest.raises(BadInput, match="at least two"):
        Adaptive(Plan(("a",), PLAN.pools, battles=2, seed=5), {}, anchor="a", budget=10)
