"""Team preview as a decision on every venue: the same observations, choices and battles on Showdown and on the engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.compilers import need_compiler

pytest.importorskip("numba")

from agents.batched import BatchedAgent
from agents.engine.gen9.engine import Engine, records
from agents.observation.actions import FIRST_LEADS, SWITCHES
from agents.observation.columns import at_preview
from agents.registry import resolve
from arena.fixture import Fixture, FixtureTeam, showdown_seed
from teamsets.errors import BadInput
from teamsets.loading import load_set
from training.envs.hosted_battles import HostedBattles
from training.envs.learner import LearnerBattles, open_battles
from training.envs.showdown_battles import ShowdownBattles
from training.envs.two_seats import TwoSeatEnv

need_compiler()

SIZE = 4
ROWS = np.arange(SIZE)
BOTH = np.ones((SIZE, 2), np.bool_)
NOBODY = [(None, None)] * SIZE
PREVIEW = [FIRST_LEADS, *SWITCHES]


def fixtures() -> list[Fixture]:
    teams = [str(team.packed) for team in load_set("competitive", "gen9ou").teams[: 2 * SIZE]]
    sides = [FixtureTeam(str(number), str(number), team) for number, team in enumerate(teams)]
    seeds = [showdown_seed("team previews", number) for number in range(SIZE)]
    return [Fixture("gen9ou", ("a", "b"), (sides[2 * n], sides[2 * n + 1]), seeds[n], "", "") for n in range(SIZE)]


@pytest.fixture
def venues() -> Iterator[list[Any]]:
    places = [
        open_battles("engine", SIZE, "gen9ou", 1),
        HostedBattles(SIZE, "gen9ou", 1),
        ShowdownBattles(SIZE, "gen9ou"),
    ]
    yield places
    for place in places:
        place.close()


def step(venues: list[Any], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Plays drawn actions in all of them; they must ask and show the same. Returns which rows were at their preview."""
    first, *others = venues
    rows = ROWS[first.winners == -1]
    places, seats = np.nonzero(first.needs_decision(rows))
    seen = first.observe(rows[places], seats)
    assert (first.masks(rows[places], seats) == seen.legal).all()
    actions = np.full((len(rows), 2), -1)
    actions[places, seats] = (seen.legal * rng.random(seen.legal.shape)).argmax(axis=1)
    for other in others:
        assert (other.needs_decision(rows) == first.needs_decision(rows)).all()
        for ours, theirs in zip(seen, other.observe(rows[places], seats), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    for place in venues:
        place.play(rows, actions)
    for other in others:
        assert (other.winners == first.winners).all() and (other.turns == first.turns).all()
    return at_preview(seen.features)


@pytest.mark.parametrize("leads", [BOTH, BOTH & [True, False], None], ids=["both", "one", "none"])
def test_the_engines_battles_are_showdowns_from_the_preview_on(venues: list[Any], leads: Any) -> None:
    for place in venues:
        place.begin(ROWS, fixtures(), NOBODY, leads)
        expected = np.zeros((SIZE, 2)) if leads is None else leads
        assert place.turns.tolist() == [0 if leads is not None else 1] * SIZE
        if leads is not None:
            assert (place.needs_decision(ROWS) == expected).all()
            mask = place.masks(ROWS[:1], np.zeros(1, np.int64))[0]
            assert np.flatnonzero(mask).tolist() == PREVIEW
    rng = np.random.default_rng(2)
    previews = [step(venues, rng) for _ in range(12)]
    assert previews[0].all() == (leads is not None) and not any(later.any() for later in previews[1:])
    assert len(previews[0]) == (2 * SIZE if leads is None or leads.all() else SIZE)


def test_an_agent_of_its_own_answers_its_preview_itself(venues: list[Any]) -> None:
    """heuristic:expert leads with its choice, on every venue, while the other seat chooses by an action."""
    for place in venues:
        place.begin(ROWS, fixtures(), [(None, resolve("heuristic:expert").make()) for _ in ROWS], BOTH)
        assert place.needs_decision(ROWS).tolist() == [[True, False]] * SIZE
        place.play(ROWS, np.tile([8, -1], (SIZE, 1)))
    first, *others = (place.observe(ROWS, np.zeros(SIZE, np.int64)) for place in venues)
    for other in others:
        np.testing.assert_array_equal(first.token_ids, other.token_ids)
        np.testing.assert_array_equal(first.features, other.features)


def test_a_copy_at_the_preview_is_the_same_preview_and_another_battle(venues: list[Any]) -> None:
    """Also where an agent has answered already. The seed from then on is the copy's."""
    for place in venues:
        agents = [(None, resolve("heuristic:expert").make()), *[(None, None)] * 3]
        place.begin(ROWS, fixtures(), agents, BOTH)
        seeds = [showdown_seed("copies at a preview", 1), showdown_seed("copies at a preview", 2)]
        place.copy(ROWS[[0, 1]], ROWS[[2, 3]], seeds, [(None, resolve("heuristic:expert").make()), (None, None)])
        assert place.needs_decision(ROWS).tolist() == [[True, False], [True, True]] * 2
        seat = np.zeros(2, np.int64)
        for ours, theirs in zip(place.observe(ROWS[:2], seat), place.observe(ROWS[2:], seat), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        place.play(ROWS, np.array([[5, -1], [0, 8]] * 2))
        assert place.turns.tolist() == [1] * SIZE
    for _ in range(3):
        seen = [place.observe(ROWS, np.zeros(SIZE, np.int64)) for place in venues]
        for other in seen[1:]:
            np.testing.assert_array_equal(seen[0].features, other.features)
        first = seen[0].legal.argmax(axis=1)
        for place in venues:
            needs = place.needs_decision(ROWS)
            actions = np.full((SIZE, 2), -1)
            actions[needs[:, 0], 0] = first[needs[:, 0]]
            for row in np.flatnonzero(needs[:, 1]).tolist():
                one, seats = ROWS[row : row + 1], np.ones(1, np.int64)
                own = row in (0, 2)
                actions[row, 1] = place.answers(one, seats)[0] if own else place.masks(one, seats)[0].argmax()
            place.play(ROWS, actions)
    assert (seen[0].features[:2] != seen[0].features[2:]).any()


def test_an_illegal_lead_is_refused_and_nothing_is_played(venues: list[Any]) -> None:
    for place in venues:
        place.begin(ROWS, fixtures(), NOBODY, BOTH)
        with pytest.raises(BadInput, match="battle 0, seat 1: action 1 is not legal"):
            place.play(ROWS, np.tile([0, 1], (SIZE, 1)))
        assert place.needs_decision(ROWS).all() and not place.turns.any()


def test_the_engine_begins_by_leads_what_it_begins_by_orders() -> None:
    teams = [(str(one.teams[0].packed), str(one.teams[1].packed)) for one in fixtures()]
    seeds = [one.seed for one in fixtures()]
    by_leads, by_orders = Engine(SIZE, 1, shows=True), Engine(SIZE, 1, shows=True)
    by_leads.preview(teams, seeds, range(SIZE), BOTH)
    before = by_leads.words.copy()
    assert by_leads.choosing_leads(ROWS).all() and not by_leads.legal().any()
    by_leads.step(np.zeros((SIZE, *Engine.shape), np.int32))
    assert (by_leads.words == before).all(), "a step changes no preview"
    by_leads.lead(range(SIZE), np.tile(np.array([3, 0], np.int32), (SIZE, 1)))
    by_orders.reset(teams, seeds, orders=[([3, 0, 1, 2, 4, 5], [0, 1, 2, 3, 4, 5])] * SIZE)
    assert (by_leads.words == by_orders.words).all() and (by_leads.shown == by_orders.shown).all()
    assert (records(by_leads.words)["turn"] == 1).all()
    with pytest.raises(BadInput, match="a row is not at its team preview"):
        by_leads.lead([0], np.zeros((1, 2), np.int32))
    by_leads.record(1)
    for engine, rows in ((by_leads, [1]), (Engine(2, 1), [0])):
        with pytest.raises(
            BadInput, match=r"a team preview needs Engine\(..., shows=True\) and rows that are not recorded"
        ):
            engine.preview(teams[:1], seeds[:1], rows, BOTH[:1])


class LastLegal(BatchedAgent):
    """The last legal action; at previews, too."""

    decides_previews = True
    previews = 0

    @classmethod
    def act_many(cls, agents: Any, observations: Any) -> Any:
        LastLegal.previews += int(at_preview(observations.features).sum())
        return observations.legal.shape[1] - 1 - observations.legal[:, ::-1].argmax(axis=1)


@pytest.mark.parametrize("venue", ["engine", "showdown"])
def test_a_learner_decides_its_preview_where_it_is_asked_to_and_its_opponent_by_itself(venue: str) -> None:
    LastLegal.previews = 0
    settings: Any = {"venue": venue, "format": "gen9ou", "illegal_action": "error", "opponent": LastLegal, "cores": 1}
    for team_preview in (True, False):
        learner = LearnerBattles(2, **settings, team_preview=team_preview)
        learner.begin(ROWS[:2])
        seen = learner.observe(ROWS[:2])
        assert at_preview(seen["features"]).tolist() == [team_preview] * 2
        learner.play(ROWS[:2], learner.masks[:2].argmax(axis=1))
        assert not at_preview(learner.observe(ROWS[:2])["features"]).any()
        learner.close()
    assert LastLegal.previews == 4


@pytest.mark.parametrize("venue", ["engine", "showdown"])
def test_both_seats_of_a_parallel_environment_decide_their_previews(venue: str) -> None:
    env = TwoSeatEnv(venue=venue, format="gen9ou", illegal_action="error", team_preview=True)
    observations, infos = env.reset(seed=3)
    for agent, seen in observations.items():
        assert np.flatnonzero(seen["action_mask"]).tolist() == PREVIEW and not infos[agent]["waiting"]
    observations, *_ = env.step({"p1": 6, "p2": 0})
    assert not any(at_preview(seen["features"]) for seen in observations.values())
    env.close()
