"""Does the sequential test keep its word? Simulated matches against the promised error rates.

Plays thousands of matches between agents whose true lead is known: at H0 (accepting H1 is a false alarm: at most alpha), at
H1 (accepting H0 is a miss: at most beta) and half-way (the longest matches). Prints error rates with 95% binomial (Wilson)
intervals and the pairs played, for three kinds of pairs and several settings; then the same kinds of matches judged in two
other ways: by battles as if they were independent (trinomial), and by the normal approximation of the likelihood ratio.

    python scripts/simulate/sprt.py [--matches 2000] [--seed 0]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from arena.ratings.evidence import Floats, Ints
from arena.ratings.pentanomial import NELO, PAIR_SCORES, elo_score, score_elo
from arena.ratings.sprt import ZERO_COUNT, SprtSettings, llr

#: From pentanomials [..., 5] and settings to log-likelihood ratios [...].
Judge = Callable[[Ints, SprtSettings], Floats]

#: What equally strong agents' pairs bring: shares of 0, 0.5, 1, 1.5 and 2 points.
KINDS: dict[str, tuple[float, ...]] = {
    "independent": (0.2401, 0.0196, 0.4806, 0.0196, 0.2401),  # two battles that do not know of each other, 2% ties
    "teams decide": (0.1200, 0.0100, 0.7400, 0.0100, 0.1200),  # whoever holds the better team wins: mostly one each
    "luck repeats": (0.3600, 0.0100, 0.2600, 0.0100, 0.3600),  # the same seed favours the same agent twice
}
#: Battles by what a pair brought: losses, ties, wins of each of the five outcomes.
BATTLES = np.array([[2, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 2]])
BATTLE_SCORES = np.array([0.0, 0.5, 1.0])


@dataclass(frozen=True)
class Outcome:
    """Of simulated matches: accepted [M] is 1 for H1, 0 for H0; pairs [M] how many were played until then."""

    accepted: Ints
    pairs: Ints


def true_lead(shares: Floats, model: str) -> float:
    """The nElo or Elo of agents whose pairs have these shares [5]."""
    mean = float(shares @ PAIR_SCORES)
    if model == "logistic":
        return score_elo(mean) or 0.0
    deviation = math.sqrt(shares @ (PAIR_SCORES - mean) ** 2)
    return (mean - 0.5) / deviation / math.sqrt(2) * NELO


def with_lead(even: tuple[float, ...], elo: float, model: str) -> Floats:
    """Shares [5] of the same kind for agents with that true lead: each outcome weighed by exp(h * points)."""

    def tilted(h: float) -> Floats:
        weighed = np.array(even) * np.exp(h * PAIR_SCORES)
        return np.asarray(weighed / weighed.sum())

    return tilted(brentq(lambda h: true_lead(tilted(h), model) - elo, -30, 30, xtol=1e-12))


def by_battles(counts: Ints, settings: SprtSettings) -> Floats:
    """The judge who takes the two battles of a pair as independent: three outcomes instead of five."""
    return llr(counts @ BATTLES, settings, BATTLE_SCORES)


def by_normal_approximation(counts: Ints, settings: SprtSettings) -> Floats:
    """The judge who uses the well-known formula N (s1 - s0) (2 mean - s0 - s1) / (2 variance), logistic model only."""
    seen = np.where(counts > 0, counts, ZERO_COUNT)
    pairs = seen.sum(axis=-1)
    mean = seen @ PAIR_SCORES / pairs
    variance = seen @ PAIR_SCORES**2 / pairs - mean**2
    zero, one = elo_score(settings.elo0), elo_score(settings.elo1)
    return np.asarray(pairs * (one - zero) * (2 * mean - zero - one) / (2 * variance))


def play(shares: Floats, settings: SprtSettings, matches: int, rng: np.random.Generator, judge: Judge = llr) -> Outcome:
    """So many matches of pairs with these shares [5], each to its decision; the judge is asked after every pair."""
    accepted, pairs = np.full(matches, -1), np.zeros(matches, dtype=np.int64)
    counts = np.zeros((matches, 5), dtype=np.int64)
    lower, upper = settings.bounds
    running, block = np.arange(matches), 16
    while len(running):
        drawn = rng.choice(5, p=shares, size=(len(running), block))
        course = counts[running, None, :] + np.cumsum(np.eye(5, dtype=np.int64)[drawn], axis=1)  # [running, block, 5]
        value = judge(course, settings)
        over = (value >= upper) | (value <= lower)
        ends, at = over.any(axis=1), over.argmax(axis=1)
        done = running[ends]
        accepted[done] = value[ends, at[ends]] >= upper
        pairs[done] += at[ends] + 1
        counts[running] = course[:, -1]
        running = running[~ends]
        pairs[running] += block
    return Outcome(accepted, pairs)


def wilson(hits: int, tries: int) -> tuple[float, float]:
    """95% interval of a share."""
    z, p = 1.96, hits / tries
    middle, half = p + z * z / 2 / tries, z * math.sqrt(p * (1 - p) / tries + z * z / 4 / tries**2)
    return (middle - half) / (1 + z * z / tries), (middle + half) / (1 + z * z / tries)


def fixed_size(settings: SprtSettings) -> int:
    """Pairs of a one-sided z test of fixed size with the same errors at the same two nElo."""
    leads = (settings.elo1 - settings.elo0) * math.sqrt(2) / NELO
    return math.ceil(((norm.ppf(1 - settings.alpha) + norm.ppf(1 - settings.beta)) / leads) ** 2)


def line(kind: str, settings: SprtSettings, matches: int, rng: np.random.Generator, judge: Judge = llr) -> str:
    """One row of the table: errors at H0 and H1, pairs at H0, half-way and H1."""
    cells, lengths = [], []
    for elo, wrong in ((settings.elo0, 1), ((settings.elo0 + settings.elo1) / 2, None), (settings.elo1, 0)):
        outcome = play(with_lead(KINDS[kind], elo, settings.model), settings, matches, rng, judge)
        if wrong is not None:
            hits = int((outcome.accepted == wrong).sum())
            low, high = wilson(hits, matches)
            cells.append(f"{100 * hits / matches:5.2f} [{100 * low:5.2f}, {100 * high:5.2f}]")
        lengths.append(f"{outcome.pairs.mean():6.0f} {np.quantile(outcome.pairs, 0.95):6.0f}")
    return f"{kind:14} {cells[0]:22} {cells[1]:22} {'  '.join(lengths)}"


HEAD = f"{'pairs':14} {'false alarms, %':22} {'misses, %':22} pairs at H0: mean, 95%; half-way; H1"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matches", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    for settings in (
        SprtSettings(elo0=0, elo1=30),
        SprtSettings(elo0=0, elo1=60, alpha=0.01, beta=0.01),
        SprtSettings(elo0=0, elo1=100),
        SprtSettings(elo0=0, elo1=200),
        SprtSettings(elo0=100, elo1=200),
        SprtSettings(elo0=-200, elo1=200),
    ):
        print(
            f"\n[{settings.elo0:g}, {settings.elo1:g}] nElo, alpha {settings.alpha:g}, beta {settings.beta:g}; "
            f"a test of fixed size with these errors: {fixed_size(settings)} pairs\n{HEAD}"
        )
        for kind in KINDS:
            print(line(kind, settings, given.matches, rng), flush=True)
    judges: dict[str, Judge] = {
        "by pairs": llr,
        "by battles as if independent": by_battles,
        "by pairs, normal approximation": by_normal_approximation,
    }
    for name, judge in judges.items():
        print(f"\n[0, 60] Elo, alpha 0.05, beta 0.05, {name}\n{HEAD}")
        for kind in KINDS:
            print(line(kind, SprtSettings(elo0=0, elo1=60, model="logistic"), given.matches, rng, judge), flush=True)


if __name__ == "__main__":
    main()
