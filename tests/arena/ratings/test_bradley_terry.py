"""The joint fit against direct maximisation and another library; its intervals, marks, groups and bounds."""

from __future__ import annotations

import itertools
import math

import evalica
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import beta

from arena.ratings.bradley_terry import ELO, Ratings, fit, fit_ratings, information
from arena.ratings.evidence import Evidence, make_evidence
from teamsets.errors import BadInput

Pair = tuple[str, str, float, int, str]


def pairs(first: str, second: str, *points: float) -> list[Pair]:
    return [(first, second, each, 2, "s") for each in points]


def league(agents: int, count: int, *, span: float, seed: int) -> tuple[Evidence, np.ndarray]:
    """A round robin of `count` pairs between agents "a0", "a1" ... in equal steps, and their Elo."""
    rng = np.random.default_rng(seed)
    elo = np.linspace(0, span, agents)
    rows, columns = (np.repeat(index, count) for index in np.triu_indices(agents, 1))
    points = rng.binomial(2, 1 / (1 + 10 ** ((elo[columns] - elo[rows]) / 400)))
    return make_evidence(
        [(f"a{a:02}", f"a{b:02}", float(p), 2, "s") for a, b, p in zip(rows, columns, points, strict=True)]
    ), elo


def likelihood(strengths: np.ndarray, points: np.ndarray, games: np.ndarray) -> float:
    """Logarithm of the plain likelihood, strengths in logits; written apart from the code under test."""
    total = 0.0
    for a in range(len(points)):
        for b in range(len(points)):
            total -= points[a, b] * math.log1p(math.exp(strengths[b] - strengths[a]))
    return total


def jeffreys(strengths: np.ndarray, games: np.ndarray) -> float:
    """Logarithm of Jeffreys' prior: half the log determinant of the information, the first agent held fixed."""
    size = len(strengths)
    matrix = np.zeros((size, size))
    for a in range(size):
        for b in range(a):
            chance = 1 / (1 + math.exp(strengths[b] - strengths[a]))
            step = np.zeros(size)
            step[a], step[b] = 1, -1
            matrix += games[a, b] * chance * (1 - chance) * np.outer(step, step)
    return 0.5 * float(np.linalg.slogdet(matrix[1:, 1:])[1])


def maximum(points: np.ndarray, games: np.ndarray, *, prior: bool) -> np.ndarray:
    def loss(free: np.ndarray) -> float:
        strengths = np.r_[0.0, free]
        return -likelihood(strengths, points, games) - (jeffreys(strengths, games) if prior else 0.0)

    found = np.r_[0.0, minimize(loss, np.zeros(len(points) - 1), method="BFGS", options={"gtol": 1e-7}).x] * ELO
    return found - found.mean()


@pytest.mark.parametrize("count", [1, 6])
def test_the_fit_is_the_maximum_of_likelihood_times_jeffreys_prior(count: int) -> None:
    evidence, _ = league(5, count, span=500, seed=3)
    points, games = evidence.tables()
    assert fit(points, games) == pytest.approx(maximum(points, games, prior=True), abs=0.1)


def test_a_perfect_score_has_the_maximum_that_direct_search_finds() -> None:
    evidence = make_evidence([*pairs("a", "b", 2, 2), *pairs("a", "c", 2, 2), *pairs("b", "c", 1.5, 2)])
    points, games = evidence.tables()
    assert fit(points, games) == pytest.approx(maximum(points, games, prior=True), abs=0.1)


def test_with_much_evidence_it_is_the_plain_maximum_of_scipy_and_of_evalica() -> None:
    evidence, elo = league(6, 400, span=600, seed=1)
    points, games = evidence.tables()
    found = fit(points, games)
    assert found == pytest.approx(maximum(points, games, prior=False), abs=1.0)
    winners, losers = np.nonzero(points)
    strengths = evalica.bradley_terry(
        [str(a) for a in winners],
        [str(b) for b in losers],
        [evalica.Winner.X] * len(winners),
        weights=points[winners, losers].tolist(),
        tolerance=1e-9,
        limit=10_000,
    ).scores
    other = np.array([math.log(strengths[str(a)]) for a in range(6)]) * ELO
    assert found == pytest.approx(other - other.mean(), abs=1.0)
    assert found == pytest.approx(elo - elo.mean(), abs=35)  # 3 standard errors


@pytest.mark.parametrize(("won", "of"), [(0, 2), (3, 4), (5, 10), (40, 40)])
def test_two_agents_are_rated_as_the_formula_says(won: int, of: int) -> None:
    points, games = np.array([[0, won], [of - won, 0]], dtype=float), np.array([[0, of], [of, 0]], dtype=float)
    difference = np.diff(fit(points, games))[0]
    assert difference == pytest.approx(-400 * math.log10((won + 0.5) / (of - won + 0.5)), abs=0.05)


