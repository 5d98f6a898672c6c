"""Glicko-1 and GXE against the paper's example, the ladder's numbers and each other."""

from __future__ import annotations

import math

import numpy as np
import pytest

from arena.ratings.glicko import GROWTH, glicko, gxe, rated


@pytest.mark.parametrize(("rating", "deviation", "shown"), [(1800, 50, 82.9), (2051, 0, 94.9), (1500, 130, 50.0)])
def test_gxe_is_what_the_ladder_shows(rating: float, deviation: float, shown: float) -> None:
    assert round(gxe(rating, deviation), 1) == shown


def test_the_step_is_that_of_glickmans_own_example() -> None:
    rating, deviation = rated(1500, 200, [(1400, 30, 1), (1550, 100, 0), (1700, 300, 0)])
    assert rating == pytest.approx(1464, abs=0.5)
    assert deviation == pytest.approx(151.4, abs=0.05)


def test_a_first_battle_moves_both_as_the_ladders_formulas_say() -> None:
    found = glicko([("a", "b", 1.0)])
    q = math.log(10) / 400
    weight = 1 / math.sqrt(1 + 3 * (q * 130 / math.pi) ** 2)
    deviation = (1 / 130**2 + q**2 * weight**2 / 4) ** -0.5
    assert found["a"].deviation == found["b"].deviation == pytest.approx(deviation)
    assert found["a"].rating == pytest.approx(1500 + q * deviation**2 * weight / 2)
    assert found["a"].rating + found["b"].rating == pytest.approx(3000)
    assert found["a"].gxe == gxe(found["a"].rating, found["a"].deviation) > 50 > found["b"].gxe


def test_a_tie_of_equals_moves_nobody() -> None:
    found = glicko([("a", "b", 0.5)])
    assert found["a"].rating == found["b"].rating == 1500


def test_within_a_period_the_order_does_not_matter_and_periods_build_on_each_other() -> None:
    period = [("a", "b", 1.0)] * 6 + [("a", "b", 0.0)] * 4  # ten battles each: one period
    assert glicko(period)["a"].rating == pytest.approx(glicko(period[::-1])["a"].rating)
    first = glicko(period)
    second = glicko(period + period[:1])["a"]
    start = math.sqrt(first["a"].deviation ** 2 + GROWTH)
    expected = rated(first["a"].rating, start, [(first["b"].rating, first["b"].deviation, 1.0)])
    assert (second.rating, second.deviation) == pytest.approx(expected)


def test_the_deviation_grows_over_periods_without_a_battle_up_to_a_newcomers() -> None:
    begun = [("idle", "x", 0.5)] * 14 + [("x", "y", 0.5)]  # three agents: fifteen battles a period
    after = {periods: glicko(begun + [("x", "y", 0.5)] * 15 * periods)["idle"].deviation for periods in (0, 1, 400)}
    assert after[1] == pytest.approx(math.sqrt(after[0] ** 2 + GROWTH))
    assert after[400] == 130


def test_the_deviation_never_falls_below_25() -> None:
    """A hub that meets ten others plays ten times as much as they do."""
    found = glicko([("hub", f"agent {number % 10}", number // 10 % 2 * 1.0) for number in range(2000)])
    assert found["hub"].deviation == 25 < min(found[f"agent {number}"].deviation for number in range(10))


def test_it_finds_known_strengths_and_gxe_predicts_scores_against_the_pool() -> None:
    rng = np.random.default_rng(1)
    elo = {"a": 1300.0, "b": 1400.0, "c": 1500.0, "d": 1600.0, "e": 1700.0}
    names = list(elo)
    battles = []
    for _ in range(4000):
        one, two = rng.choice(names, 2, replace=False)
        battles.append((str(one), str(two), float(rng.random() < 1 / (1 + 10 ** ((elo[two] - elo[one]) / 400)))))
    found = glicko(battles)
    assert [found[name].rating for name in names] == pytest.approx(list(elo.values()), abs=60)
    assert found["e"].gxe == pytest.approx(gxe(1700, 25), abs=5)


def test_nobody_without_battles() -> None:
    assert glicko([]) == {}
