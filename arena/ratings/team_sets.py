"""Differences of an agent's strength between team sets: separate ratings on each set, compared on a common scale.

Ratings are only differences, so those of two sets need a common zero. For an agent it is the mean of the others that played
on both, each counted by how much is known of it. Not the anchor: whatever the anchor itself does better on one set would be
laid on everybody else with the opposite sign. Nor the plain mean: one agent that lost everything would make all differences
unsure. So a difference says how much better an agent is on one set than on the other, compared with what the others are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from arena.ratings.bradley_terry import Ratings, fit_ratings, information
from arena.ratings.evidence import Evidence, Floats

LEVEL = 0.95
FALSE_SHARE = 0.05  # of the differences called clear, on average, at most


@dataclass(frozen=True)
class SetDifference:
    """An agent's difference between two team sets.

    elo > 0: how much better the agent is on `better_on` than on `worse_on`, compared with the mean of the others that
    played on both; low, high: its 95% interval. clear: the interval leaves out 0, and the difference stands among all
    that were looked at (false discovery rate 5%). bound: the agent has all or no points on one of the sets, so `elo` and
    `high` rest on the prior, and `low` is what the battles tell.
    """

    agent: str
    better_on: str
    worse_on: str
    elo: float
    low: float
    high: float
    clear: bool
    bound: bool = False


def set_differences(evidence: Evidence, *, resamples: int = 1000, seed: int = 0) -> list[SetDifference]:
    """Every agent's difference between every two team sets on which it played; the largest first, the clear before all.

    Every two sets, rather than each against the rest: a rest is a mixture that changes with what was played. Two sets
    compare where at least three agents are linked by battles on both (with two, one's gain is the other's loss).
    """
    fits = []
    for place, name in enumerate(evidence.team_sets):
        on_set = evidence.on(name)
        ratings = fit_ratings(on_set, resamples=resamples, seed=seed + place)  # a seed each: independent resamples
        fits.append((name, ratings, np.diag(information(ratings.elo, on_set.tables()[1]))))
    found = [difference for one, other in combinations(fits, 2) for difference in _between(one, other)]
    return sorted(_judged(found), key=lambda d: (not d.clear, -d.elo, d.agent, d.better_on, d.worse_on))


def sentence(difference: SetDifference) -> str:
    """The line for a report: "X is 180 ± 45 Elo worse on `competitive` than on `human`"."""
    d = difference
    amount = f"at least {d.low:.0f}" if d.bound and d.clear else f"{d.elo:.0f} ± {(d.high - d.low) / 2:.0f}"
    return f"{d.agent} is {amount} Elo worse on `{d.worse_on}` than on `{d.better_on}`"


Fitted = tuple[str, Ratings, Floats]  # a team set, the ratings on it, and what is known of every agent there [N]


def _between(fitted_first: Fitted, fitted_second: Fitted) -> list[SetDifference]:
    (first_name, first, first_known), (second_name, second, second_known) = fitted_first, fitted_second
    played = (first.games > 0) & (second.games > 0)
    differences = []
    for both in sorted({(int(a), int(b)) for a, b in zip(first.group[played], second.group[played], strict=True)}):
        shared = np.flatnonzero(played & (first.group == both[0]) & (second.group == both[1]))
        if len(shared) < 3:
            continue
        weight = 1 / (1 / first_known[shared] + 1 / second_known[shared])  # of a difference: what both sets know of it
        weight /= weight.sum()
        elo, samples = (
            (gaps - (gaps @ weight)[:, None]) / (1 - weight)  # the gap less the mean of the others' gaps
            for gaps in (
                first.elo[None, shared] - second.elo[None, shared],
                first.samples[:, shared] - second.samples[:, shared],
            )
        )
        low, high = np.quantile(samples, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0, method="weibull")
        for place, agent in enumerate(shared):
            value, ends = float(elo[0, place]), (float(low[place]), float(high[place]))
            better, worse = (first_name, second_name) if value >= 0 else (second_name, first_name)
            size, bottom, top = (value, *ends) if value >= 0 else (-value, -ends[1], -ends[0])
            bound = bool(first.marks[agent] or second.marks[agent])
            differences.append(SetDifference(first.agents[agent], better, worse, size, bottom, top, False, bound))
    return differences


def _judged(differences: list[SetDifference]) -> list[SetDifference]:
    """The same with `clear` decided over all of them.

    The chance of a difference from nothing is read from its interval: as many standard errors as `low` is below `elo`.
    """
    edge = float(ndtri((1 + LEVEL) / 2))
    chance = np.array([2 * ndtr(-edge * d.elo / max(d.elo - d.low, 1e-9)) for d in differences])
    return [replace(d, clear=bool(stands)) for d, stands in zip(differences, standing(chance), strict=True)]


def standing(chances: Floats) -> NDArray[np.bool_]:
    """Which differences stand among all that were looked at, by each one's chance to come from nothing.

    Of those that do, FALSE_SHARE come from nothing on average, at most (Benjamini and Hochberg, J. R. Statist. Soc. B 57,
    1995).
    """
    ranked = np.sort(chances)
    passed = ranked[ranked <= FALSE_SHARE * np.arange(1, len(ranked) + 1) / max(len(ranked), 1)]
    return np.asarray(chances <= (passed.max() if len(passed) else -1.0))
