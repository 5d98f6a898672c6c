"""The schedule: pairs that differ in nothing but the seats, no battle twice, balance wherever it is cut."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import replace

import orjson
import pytest

from arena.fixture import Fixture, FixtureTeam, seat_seed
from arena.schedules.plan import DRAWN, Plan, round_robin
from arena.workers.worker_pool import load_of
from teamsets.errors import BadInput

TEAMS = tuple(FixtureTeam(f"{number:016x}", f"team {number}", packed=f"packed {number}") for number in range(5))
PLAN = Plan(
    agents=("a", "b", "c", "d"),
    pools={("gen1ou", "one"): TEAMS, ("gen1ou", "two"): TEAMS, ("gen1randombattle", DRAWN): ()},
    battles=6,
    seed=3,
)
FIXTURES = list(round_robin(PLAN))


def test_there_are_as_many_as_the_plan_says() -> None:
    assert len(FIXTURES) == len(PLAN) == 6 * 6 * 3


def test_an_odd_number_is_rounded_up_to_whole_pairs() -> None:
    odd = replace(PLAN, battles=5)
    assert [f.key for f in round_robin(odd)] == [f.key for f in FIXTURES]
    assert len(odd) == len(PLAN)


def test_every_key_is_there_once() -> None:
    assert len({fixture.key for fixture in FIXTURES}) == len(FIXTURES)


def test_the_two_of_a_pair_differ_in_nothing_but_the_seats() -> None:
    pairs = itertools.groupby(FIXTURES, key=lambda fixture: fixture.pair)
    sizes = []
    for _, members in pairs:
        one, other = members
        assert other == replace(one, agents=one.agents[::-1])
        assert one.key != other.key
        sizes.append(2)
    assert sum(sizes) == len(FIXTURES)


def test_every_agent_holds_each_team_of_a_pair_once() -> None:
    held = Counter((f.pair, agent, team.id) for f in FIXTURES for agent, team in zip(f.agents, f.teams, strict=True))
    assert set(held.values()) == {1}


def test_every_pair_draws_teams_of_its_own() -> None:
    """Pairs that shared a draw would share its luck, and the intervals would promise too much."""
    drawn = [fixture.teams for fixture in FIXTURES[::2] if fixture.team_set == DRAWN]
    assert len(set(drawn)) == len(drawn) == 6 * 3
    many = replace(PLAN, pools={("gen1ou", "one"): TEAMS}, battles=400)
    draws = Counter(tuple(team.id for team in fixture.teams) for fixture in list(round_robin(many))[::2])
    assert len(draws) == 5 * 4  # every two of five teams, either way round
    expected = 6 * 200 / 20
    chi_square = sum((count - expected) ** 2 / expected for count in draws.values())
    assert chi_square < 36.2  # 19 degrees of freedom, 99%; the seed is fixed
    first_of_each = [fixture.teams for fixture in FIXTURES[: 2 * 6 : 2]]
    assert len(set(first_of_each)) > 1


def test_the_two_teams_of_a_battle_differ_where_there_are_two() -> None:
    assert all(fixture.teams[0].id != fixture.teams[1].id for fixture in FIXTURES)
    alone = replace(PLAN, pools={("gen1ou", "one"): TEAMS[:1]})
    assert all(fixture.teams == (TEAMS[0], TEAMS[0]) for fixture in round_robin(alone))


def test_wherever_it_is_cut_no_pairing_is_more_than_a_pair_ahead() -> None:
    for length in range(len(FIXTURES)):
        played = Counter(tuple(sorted(fixture.agents)) for fixture in FIXTURES[:length])
        counts = [played[pairing] for pairing in itertools.combinations(PLAN.agents, 2)]
        assert max(counts) - min(counts) <= 2


def test_more_battles_continue_the_same_schedule() -> None:
    longer = list(round_robin(replace(PLAN, battles=10)))
    assert longer[: len(FIXTURES)] == FIXTURES


def test_the_same_plan_gives_the_same_fixtures_and_another_seed_others() -> None:
    assert list(round_robin(PLAN)) == FIXTURES
    assert not {f.key for f in round_robin(replace(PLAN, seed=4))} & {f.key for f in FIXTURES}


def test_another_agent_leaves_the_battles_of_the_others_as_they_were() -> None:
    more = {fixture.key for fixture in round_robin(replace(PLAN, agents=(*PLAN.agents, "e")))}
    assert {fixture.key for fixture in FIXTURES} <= more


def test_keys_are_the_same_for_ever() -> None:
    """Stored runs are resumed by them, also by a later version."""
    assert FIXTURES[0].key == "e571f6ed954fb775d6168ee6621844a4"
    assert FIXTURES[0].seed == "gen5,109722b3af36ab26"


def test_seeds_have_showdowns_shape_and_each_seat_has_its_own() -> None:
    for fixture in FIXTURES:
        assert re.fullmatch("gen5,[0-9a-f]{16}", fixture.seed)
        assert seat_seed(fixture.seed, "p1") != seat_seed(fixture.seed, "p2")


def test_a_fixture_says_which_seats_are_external_programs_under_the_same_key() -> None:
    program = PLAN.agents[0]
    with_program = list(round_robin(replace(PLAN, external_agents=frozenset([program]))))
    assert [fixture.key for fixture in with_program] == [fixture.key for fixture in FIXTURES]
    for fixture in with_program:
        assert fixture.external_seats == tuple(agent == program for agent in fixture.agents)
        assert fixture.has_program == (program in fixture.agents)
    assert not any(fixture.has_program for fixture in FIXTURES)


def test_a_fixture_survives_its_travel_as_json() -> None:
    for fixture in [*FIXTURES, *round_robin(replace(PLAN, external_agents=frozenset(PLAN.agents[:1])))]:
        assert Fixture.from_json(orjson.loads(orjson.dumps(fixture.to_json()))) == fixture


def test_fewer_than_two_agents_are_refused() -> None:
    with pytest.raises(BadInput, match="at least two"):
        next(round_robin(replace(PLAN, agents=("a",))))


def test_battles_of_agents_that_act_alone_are_no_part_of_a_batch_on_the_engine() -> None:
    agents = ("array", "policy", "search")
    able = frozenset(("gen9ou", agent) for agent in agents)
    plan = Plan(agents, {("gen9ou", "x"): TEAMS}, 2, 1, on_engine=able, batched_agents=frozenset(agents[:2]))
    loads = {fixture.agents: load_of(fixture) for fixture in round_robin(plan)}
    assert {pair for pair, load in loads.items() if load == 1.0} == set()
    alone = replace(plan, batched_agents=frozenset({"array"}))
    loads = {fixture.agents: load_of(fixture) for fixture in round_robin(alone)}
    assert {pair for pair, load in loads.items() if load == 1.0} == {("policy", "search"), ("search", "policy")}
    in_the_simulator = replace(plan, on_engine=frozenset())
    assert {load_of(fixture) for fixture in round_robin(in_the_simulator)} == {1.0}
