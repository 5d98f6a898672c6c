"""Pairs of battles between two agents, counted by their points: what a match says, and what it makes likely.

A pair is two battles on the same two teams with the agents' seats exchanged. It brings the first agent 0, 0.5, 1, 1.5 or 2
points; the five counts, in this order, are the pentanomial. The two battles of a pair are not independent (the teams and
the seed are the same), so spreads are taken between pairs, never between battles.

Sources: M. Van den Bergh, "Normalized Elo" and "Comments on normalized Elo" (cantate.be/Fishtest) for nElo and the likeliest
probabilities; fastchess for which numbers people expect and in which order. docs/sprt.md says how to read them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from arena.ratings.evidence import Floats, Ints

#: Share of the points that a pair with 0, 0.5, 1, 1.5, 2 points has brought.
PAIR_SCORES: Floats = np.arange(5) / 4
#: nElo of a battle whose mean lies one standard deviation above a half.
NELO = 800 / math.log(10)
Z95 = 1.959964


def pair_counts(points: Iterable[float]) -> Ints:
    """The pentanomial [5] of pairs by their points for the first agent (0, 0.5, 1, 1.5 or 2 each).

    Pairs of which a battle was aborted are no pairs and are to be left out. Raises ValueError for other points.
    """
    halves = 2 * np.array(list(points), dtype=float)
    if not np.isin(halves, np.arange(5)).all():
        raise ValueError(f"points of a pair are 0, 0.5, 1, 1.5 or 2, not {halves / 2}")
    return np.bincount(halves.astype(np.int64), minlength=5)


def elo_score(elo: float) -> float:
    """Expected share of the points with that lead."""
    return 1 / (1 + 10 ** (-elo / 400))


def score_elo(score: float) -> float | None:
    """The lead that is expected to bring that share of the points; None where no lead is: nothing, all, or beyond."""
    return 400 * math.log10(score / (1 - score)) if 0 < score < 1 else None


@dataclass(frozen=True)
class Lead:
    """How much stronger, with the ends of the 95% interval; None where there is no such number or no bound on that side."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.low is not None and self.high is not None:
            return f"{self.value or 0:.2f} ± {(self.high - self.low) / 2:.2f}"
        bound = "n/a" if self.low is self.high else f"< {self.high:.2f}" if self.low is None else f"> {self.low:.2f}"
        return bound if self.value is None else f"{self.value:.2f} ({bound})"


@dataclass(frozen=True)
class MatchSummary:
    """A match in numbers, all finite; None where there is no such number.

    counts: the pentanomial. points: of the first agent. score: its share of the points; interval: the score's, 95%. los:
    probability that it is the stronger one; los_is_bound: it is nearer to 0 or 1 than that. draw_ratio: share of the pairs
    that were split 1-1. pair_ratio: pairs won to pairs lost.
    """

    counts: tuple[int, ...]
    points: float
    score: float | None = None
    interval: tuple[float, float] = (0.0, 1.0)
    elo: Lead = Lead()
    nelo: Lead = Lead()
    los: float | None = None
    los_is_bound: bool = False
    draw_ratio: float | None = None
    pair_ratio: float | None = None

    @property
    def pairs(self) -> int:
        return sum(self.counts)


