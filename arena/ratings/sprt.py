"""A sequential probability ratio test (SPRT) on pairs of battles: is one agent stronger than another?

The test weighs two statements about the first agent's lead, "elo0 or less" (H0) and "elo1 or more" (H1), by the generalised
log-likelihood ratio (LLR): how much likelier the pentanomial is under the most likely five probabilities that have exactly
elo1 than under those that have exactly elo0. It is computed exactly, not by the usual normal approximation, which is badly
wrong after a few pairs: so no least number of pairs is needed (scripts/simulate/sprt.py measures both).

Sources: A. Wald (1945) for the bounds; M. Van den Bergh, "Comments on normalized Elo" and "Comparing the approximations for
the generalized log likelihood ratio of a multinomial distribution" (cantate.be/Fishtest). The numbers agree with
fastchess's; docs/sprt.md says how to read them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import model_validator

from arena.ratings.evidence import Floats, Ints
from arena.ratings.pentanomial import (
    NELO,
    PAIR_SCORES,
    elo_score,
    likeliest_with_lead,
    likeliest_with_mean,
    match_summary,
    pair_counts,
)
from arena.validation import Settings
from teamsets.errors import BadInput

Decision = Literal["H0", "H1"]
#: Replaces a count of zero, so that no outcome is treated as impossible.
ZERO_COUNT = 1e-3
#: Beyond this many (n)Elo either way the likelihood's equations need not have a solution that can be found.
LARGEST_ELO = 200.0


class SprtSettings(Settings):
    """What is tested, with which errors. The defaults are fastchess's model and the usual 5% errors.

    elo0, elo1: the first agent's lead under H0 and H1. alpha: how often H1 may be accepted where H0 is true; beta: how often
    H0 where H1 is true. model: "normalized" takes elo0 and elo1 as nElo (a lead in standard deviations of a pair, so that
    test lengths do not depend on how many battles are ties or decided by the teams), "logistic" as ordinary Elo.
    """

    elo0: float = 0.0
    elo1: float = 30.0
    alpha: float = 0.05
    beta: float = 0.05
    model: str = "normalized"

    @model_validator(mode="after")
    def _makes_a_test(self) -> SprtSettings:
        if self.model not in ("normalized", "logistic"):
            raise BadInput(f"--sprt model={self.model}: must be normalized or logistic")
        for key in ("elo0", "elo1"):
            if not abs(getattr(self, key)) <= LARGEST_ELO:
                raise BadInput(
                    f"--sprt {key}={getattr(self, key):g}: must be a number from -{LARGEST_ELO:g} to {LARGEST_ELO:g}"
                )
        if not self.elo0 < self.elo1:
            raise BadInput(f"--sprt elo0={self.elo0:g} elo1={self.elo1:g}: elo1 must be greater than elo0")
        for key in ("alpha", "beta"):
            if not 0 < getattr(self, key) < 0.5:
                raise BadInput(f"--sprt {key}={getattr(self, key):g}: must be a number between 0 and 0.5, such as 0.05")
        return self

    @property
    def bounds(self) -> tuple[float, float]:
        """H0 is accepted at the first or below, H1 at the second or above; natural logarithms."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    @property
    def unit(self) -> str:
        return "nElo" if self.model == "normalized" else "Elo"


def parse_sprt(arguments: Sequence[str]) -> SprtSettings:
    """From arguments such as "elo0=0", "elo1=30", "alpha=0.05", "model=normalized"; what is missing has its default.

    Raises BadInput for an unknown or repeated key, a value that is no number, and settings that make no test.
    """
    keys = list(SprtSettings.model_fields)
    given: dict[str, str] = {}
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals or key not in keys:
            raise BadInput(f"--sprt {argument}: must be KEY=VALUE; the keys are {', '.join(keys)}")
        if key in given:
            raise BadInput(f"--sprt {argument}: {key} is given twice")
        given[key] = value
    values: dict[str, Any] = {}
    for key, value in given.items():
        try:
            values[key] = value if key == "model" else float(value)
        except ValueError:
            raise BadInput(f"--sprt {key}={value}: {value!r} is not a number") from None
    return SprtSettings(**values)


