"""Intervals and differences of variants' scores, over the sampling of the battles and of the training seeds.

A score depends on the variant, on its training seed and on the battles. The unit of battles is the pair, and all networks
play the same pairs. Intervals come from resampling two components:

- battles: random weights on the pairs, the same for all networks (Bayesian bootstrap, Rubin 1981), with a weak prior of a
  pair won and a pair lost, as in arena/ratings/rates.py;
- seeds: a normal distribution, because a bootstrap over two or three seeds would underestimate the variance. Its variance
  is the mean square between seeds minus the part that the battles cause, where the mean square is drawn from its chi-square
  distribution, so few seeds give wide intervals. All variants share it.

With a single seed the second component is unknown, and an interval is about these networks, not about the variants.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from arena.ratings.evidence import Floats, Ints
from arena.ratings.rates import PRIOR_PAIRS
from arena.ratings.team_sets import LEVEL, standing

RESAMPLES = 4000


@dataclass(frozen=True)
class EstimatedScore:
    """A score between 0 and 1 with its 95% interval. seed_luck: the standard deviation between seeds, None for one seed."""

    score: float
    low: float
    high: float
    seed_luck: float | None


@dataclass(frozen=True)
class VariantDifference:
    """Score of `better` minus that of `worse`, with its 95% interval. clear: significant after Benjamini-Hochberg."""

    better: int
    worse: int
    points: float
    low: float
    high: float
    clear: bool


@dataclass(frozen=True)
class Findings:
    """Scores of V variants, and differences of all pairs of them: significant ones first, then by size."""

    scores: list[EstimatedScore]
    differences: list[VariantDifference]


def findings(scores: Floats, blocks: Ints, *, resamples: int = RESAMPLES, seed: int = 0) -> Findings:
    """Compute scores and differences with their intervals.

    scores: [V, S, P], from 0 to 1, by variant, seed and pair. blocks: [P], index of the opponent (and team set) of each
    pair; all blocks have equal weight.
    """
    variants, seeds, _ = scores.shape
    rng = np.random.default_rng(seed)
    score = _over_blocks(scores.mean(axis=1), blocks)
    worlds = _battles(scores.mean(axis=1), blocks, seeds, resamples, rng)
    luck: float | None = None
    if seeds > 1:
        between, battles, freedom = _between_seeds(scores, blocks)
        luck = max(0.0, between - battles) ** 0.5
        drawn = np.maximum(0.0, between * freedom / rng.chisquare(freedom, resamples) - battles)
        worlds += rng.normal(size=(resamples, variants)) * np.sqrt(drawn / seeds)[:, None]
    ends = _ends(np.clip(worlds, 0, 1))
    estimates = [
        EstimatedScore(float(value), min(float(low), float(value)), max(float(high), float(value)), luck)
        for value, low, high in zip(score, *ends, strict=True)
    ]
    return Findings(estimates, _differences(score, worlds))


def _differences(score: Floats, worlds: Floats) -> list[VariantDifference]:
    estimates, chances = [], []
    for first, second in combinations(range(len(score)), 2):
        better, worse = (first, second) if score[first] >= score[second] else (second, first)
        gaps = np.clip(worlds[:, better] - worlds[:, worse], -1, 1)
        low, high = _ends(gaps)
        estimates.append((better, worse, float(score[better] - score[worse]), float(low), float(high)))
        chances.append(min(1.0, 2 * (np.sum(gaps <= 0) + 1) / (len(gaps) + 1)))
    differences = [
        VariantDifference(*difference, clear=bool(stands and difference[3] > 0))
        for difference, stands in zip(estimates, standing(np.array(chances)), strict=True)
    ]
    return sorted(differences, key=lambda first: (not first.clear, -first.points))


def _ends(worlds: Floats) -> Floats:
    return np.quantile(worlds, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0, method="weibull")


def _over_blocks(values: Floats, blocks: Ints) -> Floats:
    """Return the mean over blocks of the mean over a block's pairs: [..., P] -> [...]."""
    return np.mean([values[..., blocks == block].mean(axis=-1) for block in range(blocks.max() + 1)], axis=0)


def _battles(means: Floats, blocks: Ints, seeds: int, resamples: int, rng: np.random.Generator) -> Floats:
    """Return scores [resamples, V] with random weights on the pairs. means: [V, P], over the seeds."""
    scores = np.zeros((resamples, len(means)))
    count = blocks.max() + 1
    for block in range(count):
        mine = means[:, blocks == block]
        weights = rng.gamma(1.0, size=(resamples, mine.shape[1]))
        # The prior's pair relative to the pairs of `seeds` networks.
        lucky, unlucky = rng.gamma(PRIOR_PAIRS / 2, size=(2, resamples, len(mine))) / seeds
        scores += (weights @ mine.T + lucky) / (weights.sum(axis=1, keepdims=True) + lucky + unlucky) / count
    return scores


def _between_seeds(scores: Floats, blocks: Ints) -> tuple[float, float, int]:
    """Return the mean square between seeds within variants, the part that the battles cause, and degrees of freedom."""
    variants, seeds, _ = scores.shape
    between = float(np.var(_over_blocks(scores, blocks), axis=1, ddof=1).mean())
    battles, count = 0.0, blocks.max() + 1
    for block in range(count):
        mine = scores[:, :, blocks == block]
        pairs = mine.shape[2]
        rest = (
            mine
            - mine.mean(axis=2, keepdims=True)
            - mine.mean(axis=1, keepdims=True)
            + mine.mean(axis=(1, 2), keepdims=True)
        )
        variance = float((rest**2).sum()) / (variants * (seeds - 1) * max(1, pairs - 1))
        battles += variance / pairs / count**2
    return between, battles, variants * (seeds - 1)
