"""The Nash average of a pool: the mixture of agents that no agent beats, and the win rates of all agents against it.

A rating counts wins over weak opponents, however many copies of one weak opponent there are, and cannot tell of a circle in
which everyone beats the next. Nash averaging does neither: two players each pick an agent to play for them, and the best
mixture to pick from is the answer. Its weights say which agents matter; an agent's value is its win rate against the
mixture, less a half: 0 for those in the mixture, less for those that the mixture beats.

Source: Balduzzi, Tuyls, Perolat, Graepel, "Re-evaluating evaluation" (NeurIPS 2018). They play the game for log-odds; here
it is played for win rates: these are finite where an agent has won every battle, and the value can be read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from arena.ratings.bradley_terry import ELO
from arena.ratings.evidence import Evidence, Floats
from arena.ratings.rates import resampled_rates, win_rates
from teamsets.errors import BadInput

#: Win rates that differ by less are equal, for a linear program; so many agents join the search for a mixture at once.
TIE, JOINING = 1e-7, 4
#: Singular values that are smaller than this share of the greatest are 0.
_NO_DIMENSION = 1e-9

Vector = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass(frozen=True)
class NashAverage:
    """weights [N]: of the mixture, sum 1. value [N]: win rate against the mixture less 1/2; never above 0."""

    weights: Floats
    value: Floats


@dataclass(frozen=True)
class NashEstimate:
    """The Nash average of N agents and how sure it is.

    weights, value [N]: from the win rates as seen. mean, low, high [N]: the weight over the resamples, with its 95%
    interval. support [N]: share of the resamples in which the agent is part of the mixture. With few battles `mean` is the
    better estimate: a mixture of a handful of agents, all or nothing, depends on a few battles. value_mean, value_low,
    value_high [N]: the same of the value.
    """

    agents: tuple[str, ...]
    weights: Floats
    value: Floats
    mean: Floats
    low: Floats
    high: Floats
    support: Floats
    value_mean: Floats
    value_low: Floats
    value_high: Floats


def nash_of(
    evidence: Evidence, *, elo: Floats | None = None, resamples: int = 200, seed: int = 0, level: float = 0.95
) -> NashEstimate:
    """The Nash average of all agents of `evidence`, with intervals from resamples of its pairs.

    elo [N]: fitted ratings, by which pairings that were never played are filled in (the same in every resample); without it
    such pairings raise BadInput, as does evidence without agents.
    """
    if not evidence.agents:
        raise BadInput("Nash average: no agents; play battles first")
    rates, drawn = meta_games(evidence, elo, resamples, seed)
    average = nash_average(rates)
    known = {(average.weights > 0).tobytes(): average.weights > 0}
    weights, values = np.empty((resamples, len(rates))), np.empty((resamples, len(rates)))
    for row, value, each in zip(weights, values, drawn, strict=True):
        found = nash_average(each, known.values())
        row[:], value[:] = found.weights, found.value
        known.setdefault((row > 0).tobytes(), row > 0)
    ends = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(weights, ends, axis=0)
    value_low, value_high = np.quantile(values, ends, axis=0)
    return NashEstimate(
        evidence.agents,
        average.weights,
        average.value,
        weights.mean(axis=0),
        low,
        high,
        (weights > 0).mean(axis=0),
        values.mean(axis=0),
        value_low,
        value_high,
    )


def meta_games(evidence: Evidence, elo: Floats | None, resamples: int, seed: int) -> tuple[Floats, Floats]:
    """Win rates [N, N] as seen, and [resamples, N, N] with random weights of the pairs, both without gaps.

    elo: see `nash_of`. Raises BadInput for a pairing that was never played, without elo.
    """
    rates = win_rates(evidence)
    unmet = np.isnan(rates)
    fitted = np.zeros_like(rates)
    if elo is not None:
        fitted = 1 / (1 + np.exp((elo[None, :] - elo[:, None]) / ELO))
    elif unmet.any():
        row, column = np.argwhere(unmet)[0]
        raise BadInput(
            f"Nash average: {evidence.agents[row]} and {evidence.agents[column]} have no battles against each other: play "
            "some, or pass ratings to fill in the win rate"
        )
    drawn = np.where(unmet, fitted, resampled_rates(evidence, resamples, np.random.default_rng(seed)))
    return np.where(unmet, fitted, rates), drawn


def nash_average(rates: Floats, likely: Iterable[NDArray[np.bool_]] = ()) -> NashAverage:
    """Of win rates [N, N] of the row against the column. The diagonal does not matter. Raises ValueError for NaN elsewhere.

    Where there are several such mixtures it is the most even one (of greatest entropy), so copies of an agent share its
    weight and agents that are all alike have equal weights. likely: sets of agents of which the mixture may consist; where
    it does it is found sooner.
    """
    payoff = (rates - rates.T) / 2
    np.fill_diagonal(payoff, 0)
    if np.isnan(payoff).any():
        raise ValueError("win rates: NaN: fill in the pairings without battles")
    first = payoff.mean(axis=1).argmax()
    if (np.delete(payoff[first], first) > TIE).all():  # it beats everybody: any other mixture loses to it
        weights = np.zeros(len(payoff))
        weights[first] = 1.0
        return NashAverage(weights, np.minimum(payoff[:, first], 0))
    only = next((found for members in likely if (found := _only_mixture(payoff, members)) is not None), None)
    weights = _searched_mixture(payoff) if only is None else only
    return NashAverage(weights, np.minimum(payoff @ weights, 0))


def _searched_mixture(payoff: Floats) -> Floats:
    """The most even mixture [N] that nobody beats."""
    some = _some_mixture(payoff)
    only = _only_mixture(payoff, some > 0)
    if only is not None:
        return only
    mixture = _widest_mixture(payoff, some)
    members = mixture > 0
    weights = np.zeros(len(payoff))
    weights[members] = _most_even(payoff[:, members], members, mixture[members])
    return weights


def _only_mixture(payoff: Floats, members: NDArray[np.bool_]) -> Floats | None:
    """The mixture [N] of all members that nobody beats, if there is one and no other mixture is unbeaten; else None.

    Everyone else loses to it, so an unbeaten mixture is one of members alone. Against such a one all members have the value
    0, as they are in an unbeaten one: it is in the null space of their own table, which has one dimension.
    """
    _, singular, rows = np.linalg.svd(payoff[np.ix_(members, members)])
    shares = rows[-1] / rows[-1][np.abs(rows[-1]).argmax()]
    if np.count_nonzero(singular < _NO_DIMENSION * max(1.0, singular[0])) != 1 or (shares < TIE).any():
        return None
    mixture = np.zeros(len(payoff))
    mixture[members] = shares / shares.sum()
    return mixture if (payoff[~members] @ mixture < -TIE).all() else None


def _widest_mixture(payoff: Floats, some: Floats) -> Floats:
    """A mixture [N] that nobody beats, with everyone in it who is in any such mixture.

    A linear program over such mixtures y, of any sum, and parts of them t <= y, t <= 1: the most sum of t makes t = 1 for
    all who can be in. Such mixtures are a convex set (the game's value is 0), so one of them has them all. Whoever loses
    against one such mixture, as `some`, is in none, so only the others are variables.
    """
    able = np.flatnonzero(payoff @ some >= -TIE)
    size, rest = len(able), len(payoff)
    nobody, everyone = np.zeros((rest, size)), np.eye(size)
    solution = _solved(
        np.r_[np.zeros(size), -np.ones(size)],
        A_ub=np.block([[payoff[:, able], nobody], [-everyone, everyone]]),
        b_ub=np.zeros(rest + size),
        bounds=[(0, None)] * size + [(0, 1)] * size,
    )
    mixture = np.zeros(rest)
    mixture[able] = np.where(solution[size:] > 0.5, solution[:size], 0.0)
    return np.asarray(mixture / mixture.sum())


def _some_mixture(payoff: Floats) -> Floats:
    """A mixture [N] that nobody beats, found among few agents: whoever beats the mixture of those joins them (McMahan,
    Gordon, Blum, "Planning in the presence of cost functions controlled by an adversary", ICML 2003)."""
    chosen = np.array([payoff.mean(axis=1).argmax()])
    while True:
        size = len(chosen)
        # The least that anybody of them wins against the mixture.
        table = np.column_stack([payoff[np.ix_(chosen, chosen)], -np.ones(size)])
        solution = _solved(
            np.r_[np.zeros(size), 1.0],
            A_ub=table,
            b_ub=np.zeros(size),
            A_eq=np.r_[np.ones(size), 0.0][None],
            b_eq=np.ones(1),
            bounds=[(0, None)] * size + [(None, None)],
        )
        mixture = np.zeros(len(payoff))
        mixture[chosen] = np.maximum(solution[:size], 0)
        mixture /= mixture.sum()
        gains = payoff @ mixture
        gains[chosen] = -np.inf
        better = np.argsort(-gains)[:JOINING]
        better = better[gains[better] > TIE]
        if not len(better):
            return mixture
        chosen = np.r_[chosen, better]


def _solved(costs: Floats, **constraints: Any) -> Floats:
    """The solution of a linear program that has one."""
    from scipy.optimize import linprog  # half a second to import, and only reports need it

    solved = linprog(costs, **constraints)
    if solved.x is None:
        raise ArithmeticError(f"Nash average: the linear program has no solution: {solved.message}")
    return np.asarray(solved.x)


def _most_even(payoff: Floats, members: NDArray[np.bool_], start: Floats) -> Floats:
    """The weights [S] of greatest entropy that nobody beats, all of the members alike having the value 0.

    payoff [N, S]: of everyone against the members. Members are in some mixture, so each has the value 0 against every
    mixture: the mixtures are the null space of the members' own table, as far as weights and outsiders allow.
    """
    from scipy.optimize import LinearConstraint, minimize

    _, singular, rows = np.linalg.svd(payoff[members])
    basis = rows[singular < _NO_DIMENSION * max(1.0, singular[0])].T  # [S, K]
    if basis.shape[1] <= 1:
        return start if not basis.size else np.abs(basis[:, 0]) / np.abs(basis[:, 0]).sum()

    def disorder(z: Vector) -> float:
        weights = np.maximum(basis @ z, 0)
        return float(xlogy(weights, weights).sum())

    def slope(z: Vector) -> Vector:
        return np.asarray(basis.T @ (np.log(np.maximum(basis @ z, 1e-15)) + 1))

    limits = np.concatenate([basis, -payoff[~members] @ basis])
    solved = minimize(
        disorder,
        basis.T @ start,
        jac=slope,
        method="SLSQP",
        constraints=[LinearConstraint(basis.sum(axis=0)[None], 1, 1), LinearConstraint(limits, 0, np.inf)],
        options={"ftol": 1e-12, "maxiter": 500},
    )
    weights = np.maximum(basis @ solved.x, 0)
    return np.asarray(weights / weights.sum())