def llr(counts: ArrayLike, settings: SprtSettings, scores: Floats = PAIR_SCORES) -> Floats:
    """The generalised log-likelihood ratio of H1 to H0, [...] of counts [..., 5]; above 0 speaks for H1. 0 without pairs.

    scores: the outcomes that are counted, as shares of the points; other than the five of pairs only to compare tests.
    """
    table = np.asarray(counts, dtype=float)
    rows = table.reshape(-1, len(scores)).T  # [K, M]: sums over a short first axis are the quick ones
    seen = np.where(rows > 0, rows, ZERO_COUNT)
    shares = seen / seen.sum(axis=0)
    if settings.model == "logistic":
        under_h0, under_h1 = (
            likeliest_with_mean(shares, scores, elo_score(elo)) for elo in (settings.elo0, settings.elo1)
        )
    else:
        battles = 2 if scores is PAIR_SCORES else 1
        leads = (math.sqrt(battles) * elo / NELO for elo in (settings.elo0, settings.elo1))
        under_h0, under_h1 = (likeliest_with_lead(shares, scores, lead) for lead in leads)
    ratio = (seen * np.log(under_h1 / under_h0)).sum(axis=0)
    return np.asarray(np.where(rows.any(axis=0), ratio, 0.0).reshape(table.shape[:-1]))


def decide(value: float, settings: SprtSettings) -> Decision | None:
    """Which statement an LLR accepts, if any yet."""
    lower, upper = settings.bounds
    return "H1" if value >= upper else "H0" if value <= lower else None


class Sprt:
    """The running test. Give it the pairs in the order of the schedule, not as they end: quick battles may differ from long
    ones. After the decision the counts stay as they are, whatever is added (pairs that were still in the air)."""

    def __init__(self, settings: SprtSettings) -> None:
        self.settings = settings
        self.counts: Ints = np.zeros(5, dtype=np.int64)
        self.llr = 0.0
        self.decision: Decision | None = None

    def add(self, points: float) -> Decision | None:
        """One more pair by the first agent's points; "H0" or "H1" once it is decided. ValueError: no points of a pair."""
        new = pair_counts([points])
        if self.decision is None:
            self.counts = self.counts + new
            self.llr = float(llr(self.counts, self.settings))
            self.decision = decide(self.llr, self.settings)
        return self.decision


def report_lines(
    first: str, second: str, counts: ArrayLike, settings: SprtSettings | None, units: str = "battles"
) -> list[str]:
    """The result of a match so far: fastchess's numbers under fastchess's names, and the decision as a sentence.

    settings: None for a match without a test. units: what a pair has two of. Always finite numbers, or words where there are
    none.
    """
    summary = match_summary(counts)
    if summary.score is None or summary.los is None or summary.draw_ratio is None:
        lines = [f"Results of {first} against {second}: no finished pairs"]
    else:
        los = f"{100 * summary.los:.2f}"
        if summary.los_is_bound:
            los = f"{'>' if summary.score > 0.5 else '<'} {100 * min(max(summary.los, 1e-4), 1 - 1e-4):.2f}"
        pair_ratio = "n/a (no pair lost)" if summary.pair_ratio is None else f"{summary.pair_ratio:.2f}"
        lines = [
            f"Results of {first} against {second}: {summary.pairs} {'pair' if summary.pairs == 1 else 'pairs'} "
            f"({2 * summary.pairs} {units}), {summary.points:g} points ({100 * summary.score:.2f} %)",
            f"Elo: {summary.elo}, nElo: {summary.nelo} (95 % intervals)",
            f"LOS: {los} %, DrawRatio: {100 * summary.draw_ratio:.2f} %, PairsRatio: {pair_ratio}",
            f"Ptnml(0-2): {list(summary.counts)}, pairs in which {first} scored 0, 0.5, 1, 1.5 and 2",
        ]
    return lines if settings is None else [*lines, *_test_lines(first, second, counts, settings)]


def _test_lines(first: str, second: str, counts: ArrayLike, settings: SprtSettings) -> list[str]:
    value = float(llr(counts, settings))
    lower, upper = settings.bounds
    way = value / upper if value >= 0 else -value / lower
    return [
        f"LLR: {value:.2f} ({100 * way:.1f} %) ({lower:.2f}, {upper:.2f}) "
        f"[{settings.elo0:.2f}, {settings.elo1:.2f}] {settings.unit}",
        verdict(first, second, decide(value, settings), settings),
    ]


def verdict(first: str, second: str, decision: Decision | None, settings: SprtSettings) -> str:
    """The decision of a test as a sentence."""
    sentences = {
        "H1": f"H1 accepted: {first} leads {second} by more than {settings.elo0:g} {settings.unit} "
        f"(type I error rate at most {100 * settings.alpha:g} %)",
        "H0": f"H0 accepted: {first} does not lead {second} by {settings.elo1:g} {settings.unit} "
        f"(type II error rate at most {100 * settings.beta:g} %)",
        None: "Inconclusive: the LLR has reached neither bound",
    }
    return sentences[decision]
