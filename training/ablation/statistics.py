"""What held-out battles say about variants, with the luck of the battles and the luck of the training seeds in the interval.

A score depends on three things: the variant, the seed that its network was trained with, and the battles. The unit of
battles is the pair, and all networks play the same pairs. An interval is made of random worlds:

- the pairs with random weights, the same for every network (Rubin's bootstrap, 1981), and beside them, as in
  arena/ratings/rates.py, a little of a pair won and one lost;
- the seeds' luck. Two or three seeds drawn again and again from themselves would hide most of it, so it is drawn from a
  normal distribution instead. Its variance is the mean square between seeds less what the battles alone bring about there,
  and that mean square is drawn from its own chi-square distribution: few seeds, wide intervals. All variants share it.

A single seed tells nothing of the second: then an interval is about these networks, not about the variants.
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
class Estimate:
    """A score between 0 and 1 with its 95% interval. seed_luck: the standard deviation between seeds, None for one seed."""

    score: float
    low: float
    high: float
    seed_luck: float | None


@dataclass(frozen=True)
class Difference:
    """How much `better` scored above `worse`, with its 95% interval. clear: it stands among all that were looked at."""

    better: int
    worse: int
    points: float
    low: float
    high: float
    clear: bool


@dataclass(frozen=True)
class Findings:
    """Of V variants: their scores, and the differences of every two, the largest first and the clear before all."""

    scores: list[Estimate]
    differences: list[Difference]


def findings(scores: Floats, blocks: Ints, *, resamples: int = RESAMPLES, seed: int = 0) -> Findings:
    """What pairs' scores say about variants.

    scores: [V, S, P], a pair's share of its points, for each variant, seed and pair. blocks: [P], from 0 on: the opponent
    (and team set) of each pair; every block counts the same.
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
        Estimate(float(value), min(float(low), float(value)), max(float(high), float(value)), luck)
        for value, low, high in zip(score, *ends, strict=True)
    ]
    return Findings(estimates, _differences(score, worlds))


def _differences(score: Floats, worlds: Floats) -> list[Difference]:
    found, chances = [], []
    for one, other in combinations(range(len(score)), 2):
        better, worse = (one, other) if score[one] >= score[other] else (other, one)
        gaps = np.clip(worlds[:, better] - worlds[:, worse], -1, 1)
        low, high = _ends(gaps)
        found.append((better, worse, float(score[better] - score[worse]), float(low), float(high)))
        chances.append(min(1.0, 2 * (np.sum(gaps <= 0) + 1) / (len(gaps) + 1)))
    judged = [
        Difference(*difference, clear=bool(stands and difference[3] > 0))
        for difference, stands in zip(found, standing(np.array(chances)), strict=True)
    ]
    return sorted(judged, key=lambda one: (not one.clear, -one.points))


def _ends(worlds: Floats) -> Floats:
    return np.quantile(worlds, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0, method="weibull")


def _over_blocks(values: Floats, blocks: Ints) -> Floats:
    """The mean over blocks of the mean over a block's pairs. [..., P] -> [...]"""
    return np.mean([values[..., blocks == block].mean(axis=-1) for block in range(blocks.max() + 1)], axis=0)


def _battles(means: Floats, blocks: Ints, seeds: int, resamples: int, rng: np.random.Generator) -> Floats:
    """[resamples, V] scores with random weights on the pairs. means: [V, P], over the seeds."""
    found = np.zeros((resamples, len(means)))
    count = blocks.max() + 1
    for block in range(count):
        mine = means[:, blocks == block]
        weights = rng.gamma(1.0, size=(resamples, mine.shape[1]))
        # A pair of the prior beside `seeds` networks' pairs.
        lucky, unlucky = rng.gamma(PRIOR_PAIRS / 2, size=(2, resamples, len(mine))) / seeds
        found += (weights @ mine.T + lucky) / (weights.sum(axis=1, keepdims=True) + lucky + unlucky) / count
    return found


def _between_seeds(scores: Floats, blocks: Ints) -> tuple[float, float, int]:
    """The mean square between seeds within variants, what of it the battles bring about, and its degrees of freedom."""
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