def match_summary(counts: ArrayLike) -> MatchSummary:
    """Of a pentanomial [5].

    Intervals are normal ones from the spread between pairs. Where all pairs ended alike there is no spread; the interval of
    the score is then the exact one for the share q of pairs that end so (q >= 0.025^(1/pairs)), whatever the other pairs
    would bring, and the probability to be stronger is bounded in the same way.
    """
    table = np.asarray(counts, dtype=np.int64)
    listed, pairs, points = tuple(table.tolist()), int(table.sum()), float(2 * table @ PAIR_SCORES)
    if pairs == 0:
        return MatchSummary(listed, points)
    score = points / 2 / pairs
    nelo = Lead()
    if np.count_nonzero(table) > 1:
        deviation = math.sqrt(table @ (PAIR_SCORES - score) ** 2 / pairs)
        error = deviation / math.sqrt(pairs)
        low, high = score - Z95 * error, score + Z95 * error
        lead, half = (score - 0.5) / deviation / math.sqrt(2) * NELO, Z95 / math.sqrt(2 * pairs) * NELO
        nelo = Lead(lead, lead - half, lead + half)
        los, bound = float(ndtr((score - 0.5) / error)), False
    else:
        alike = 0.025 ** (1 / pairs)
        low, high = score * alike, 1 - (1 - score) * alike
        by_luck = (0.5 / max(score, 1 - score)) ** pairs
        los, bound = (0.5, False) if score == 0.5 else (1 - by_luck if score > 0.5 else by_luck, True)
    lost, won = int(table[:2].sum()), int(table[3:].sum())
    return MatchSummary(
        listed,
        points,
        score,
        (max(low, 0.0), min(high, 1.0)),
        elo=Lead(score_elo(score), score_elo(low), score_elo(high)),
        nelo=nelo,
        los=los,
        los_is_bound=bound,
        draw_ratio=int(table[2]) / pairs,
        pair_ratio=won / lost if lost else None,
    )


def likeliest_with_mean(shares: Floats, scores: Floats, mean: float) -> Floats:
    """The probabilities [K, M] with this mean under which the shares [K, M] are most likely."""
    away = np.repeat((scores - mean)[:, None], shares.shape[1], axis=1)
    return shares / (1 + _multiplier(shares, away) * away)


def likeliest_with_lead(shares: Floats, scores: Floats, lead: float) -> Floats:
    """The same with mean = 1/2 + lead standard deviations.

    That is no linear condition: it is replaced by its tangent at the last estimate, from equal probabilities on, until the
    estimate stays. Converges for leads of up to 200 nElo (tests compare with a general minimiser).
    """
    estimate = np.full_like(shares, 1 / len(scores))
    moving = np.arange(shares.shape[1])
    score = scores[:, None]
    for _ in range(60):
        last, wanted = estimate[:, moving], shares[:, moving]
        mean = (last * score).sum(axis=0)
        square = (score - mean) ** 2
        deviation = np.sqrt((last * square).sum(axis=0))
        away = score - 0.5 - 0.5 * lead * (deviation + square / deviation)
        better = wanted / (1 + _multiplier(wanted, away) * away)
        estimate[:, moving] = better
        moving = moving[np.abs(better - last).max(axis=0) > 1e-4]
        if not len(moving):
            break
    return estimate


def _multiplier(shares: Floats, away: Floats) -> Floats:
    """The x [M] at which sum(shares * away / (1 + x * away)) = 0, between the poles on both sides of 0.

    Newton's method on the sum times the distances to both poles, which is smooth where the sum is not. A step that would
    leave the bracket goes nearly to its end (roots lie close to a pole where an outcome was not seen); one that would go
    away from the root halves it.
    """
    left_pole, right_pole = -1 / away.max(axis=0), -1 / away.min(axis=0)
    low, high, x = left_pole, right_pole, np.zeros_like(left_pole)
    for _ in range(60):
        part = away / (1 + x * away)
        weighed = shares * part
        total, slope = weighed.sum(axis=0), -(weighed * part).sum(axis=0)
        left, right = x - left_pole, right_pole - x
        value, steepness = total * left * right, slope * left * right + total * (right - left)
        low, high = np.where(value > 0, x, low), np.where(value < 0, x, high)
        ahead = np.where(value > 0, high, low) - x
        share = np.where(steepness < 0, np.minimum(-value / steepness / ahead, 0.97), 0.5)
        x = x + share * ahead
        moved = (np.abs(share * ahead) / np.minimum(x - left_pole, right_pole - x)).max(initial=0.0)
        if moved < 1e-4:  # the step just made squares it
            break
    return x