def test_a_perfect_score_is_bounded_as_jeffreys_interval_bounds_a_proportion() -> None:
    ratings = fit_ratings(make_evidence(pairs("a", "b", *[2] * 50)), anchor="b", resamples=4000)
    low, high = (400 * math.log10(share / (1 - share)) for share in (beta.ppf(q, 100.5, 0.5) for q in (0.025, 0.975)))
    assert ratings.low[0] - 1000 == pytest.approx(low, abs=25)
    assert ratings.high[0] - 1000 == pytest.approx(high, rel=0.15)
    assert ratings.marks == ("won all", "lost all")


def test_more_pairs_narrow_the_intervals_by_the_root() -> None:
    few, many = (fit_ratings(league(5, count, span=300, seed=7)[0], resamples=400) for count in (10, 160))
    ratio = np.median((few.high - few.low)[1:]) / np.median((many.high - many.low)[1:])
    assert ratio == pytest.approx(4, rel=0.2)


def test_the_battles_of_a_pair_stay_together() -> None:
    """The same 20 wins of 40: shared within every pair there is little luck, swept pairs are all luck."""
    shared = fit_ratings(make_evidence(pairs("a", "b", *[1] * 20)))
    swept = fit_ratings(make_evidence(pairs("a", "b", *[2, 0] * 10)))
    assert shared.elo == pytest.approx(swept.elo)
    assert (swept.high - swept.low)[1] > 4 * (shared.high - shared.low)[1]
    # 20 fair coins that count twice: the interval of a share of 20.
    assert (swept.high - swept.low)[1] == pytest.approx(2 * 1.96 * ELO / math.sqrt(20 / 4), rel=0.15)


def test_a_pair_of_which_one_battle_counts_is_one_battle() -> None:
    ratings = fit_ratings(make_evidence([("a", "b", 1.0, 1, "s"), ("a", "b", 1.0, 2, "s"), ("b", "a", 0.0, 0, "s")]))
    assert ratings.games.tolist() == [3, 3]
    assert ratings.score == pytest.approx([2 / 3, 1 / 3])


def test_the_order_of_the_pairs_does_not_matter_and_the_seed_does() -> None:
    evidence, _ = league(6, 4, span=400, seed=2)
    shuffled = evidence.take(np.random.default_rng(0).permutation(len(evidence)))
    one, same, other = (fit_ratings(evidence, resamples=100, seed=5), *_two(evidence, shuffled))
    assert np.array_equal(one.samples, same.samples)
    assert np.array_equal(one.low, same.low) and np.array_equal(one.elo, same.elo)
    assert not np.array_equal(one.samples, other.samples)


def _two(evidence: Evidence, shuffled: Evidence) -> tuple[Ratings, Ratings]:
    return fit_ratings(shuffled, resamples=100, seed=5), fit_ratings(evidence, resamples=100, seed=6)


def test_which_way_round_a_pair_is_told_does_not_matter() -> None:
    told = [*pairs("a", "b", 1.5, 2, 0), *pairs("b", "c", 1, 2)]
    turned = [(b, a, n - p, n, s) for a, b, p, n, s in told]
    assert np.array_equal(fit_ratings(make_evidence(told)).samples, fit_ratings(make_evidence(turned)).samples)


def test_the_anchor_has_1000_in_every_resample() -> None:
    told = [*pairs("random", "b", 1, 0, 0.5), *pairs("a", "b", 2, 1), *pairs("a", "random", 1, 2)]
    ratings = fit_ratings(make_evidence(told))
    assert ratings.anchor == "random"
    assert ratings.elo[2] == ratings.low[2] == ratings.high[2] == 1000 and (ratings.samples[:, 2] == 1000).all()
    moved = fit_ratings(make_evidence(told), anchor="b")
    assert moved.elo[1] == 1000 and np.diff(moved.elo) == pytest.approx(np.diff(ratings.elo))
    assert fit_ratings(make_evidence(pairs("b", "a", 1))).anchor == "a"


def test_bad_input_is_named() -> None:
    with pytest.raises(BadInput, match=r"anchor 'zoe': has none of these battles; name one of a, b"):
        fit_ratings(make_evidence(pairs("a", "b", 1)), anchor="zoe")
    with pytest.raises(BadInput, match="no battles"):
        fit_ratings(make_evidence([]))


def test_perfect_scores_are_finite_and_marked() -> None:
    told = [*pairs("best", "x", 2, 2), *pairs("best", "y", 2, 2), *pairs("x", "y", 1, 1.5)]
    told += [*pairs("x", "worst", 2, 2), *pairs("y", "worst", 2, 2)]
    ratings = fit_ratings(make_evidence(told), anchor="x")
    assert ratings.marks == ("won all", "lost all", "", "")
    for numbers in (ratings.elo, ratings.low, ratings.high, ratings.samples):
        assert np.isfinite(numbers).all()
    best, worst, x, y = range(4)
    assert ratings.elo[best] > ratings.elo[[x, y]].max() and ratings.elo[worst] < ratings.elo[[x, y]].min()
    # What four battles cannot tell is said: open upwards, bounded downwards.
    assert ratings.high[best] - ratings.elo[best] > 2 * (ratings.elo[best] - ratings.low[best]) > 200
    assert ratings.better[best, worst] > 0.95


