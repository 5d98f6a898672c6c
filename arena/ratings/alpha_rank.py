"""Alpha-rank of a pool: how often a population that copies what wins plays each agent.

A population plays one agent; now and then a mutant with another one appears, and takes over with a probability that grows
with its win rate against the resident. The shares of time that the population spends with each agent, at strong selection,
are the ranking. Source: Omidshafiei et al., "alpha-Rank: Multi-Agent Evaluation by Evolution" (Scientific Reports 9, 2019);
the computation is OpenSpiel's.
"""

from __future__ import annotations

import importlib.util

import numpy as np

from arena.ratings.evidence import Evidence, Floats
from arena.ratings.nash import meta_games

#: Size of the population and strength of selection: OpenSpiel's defaults, at which the better of two agents takes over.
_POPULATION, _SELECTION = 50, 100.0
#: Resamples over which shares are averaged.
_RESAMPLES = 100


def is_installed() -> bool:
    """Return whether OpenSpiel is there."""
    return importlib.util.find_spec("open_spiel") is not None


def alpha_rank_of(evidence: Evidence, *, elo: Floats, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Return the share of time [N] of each agent, the mean over resamples of the pairs, and the ends of its 95% interval.

    elo [N]: fills in unmet pairings.
    """
    _, drawn = meta_games(evidence, elo, _RESAMPLES, seed)
    shares = np.array([alpha_rank(rates) for rates in drawn])
    low, high = np.quantile(shares, (0.025, 0.975), axis=0)
    return shares.mean(axis=0), low, high


def alpha_rank(rates: Floats) -> Floats:
    """Return the share of time [N] of each agent, from win rates [N, N] of the row against the column."""
    from open_spiel.python.egt import alpharank

    payoff = rates.copy()
    np.fill_diagonal(payoff, 0.5)
    with np.errstate(over="ignore"):  # of a mutant that cannot take over
        _, _, shares, _, _ = alpharank.compute([payoff], m=_POPULATION, alpha=_SELECTION)
    found: Floats = np.real(np.asarray(shares, np.float64)).clip(0, 1)
    return found / found.sum()
