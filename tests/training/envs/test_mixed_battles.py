"""Battles of agents that act alone, beside an engine's batches: the same battles as on Showdown, seen the same."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np
import pytest
from support.compilers import need_compiler
from support.environments import drawn_actions

from agents.registry import resolve
from arena.fixture import Fixture, FixtureTeam, showdown_seed
from teamsets.errors import BadInput
from teamsets.loading import load_set
from training.envs.learner import open_battles
from training.envs.venue import UNDECIDED, Battles

pytest.importorskip("numba")

SIZE = 4
ROWS = np.arange(SIZE)


def made(format_id: str) -> Battles:
    return open_battles("engine", SIZE, format_id, 1)


def fixtures(format_id: str) -> list[Fixture]:
    teams = [FixtureTeam(team.id, team.name, team.packed) for team in load_set("competitive", format_id).teams]
    seeds = [showdown_seed("mixed", number) for number in range(SIZE)]
    pairs = [(teams[2 * number], teams[2 * number + 1]) for number in range(SIZE)]
    return [Fixture(format_id, ("a", "b"), pair, seed, "", "") for pair, seed in zip(pairs, seeds, strict=True)]


@pytest.fixture(params=["gen1ou", "gen9ou"])
def format_id(request: pytest.FixtureRequest) -> str:
    played = str(request.param)
    if played == "gen9ou":
        need_compiler()
    return played


def test_an_agent_that_acts_alone_plays_the_battle_that_it_plays_on_showdown(format_id: str) -> None:
    """One battle of four has an agent that reads the protocol; in the other three both seats are played from here."""
    with closing(made(format_id)) as mixed, closing(open_battles("showdown", SIZE, format_id)) as showdown:
        places = (mixed, showdown)
        for place in places:
            agent = resolve("heuristic:max-damage").make()
            place.begin(ROWS, fixtures(format_id), [(None, None), (None, agent), (None, None), (None, None)])
        rng = np.random.default_rng(1)
        for _ in range(8):
            needs = mixed.needs_decision(ROWS)
            assert (needs == showdown.needs_decision(ROWS)).all()
            at, seats = np.nonzero(needs)
            seen = [place.observe(at, seats) for place in places]
            for ours, theirs in zip(*seen, strict=True):
                np.testing.assert_array_equal(ours, theirs)
            assert (mixed.masks(at, seats) == seen[0].legal).all()
            alone = (at == 1) & (seats == 1)
            actions = np.full((SIZE, 2), -1)
            actions[at, seats] = drawn_actions(seen[0].legal, rng, 0.5)
            for place in places:
                actions[at[alone], seats[alone]] = place.answers(at[alone], seats[alone])
                place.play(ROWS, actions)
            assert (mixed.turns == showdown.turns).all() and (mixed.winners == showdown.winners).all()


def test_a_row_has_a_battle_of_the_batch_again_after_one_of_an_agents(format_id: str) -> None:
    games = fixtures(format_id)
    with closing(made(format_id)) as battles:
        agents: Any = [(None, resolve("heuristic:max-damage").make()), *[(None, None)] * (SIZE - 1)]
        battles.begin(ROWS, games, agents)
        first = battles.observe(ROWS, 0 * ROWS)
        battles.begin(ROWS[:1], games[:1], [(None, None)])
        for ours, theirs in zip(battles.observe(ROWS, 0 * ROWS), first, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert (battles.winners == UNDECIDED).all() and (battles.turns == 1).all()


def test_an_illegal_action_anywhere_is_refused_before_any_battle_is_advanced(format_id: str) -> None:
    with closing(made(format_id)) as battles:
        agents: Any = [(None, resolve("heuristic:max-damage").make()), *[(None, None)] * (SIZE - 1)]
        battles.begin(ROWS, fixtures(format_id), agents)
        actions = np.zeros((SIZE, 2), np.int64)
        actions[0, 1] = battles.answers(ROWS[:1], np.array([1]))[0]
        for row, seat in ((0, 0), (2, 1)):
            wrong = actions.copy()
            wrong[row, seat] = -1
            with pytest.raises(BadInput, match=f"battle {row}, seat {seat}: action -1 is not legal"):
                battles.play(ROWS, wrong)
            assert battles.needs_decision(ROWS).all() and (battles.turns == 1).all()


def test_a_battle_of_an_agent_that_acts_alone_is_copied_too_also_once_it_is_over(format_id: str) -> None:
    agents = [resolve("heuristic:max-damage").make() for _ in range(3)]
    with closing(made(format_id)) as battles:
        battles.begin(
            ROWS, fixtures(format_id), [(None, agents[0]), (None, None), *((None, one) for one in agents[1:])]
        )
        rng = np.random.default_rng(1)

        def play(rows: Any) -> None:
            """Of rows that are asked the same."""
            actions = np.full((len(rows), 2), -1)
            needs = battles.needs_decision(rows)
            if needs[0, 0]:
                actions[:, 0] = drawn_actions(battles.masks(rows[:1], np.zeros(1, np.int64)), rng, 0.5)[0]
            if needs[0, 1]:
                actions[:, 1] = battles.answers(rows, np.ones(len(rows), np.int64))
            battles.play(rows, actions)

        for _ in range(6):
            play(ROWS[:1])
        seeds = [showdown_seed("hosted copy", 1)] * 2
        battles.copy(np.zeros(2, np.int64), ROWS[1:3], seeds, [(None, agents[1]), (None, agents[2])])
        while battles.winners[1] == UNDECIDED:
            for part in zip(*(battles.observe(np.array([row]), np.zeros(1, np.int64)) for row in (1, 2)), strict=True):
                np.testing.assert_array_equal(*part)
            play(ROWS[1:3])
        assert battles.winners[1] == battles.winners[2] and battles.turns[1] == battles.turns[2]
        battles.copy(ROWS[1:2], ROWS[3:], seeds[:1], [(None, agents[0])])
        assert battles.winners[3] == battles.winners[1] and not battles.needs_decision(ROWS[3:]).any()
