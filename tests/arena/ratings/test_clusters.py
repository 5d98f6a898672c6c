"""Win rates of battles in pairs: against figures by hand and simulated truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import fisher_exact, norm

from arena.ratings import clusters
from arena.ratings.against import ResultsAgainst
from arena.ratings.clusters import group_p_values, independent_battles
from arena.ratings.evidence import Floats


def test_how_many_independent_battles_tell_as_much() -> None:
    assert independent_battles(20, 40, 0.5, 0.0) == 20
    assert independent_battles(20, 40, 0.5, 1.0) == 10  # ten pairs, each always won or lost whole
    assert independent_battles(20, 20, 0.5, 1.0) == 20  # one battle of each of twenty pairs
    assert independent_battles(20, 40, 0.5, -0.5) == 40
    assert independent_battles(20, 40, 0.8, -0.4) == pytest.approx(20 / (1 - 0.4 * 0.25))


def test_a_permutation_of_single_battles_is_fishers_exact_test() -> None:
    scores = np.array([1.0] * 3 + [0.0] * 9 + [1.0] * 20 + [0.0] * 8)
    members = np.arange(40)[:, None] < 12
    (p,) = group_p_values(scores, np.arange(40), members)
    assert p == pytest.approx(float(fisher_exact([[3, 9], [20, 8]]).pvalue), rel=0.25)


def test_pairs_that_go_alike_claim_no_difference_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups of ten pairs, each won or lost whole: battles taken singly would differ far too often."""
    monkeypatch.setattr(clusters, "_PERMUTATIONS", 999)
    rng, pairs, by_pairs, by_battles = np.random.default_rng(1), 40, 0, 0
    numbers = np.repeat(np.arange(pairs), 2)
    members = numbers[:, None] // 10 == np.arange(4)
    for _ in range(60):
        scores = np.repeat((rng.random(pairs) < 0.6).astype(float), 2)
        by_pairs += (group_p_values(scores, numbers, members) < 0.05).sum()
        for inside in members.T:
            table = [[(scores[part] == value).sum() for value in (1.0, 0.0)] for part in (inside, ~inside)]
            by_battles += fisher_exact(table).pvalue < 0.05
    assert by_pairs <= 0.08 * 240 < 0.12 * 240 < by_battles


def _pool(rng: np.random.Generator, rates: Floats, pairs: int, alike: float) -> tuple[Floats, Floats, Floats]:
    """Tables of what agents [N] win against opponents [M] in `pairs` pairs, as of N + M agents."""
    bound = rng.random((*rates.shape, pairs)) < alike
    first, second = rng.random((2, *bound.shape)) < rates[..., None]
    points = (first * 1.0 + np.where(bound, first, second)).sum(axis=-1)
    size, others = rates.shape
    tables = np.zeros((3, size + others, size + others))
    tables[:, :size, size:] = points, np.full_like(rates, 2 * pairs), np.full_like(rates, 4 * pairs)
    tables[0, size:, :size] = 2 * pairs - points.T
    tables[1:, size:, :size] = tables[1:, :size, size:].transpose(0, 2, 1)
    return tables[0], tables[1], tables[2]


@pytest.mark.parametrize(("others", "pairs", "alike", "low", "high"), [(1, 10, 0.4, 0.3, 0.7), (6, 3, 0.4, 0.6, 1.0)])
def test_intervals_against_a_set_hold_the_truth(others: int, pairs: int, alike: float, low: float, high: float) -> None:
    rng, held, surely_better, size = np.random.default_rng(2), 0, 0, 10
    for _ in range(100):
        rates = np.broadcast_to(rng.uniform(low, high, others), (size, others))  # agents that are all alike
        chosen = np.arange(size + others) >= size
        results = ResultsAgainst(*_pool(rng, rates, pairs, alike), chosen, alike)
        _, lows, highs = results.scores()
        held += ((lows[:size] <= rates.mean(axis=1)) & (rates.mean(axis=1) <= highs[:size])).sum()
        surely_better += sum(results.better(i, i + 1) > 0.95 for i in range(0, size, 2))
    assert 0.93 * 1000 <= held <= 0.985 * 1000
    assert surely_better <= 0.08 * 500


def test_members_of_the_set_meet_themselves_at_a_half() -> None:
    """Two members with 80% against each other in ten battles, and one agent that has met the first of them alone."""
    points = np.array([[0.0, 8, 5], [2, 0, 0], [5, 0, 0]])
    battles = np.array([[0.0, 10, 10], [10, 0, 0], [10, 0, 0]])
    results = ResultsAgainst(points, battles, 2 * battles, np.array([True, True, False]), 0.0)
    scores, low, high = results.scores()
    assert scores == pytest.approx([(0.8 + 0.5) / 2, (0.2 + 0.5) / 2, 0.5])
    assert results.missing.tolist() == [0, 0, 1] and results.opponents.tolist() == [1, 1, 1]
    assert (low[:2] >= 0.25).all() and (high[:2] <= 0.75).all()  # half of the set is the member itself
    # 8 of 10 against 2 of 10: one result from two sides, so twice its standard error.
    rate = 8.5 / 11
    assert results.better(0, 1) == pytest.approx(norm.cdf(0.6 / (2 * (rate * (1 - rate) / 10) ** 0.5)))
