"""Ratings of a server's run: many visitors, each with a few battles against some of a few agents."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy.special import expit

from arena.ratings.bradley_terry import ELO, fit, fit_ratings, groups
from arena.ratings.cycles import strongest_cycles
from arena.ratings.evidence import Evidence, make_evidence
from arena.ratings.meetings import Meetings, fit_meetings
from arena.ratings.nash import nash_of

AGENTS = 5


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    drawn = random.Random(1)
    pairs = [
        (f"agent-{i}", f"agent-{j}", float(drawn.randrange(3)), 2, "s")
        for i in range(AGENTS)
        for j in range(i)
        for _ in range(9)
    ]
    for visitor in range(60):
        for _ in range(drawn.choice([1, 1, 2, 4])):
            agent = drawn.randrange(AGENTS)
            pairs.append((f"agent-{agent}", f"user:{visitor}", float(drawn.random() < 0.3 + agent / 10), 1, "s"))
    pairs += [("alone", "other", 1.0, 1, "s")] * 3
    return make_evidence(pairs, ["nobody"])


def test_a_fit_needs_tables_of_the_agents_size_only_and_is_exact(evidence: Evidence) -> None:
    games = evidence.tables()[1]
    meetings = Meetings(games > 0, groups(games))
    assert len(meetings.kept) == AGENTS + 1, "one of the two who met each other alone is eliminated as well"
    assert meetings.cost < 0.1 * len(games) ** 2
    rng = np.random.default_rng(0)
    met = meetings.rows, meetings.columns
    count = games[met] + rng.gamma(1.0, size=(4, len(meetings.rows)))
    won = count * rng.uniform(0.2, 0.8, size=count.shape)
    strengths = fit_meetings(meetings, won, count, np.zeros(len(games)))
    # What everybody is expected to win is what they have won, and every group has a mean of 0.
    left = won - count * expit(strengths[:, meetings.rows] - strengths[:, meetings.columns])
    assert np.abs(meetings.differences @ left.T).max() < 1e-6
    for number in range(meetings.group.max() + 1):
        assert np.abs(strengths[:, meetings.group == number].mean(axis=1)).max() < 1e-9


def test_a_pool_in_which_everybody_meets_everybody_is_fitted_alike() -> None:
    games = np.full((7, 7), 10.0) - 10 * np.eye(7)
    points = games * np.random.default_rng(1).uniform(0.2, 0.8, games.shape)
    points = np.triu(points) + np.tril(games - points.T, -1)
    meetings = Meetings(games > 0, groups(games))
    met = meetings.rows, meetings.columns
    (strengths,) = fit_meetings(meetings, points[met][None], games[met][None], np.zeros(7))
    expected = games * expit(strengths[:, None] - strengths)
    assert len(meetings.eliminated) == 1
    assert np.abs((points - expected).sum(axis=1)).max() < 1e-6


def test_visitors_have_honest_intervals(evidence: Evidence) -> None:
    ratings = fit_ratings(evidence, anchor="agent-0", resamples=300)
    width = ratings.high - ratings.low
    visitors = [number for number, name in enumerate(ratings.agents) if name.startswith("user:")]
    agents = [number for number, name in enumerate(ratings.agents) if name.startswith("agent-") and name != "agent-0"]
    assert width[visitors].min() > width[agents].max(), "who has played less is known less"
    assert ratings.marks[ratings.agents.index("nobody")] == "no battles"
    once = fit_ratings(evidence, anchor="agent-0", resamples=300)
    assert np.array_equal(ratings.samples, once.samples)


def test_the_nash_average_of_many_is_a_mixture_that_nobody_beats(evidence: Evidence) -> None:
    points, games = evidence.tables()
    elo = fit(points, games)
    found = nash_of(evidence, elo=elo, resamples=3)
    rates = np.where(games > 0, points / np.maximum(games, 1), expit((elo[:, None] - elo) / ELO))
    assert found.weights.sum() == pytest.approx(1)
    assert ((rates - rates.T) / 2 @ found.weights).max() < 1e-6


def test_rings_are_looked_for_where_three_have_met() -> None:
    drawn = random.Random(2)
    ring = [("a", "b", 2.0, 2, "s"), ("b", "c", 2.0, 2, "s"), ("c", "a", 2.0, 2, "s")] * 12
    visits = [(drawn.choice("abc"), f"user:{n}", float(drawn.randrange(2)), 1, "s") for n in range(300)]
    found = strongest_cycles(make_evidence([*ring, *visits]), resamples=200)
    assert found[0].agents == ("a", "b", "c") and found[0].holds == 1.0 and found[0].luck < 0.05
