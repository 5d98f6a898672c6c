"""Win rates of every agent against every other, as seen and as they could have come out."""

from __future__ import annotations

import numpy as np

from arena.ratings.evidence import Evidence, Floats, Ints

#: Pairs in the prior of a resampled rate, half of them won and half lost (Jeffreys' prior for one outcome of two).
PRIOR_PAIRS = 1.0


def win_rates(evidence: Evidence) -> Floats:
    """[N, N]: share of the points that the row won against the column; 0.5 on the diagonal, NaN where they never met."""
    points, games = evidence.tables()
    rates = np.divide(points, games, out=np.full_like(points, np.nan), where=games > 0)
    np.fill_diagonal(rates, 0.5)
    return rates


def resampled_rates(evidence: Evidence, resamples: int, rng: np.random.Generator) -> Floats:
    """[B, N, N]: the win rates of `resampled_meetings` as tables; NaN where the two never met, 0.5 on the diagonal."""
    size = len(evidence.agents)
    rates = np.full((resamples, size, size), np.nan)
    rates[:, range(size), range(size)] = 0.5
    first, second, shares = resampled_meetings(evidence, resamples, rng)
    rates[:, first, second] = shares
    rates[:, second, first] = 1 - shares
    return rates


def resampled_meetings(evidence: Evidence, resamples: int, rng: np.random.Generator) -> tuple[Ints, Ints, Floats]:
    """Pairings first, second [E], and [B, E] the win rates of the first with random weights on the pairs, each pairing for
    itself (Rubin's bootstrap, 1981).

    A weight is drawn for a pair, never for a battle. Beside the pairs seen there is a little of one won and one lost
    (PRIOR_PAIRS), so that eight wins out of eight do not pass for certainty.
    """
    cells, counts = evidence.cells()
    if not len(cells):
        nobody = np.zeros(0, dtype=np.int64)
        return nobody, nobody, np.zeros((resamples, 0))
    pairings, number = np.unique(cells[:, :2].astype(np.int64), axis=0, return_inverse=True)
    begins = np.flatnonzero(np.diff(number.ravel(), prepend=-1))
    weights = rng.gamma(counts, size=(resamples, len(cells)))
    lucky, unlucky = 2 * rng.gamma(PRIOR_PAIRS / 2, size=(2, resamples, len(pairings)))
    points = np.add.reduceat(weights * cells[:, 2], begins, axis=1) + lucky
    games = np.add.reduceat(weights * cells[:, 3], begins, axis=1) + lucky + unlucky
    return pairings[:, 0], pairings[:, 1], points / games


def interval(samples: Floats) -> tuple[float, float]:
    """The 95% interval of samples [B]."""
    low, high = np.quantile(samples, (0.025, 0.975), method="weibull")
    return float(low), float(high)