def test_agents_that_only_two_way_results_among_themselves_tie_down_are_marked() -> None:
    told = [*pairs("a", "b", 1), *pairs("c", "d", 1), *pairs("c", "e", 0.5), *pairs("d", "e", 1)]
    told += [*pairs("a", "c", 2), *pairs("b", "d", 2)]
    ratings = fit_ratings(make_evidence(told))
    assert ratings.marks == ("won all but against b", "won all but against a", "", "", "")
    assert np.isfinite(ratings.samples).all()
    between = fit_ratings(make_evidence([*pairs("a", "b", 1), *pairs("a", "m", 2), *pairs("m", "z", 2)]))
    assert between.marks == ("", "", "won all or lost all against each", "lost all")


def test_pools_that_never_met_do_not_compare() -> None:
    told = [*pairs("a", "b", 1.5, 1), *pairs("x", "y", 2, 1), *pairs("y", "z", 1, 1)]
    ratings = fit_ratings(make_evidence(told, ["idle"]), anchor="x")
    assert ratings.agents == ("a", "b", "idle", "x", "y", "z")
    assert ratings.group.tolist() == [1, 1, 2, 0, 0, 0]
    assert np.isnan(ratings.better[0, 3]) and np.isnan(ratings.better[3, 0]) and not np.isnan(ratings.better[0, 1])
    assert np.diag(ratings.better).tolist() == [0.5] * 6
    assert ratings.elo[:2].mean() == pytest.approx(1000) and ratings.elo[3] == 1000
    assert ratings.marks == ("", "", "no battles", "", "", "")
    assert np.isnan(ratings.score[2]) and ratings.games[2] == 0 and np.isfinite(ratings.elo).all()
    alone = fit_ratings(make_evidence([entry for entry in told if entry[0] in "xy"]), anchor="x")
    assert ratings.elo[3:] == pytest.approx(alone.elo, abs=1e-3)


def test_better_is_the_share_of_resamples_and_of_bradley_terry_size() -> None:
    evidence, _ = league(4, 20, span=100, seed=4)
    ratings = fit_ratings(evidence)
    assert ratings.better + ratings.better.T == pytest.approx(np.ones((4, 4)))
    assert ratings.better[0, 1] == pytest.approx((ratings.samples[:, 0] > ratings.samples[:, 1]).mean())
    same = fit_ratings(make_evidence([*pairs("a", "b", 2, 0, 1), *pairs("b", "c", 2, 0, 1), *pairs("c", "a", 2, 0, 1)]))
    assert same.better == pytest.approx(np.full((3, 3), 0.5), abs=0.05)


def test_a_wide_pool_on_few_battles_stays_finite_and_near_the_truth() -> None:
    errors = []
    for seed in range(8):
        evidence, elo = league(18, 2, span=2000, seed=seed)
        ratings = fit_ratings(evidence, anchor="a09", resamples=100)
        assert np.isfinite(ratings.samples).all() and np.abs(ratings.elo - 1000).max() < 4000
        assert ((ratings.low <= ratings.elo) & (ratings.elo <= ratings.high)).all()
        errors.append(ratings.elo - 1000 - (elo - elo[9]))
    bias = np.abs(np.mean(errors, axis=0))
    assert bias.max() < 1.5 * np.std(errors) and bias.mean() < 0.6 * np.std(errors)


def test_level_sets_how_wide_the_intervals_are() -> None:
    evidence, _ = league(5, 10, span=300, seed=9)
    narrow, wide = (fit_ratings(evidence, level=level) for level in (0.5, 0.95))
    ratio = (wide.high - wide.low)[1:] / (narrow.high - narrow.low)[1:]
    assert ratio == pytest.approx(np.full(4, 1.96 / 0.6745), rel=0.15)


def test_information_is_the_curvature_of_the_likelihood() -> None:
    evidence, _ = league(4, 5, span=400, seed=6)
    points, games = evidence.tables()
    elo = fit(points, games)
    step = 1.0
    curvature = np.zeros((4, 4))
    for a in range(4):
        for b in range(4):
            for sign_a in (1, -1):
                for sign_b in (1, -1):
                    moved = elo.copy()
                    moved[a] += sign_a * step
                    moved[b] += sign_b * step
                    curvature[a, b] -= sign_a * sign_b * likelihood(moved / ELO, points, games) / (4 * step**2)
    assert information(elo, games) == pytest.approx(curvature, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("count", range(2, 9))
def test_a_link_by_a_single_pair_has_finite_numbers(count: int) -> None:
    """The fit follows such a pair wholly: what is left of its weight is nothing, or by rounding a little less."""
    names = [f"agent{number}" for number in range(count)]
    for points, games in itertools.product((0, 0.5, 1, 1.5, 2), (1, 2)):
        if points <= games:
            told = [(a, b, points, games, "one") for a, b in itertools.pairwise(names)]
            with np.errstate(all="raise", under="ignore"):
                ratings = fit_ratings(make_evidence(told), resamples=50)
            assert np.isfinite([ratings.elo, ratings.low, ratings.high]).all() and np.isfinite(ratings.better).all()
