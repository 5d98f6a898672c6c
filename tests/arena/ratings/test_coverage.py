"""The promise of an interval, kept: simulated tournaments with known strengths (the script has more settings)."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import numpy as np
import pytest
from support.command_line import PROJECT

from arena.ratings.bradley_terry import fit_ratings

SCRIPT = PROJECT / "scripts/simulate/interval_coverage.py"
TOURNAMENTS = 500


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    spec = importlib.util.spec_from_file_location("interval_coverage", SCRIPT)
    assert spec and spec.loader
    module = sys.modules["interval_coverage"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_95_percent_intervals_hold_the_truth_in_93_to_97_percent_of_500_tournaments(simulation: ModuleType) -> None:
    setting = simulation.Setting("test", agents=6, span=500, pairs=2)
    verdicts = simulation.simulate(setting, TOURNAMENTS, resamples=200)
    held, margin = simulation.mean_and_margin([each.held for each in verdicts])
    assert margin < 0.015
    assert 0.93 < held < 0.97
    assert 0.93 < np.mean([each.differences for each in verdicts]) < 0.97
    # Neither side is given away: the misses lie on both.
    assert 0.008 < np.mean([each.below for each in verdicts]) < 0.045
    assert 0.008 < np.mean([each.above for each in verdicts]) < 0.045
    # "Better with 60 to 90%" is true about as often as it says.
    claims = np.concatenate([each.claims for each in verdicts], axis=1)
    made = claims[:, (claims[0] > 0.6) & (claims[0] < 0.9)]
    assert made[1].mean() == pytest.approx(made[0].mean(), abs=0.06)
    # And the rating lies in the middle of the misses: no bias that matters beside the width.
    assert abs(np.mean([each.error for each in verdicts])) < 0.1 * np.median([each.width for each in verdicts])


def test_intervals_of_another_level_hold_their_own_share(simulation: ModuleType) -> None:
    """The check above can fail: intervals that are meant to hold less do hold less."""
    setting = simulation.Setting("test", agents=5, span=300, pairs=6)
    rng = np.random.default_rng(11)
    held = []
    for number in range(150):
        elo = simulation.draw_strengths(setting, rng)
        evidence = simulation.tournament(setting, elo, rng)
        ratings = fit_ratings(evidence, anchor="agent 00", resamples=150, seed=number, level=0.7)
        held.append(((ratings.low <= elo) & (elo <= ratings.high))[1:].mean())
    assert np.mean(held) == pytest.approx(0.7, abs=0.07)


def test_simulated_tournaments_have_the_strengths_and_the_luck_they_say(simulation: ModuleType) -> None:
    setting = simulation.Setting("test", agents=2, span=200, pairs=20_000, ties=0.1, luck=0.6, even=True)
    rng = np.random.default_rng(0)
    points = simulation.tournament(setting, simulation.draw_strengths(setting, rng), rng).points
    assert points.mean() / 2 == pytest.approx(1 / (1 + 10**0.5), abs=0.007)
    independent = simulation.Setting("test", agents=2, span=200, pairs=20_000, ties=0.1, luck=0.0, even=True)
    loose = simulation.tournament(independent, simulation.draw_strengths(independent, rng), rng).points
    assert points.var() < 0.75 * loose.var()  # the teams' luck cancels within a pair
