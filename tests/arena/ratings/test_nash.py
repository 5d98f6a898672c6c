"""The Nash average: by hand where that is possible, by its definition everywhere else."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from arena.ratings.evidence import Evidence, make_evidence
from arena.ratings.nash import nash_average, nash_of
from arena.ratings.rates import resampled_rates, win_rates
from teamsets.errors import BadInput

ROCK_PAPER_SCISSORS = np.array([[0.5, 0.0, 1.0], [1.0, 0.5, 0.0], [0.0, 1.0, 0.5]])


def random_rates(agents: int, steps: int, rng: np.random.Generator) -> np.ndarray:
    """Win rates in steps of 1/steps: with few steps, many ties and many mixtures that nobody beats."""
    upper = np.triu(rng.integers(0, steps + 1, (agents, agents)) / steps, 1)
    return upper + np.tril(1 - upper.T, -1) + 0.5 * np.eye(agents)


def evidence_of(rates: dict[tuple[str, str], float], pairs: int) -> Evidence:
    """So many pairs a meeting, of which the given share is won 2-0 and the others are lost."""
    return make_evidence(
        [
            (a, b, 2.0 if k < round(rate * pairs) else 0.0, 2, "s")
            for (a, b), rate in rates.items()
            for k in range(pairs)
        ]
    )


def test_the_best_agent_is_the_whole_mixture() -> None:
    found = nash_average(np.array([[0.5, 0.6, 0.9], [0.4, 0.5, 0.9], [0.1, 0.1, 0.5]]))
    np.testing.assert_allclose(found.weights, [1, 0, 0])
    np.testing.assert_allclose(found.value, [0, -0.1, -0.4])


def test_a_ring_shares_the_weight_by_how_the_others_fight_it_out() -> None:
    np.testing.assert_allclose(nash_average(ROCK_PAPER_SCISSORS).weights, [1 / 3] * 3)
    # A beats B by 0.1 over a half, B beats C by 0.2, C beats A by 0.3: each weighs as the meeting of the other two.
    skewed = 0.5 + np.array([[0, 0.1, -0.3], [-0.1, 0, 0.2], [0.3, -0.2, 0]])
    np.testing.assert_allclose(nash_average(skewed).weights, np.array([0.2, 0.3, 0.1]) / 0.6)


def test_copies_of_an_agent_share_its_weight() -> None:
    copied = [0, 0, 1, 2, 2, 2]
    found = nash_average(ROCK_PAPER_SCISSORS[np.ix_(copied, copied)])
    np.testing.assert_allclose(found.weights, np.array([1 / 2, 1 / 2, 1, 1 / 3, 1 / 3, 1 / 3]) / 3, atol=1e-6)


def test_agents_that_are_alike_weigh_the_same() -> None:
    np.testing.assert_allclose(nash_average(np.full((5, 5), 0.5)).weights, [0.2] * 5, atol=1e-6)
    np.testing.assert_allclose(nash_average(np.array([[0.5]])).weights, [1])


@pytest.mark.parametrize("steps", [1, 2, 3, 8, 10**6])
def test_nobody_beats_the_mixture(steps: int) -> None:
    rng = np.random.default_rng(steps)
    for agents in (2, 3, 6, 13, 20, 40):
        rates = random_rates(agents, steps, rng)
        found = nash_average(rates)
        assert found.weights.sum() == pytest.approx(1) and (found.weights >= 0).all()
        against = (rates - 0.5) @ found.weights
        assert against.max() < 1e-7
        np.testing.assert_allclose(found.value, against, atol=1e-7)
        np.testing.assert_allclose(found.value[found.weights > 1e-9], 0, atol=1e-7)


def test_of_several_mixtures_it_is_the_most_even() -> None:
    """Against the dual of the same problem: the least of log(sum(exp(prices @ payoff))) over prices of at least 0."""
    rng = np.random.default_rng(0)
    several = 0
    for _ in range(40):
        rates = random_rates(int(rng.integers(3, 9)), 2, rng)
        payoff = rates - 0.5

        def dual(prices: np.ndarray, payoff: np.ndarray = payoff) -> tuple[float, np.ndarray]:
            power = np.exp(-(payoff.T @ prices))
            return float(np.log(power.sum())), -(payoff @ power) / power.sum()

        bounds = [(0, 40)] * len(rates)  # a price of 40 is as good as none at all: exp(-20)
        most = minimize(
            dual, np.zeros(len(rates)), jac=True, bounds=bounds, options={"maxfun": 10**5, "maxiter": 10**4}
        )
        weights = nash_average(rates).weights
        weights = weights[weights > 0]
        entropy = -(weights * np.log(weights)).sum()
        assert entropy == pytest.approx(most.fun, abs=0.02)
        several += len(weights) % 2 == 0  # a mixture that is the only one has an odd number of members
    assert several > 5


@pytest.mark.parametrize("steps", [2, 3, 10**6])
def test_what_the_mixture_may_consist_of_changes_nothing(steps: int) -> None:
    """Every set of agents is offered, in any order: only one that is the answer is taken, copies and ties included."""
    rng = np.random.default_rng(steps)
    for _ in range(30):
        rates = random_rates(int(rng.integers(2, 6)), steps, rng)
        sets = [np.array(chosen) for chosen in itertools.product([False, True], repeat=len(rates)) if any(chosen)]
        offered = [sets[i] for i in rng.permutation(len(sets))]
        np.testing.assert_allclose(nash_average(rates, offered).weights, nash_average(rates).weights, atol=1e-9)


def test_unmet_agents_are_refused_or_filled_in_by_ratings() -> None:
    evidence = evidence_of({("a", "b"): 0.75, ("b", "c"): 0.75}, 8)
    with pytest.raises(ValueError, match="NaN"):
        nash_average(win_rates(evidence))
    with pytest.raises(BadInput, match="a and c have no battles against each other"):
        nash_of(evidence)
    with pytest.raises(BadInput, match="no agents"):
        nash_of(make_evidence([]))
    found = nash_of(evidence, elo=np.array([1200.0, 1000.0, 800.0]), resamples=5)
    np.testing.assert_allclose(found.weights, [1, 0, 0])
    assert found.value[2] == pytest.approx(1 / 11 - 0.5)  # 400 Elo are ten to one


@pytest.mark.slow
def test_more_battles_make_it_surer() -> None:
    ring = {("a", "b"): 0.75, ("b", "c"): 0.75, ("a", "c"): 0.25, **{(x, "d"): 0.75 for x in "abc"}}
    few, many = (nash_of(evidence_of(ring, pairs), resamples=100, seed=1) for pairs in (4, 400))
    for found in (few, many):
        np.testing.assert_allclose(found.weights, [1 / 3, 1 / 3, 1 / 3, 0], atol=1e-9)
        assert found.mean.sum() == pytest.approx(1)
        assert (found.low <= found.mean).all() and (found.mean <= found.high).all()
    assert (many.high - many.low < few.high - few.low).all()
    assert many.support.tolist() == [1, 1, 1, 0] and few.support[3] > 0
    again = nash_of(evidence_of(ring, 4), resamples=100, seed=1)
    np.testing.assert_array_equal(again.mean, few.mean)
    assert (nash_of(evidence_of(ring, 4), resamples=100, seed=2).mean != few.mean).any()


def test_win_rates_say_who_never_met() -> None:
    rates = win_rates(evidence_of({("a", "b"): 0.75, ("b", "c"): 0.0}, 4))
    np.testing.assert_array_equal(rates, [[0.5, 0.75, np.nan], [0.25, 0.5, 0.0], [np.nan, 1.0, 0.5]])


def test_resampled_rates_spread_as_pairs_do() -> None:
    """Twelve of sixteen pairs won 2-0: the spread of a share of 16, not of 32; a perfect score is not certain."""
    evidence = evidence_of({("a", "b"): 0.75, ("a", "c"): 1.0}, 16)
    drawn = resampled_rates(evidence, 4000, np.random.default_rng(0))
    np.testing.assert_allclose(drawn + np.swapaxes(drawn, 1, 2), np.where(np.isnan(drawn), np.nan, 1.0))
    assert np.isnan(drawn[:, 1, 2]).all()
    mean, spread = 12.5 / 17, np.sqrt(12.5 * 4.5 / 17**2 / 18)  # of Beta(12.5, 4.5)
    assert drawn[:, 0, 1].mean() == pytest.approx(mean, abs=0.01)
    assert drawn[:, 0, 1].std() == pytest.approx(spread, rel=0.05)
    assert 0.9 < np.quantile(drawn[:, 0, 2], 0.1) < 0.99


def test_splitting_a_pair_is_no_evidence() -> None:
    split = make_evidence([("a", "b", 1.0, 2, "s") for _ in range(16)])
    drawn = resampled_rates(split, 500, np.random.default_rng(0))[:, 0, 1]
    assert drawn.std() < 0.05 and abs(drawn.mean() - 0.5) < 0.01
    swapped = [
        make_evidence([(*names, points, 2, "s")]) for names, points in itertools.product([("a", "b")], (0.0, 2.0))
    ]
    low, high = (resampled_rates(each, 500, np.random.default_rng(0))[:, 0, 1].mean() for each in swapped)
    assert low < 0.5 < high
