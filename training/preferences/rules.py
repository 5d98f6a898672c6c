"""Rules that make a pair of what was tried at a decision. They are about outcomes only, and play nothing.

Each attempt has an outcome: it FAILED to act (illegal, unparsable, too late), or it acted and NO_GAIN, or it acted and
GAINED: its score is above `baseline` by at least `min_gain`. Then

    nothing-worked      no attempt gained: there is nothing to learn here, the decision is dropped
    some-worked         the best that gained is chosen, the worst that did not is rejected (one that failed before any other)
    everything-worked   the best is chosen, a deliberately garbled version of it is rejected, or the worst that worked

Both for the plan of an answer and for its action: attempts with the same plan (or action) are taken together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import NormalDist
from typing import Literal

from training.preferences.attempts import TriedChoice

Part = Literal["plan", "action"]
NOTHING, SOME, EVERYTHING = "nothing-worked", "some-worked", "everything-worked"
#: Why a decision has no pair, besides NOTHING.
CLOSE, UNSURE, NOT_GARBLED = "margin too small", "interval includes 0", "everything worked, and --garble is none"
ONE_ANSWER = "everything worked, and there is one answer only"
NOT_OTHER = "the answer at the high temperature is not another one"


class AttemptOutcome(StrEnum):
    """What became of an attempt."""

    FAILED = "failed to act"
    NO_GAIN = "acted, no gain"
    GAINED = "acted and gained"


@dataclass(frozen=True)
class Bar:
    """What counts. baseline: the score that a gain is measured from; None: the mean score of what was tried there.

    min_gain: above the baseline. min_margin: between the chosen and the rejected score. sure: the 95% interval of the
    margin must be above 0, where both were played.
    """

    baseline: float | None = 0.5
    min_gain: float = 0.05
    min_margin: float = 0.2
    sure: bool = False


@dataclass(frozen=True)
class Judged:
    """A pair's texts (a plan, or an action in words) and scores; a score is None where nothing was played for it.

    low, high: 95% interval of the margin, where both were played several times (`margin_interval`).
    chosen_text, rejected_text: the whole
    answers, where a language model gave them.
    """

    part: Part
    rule: str
    chosen: str
    rejected: str
    chosen_score: float | None = None
    rejected_score: float | None = None
    rejected_outcome: str = ""
    margin: float | None = None
    low: float | None = None
    high: float | None = None
    chosen_text: str | None = None
    rejected_text: str | None = None


def outcome(attempt: TriedChoice, bar: Bar, baseline: float) -> tuple[AttemptOutcome, float]:
    """Return an attempt's outcome, and by how much it gained (0 if it did not). baseline: a number from 0 to 1."""
    if attempt.failure or attempt.score is None:
        return AttemptOutcome.FAILED, 0.0
    gain = attempt.score - baseline
    return (AttemptOutcome.GAINED, gain) if gain >= bar.min_gain else (AttemptOutcome.NO_GAIN, 0.0)


def baseline_of(attempts: Sequence[TriedChoice], bar: Bar) -> float:
    """Return the score that gains are measured from at this decision; the mean takes a failure to act as lost."""
    if bar.baseline is not None:
        return bar.baseline
    scores = [0.0 if one.failure else one.score or 0.0 for one in attempts if one.failure or one.score is not None]
    return sum(scores) / len(scores) if scores else 0.0


def judged(
    attempts: Sequence[TriedChoice],
    part: Part,
    bar: Bar,
    garbled: Callable[[str], str | None] | TriedChoice,
    *,
    real: bool = True,
    worse: bool = False,
) -> Judged | str | None:
    """Return the pair of a decision by the rules, or why it has none; None if the attempts have no such part.

    garbled: makes a garbled version of a text (None: there is none), or is a bad answer itself. real: False: the same pairs,
    but every rejected answer is a garbled one. worse: where everything worked, the worst of it is rejected.
    """
    tried = merged(attempts, part)
    if not tried:
        return None
    baseline = baseline_of(tried, bar)
    outcomes = [outcome(attempt, bar, baseline) for attempt in tried]
    worked = [attempt for attempt, (kind, _) in zip(tried, outcomes, strict=True) if kind is AttemptOutcome.GAINED]
    others = [
        (attempt, kind) for attempt, (kind, _) in zip(tried, outcomes, strict=True) if kind is not AttemptOutcome.GAINED
    ]
    if not worked:
        return NOTHING
    best = max(worked, key=_score)
    if not others and worse:
        if len(worked) == 1:
            return ONE_ANSWER
        least = min((attempt for attempt in worked if attempt is not best), key=_score)
        return _clear(_pair(part, EVERYTHING, best, least, str(AttemptOutcome.GAINED), tried), bar)
    if not others:
        return _against_garbled(part, EVERYTHING, best, tried, garbled)
    failed = [attempt for attempt, kind in others if kind is AttemptOutcome.FAILED]
    worst, kind = (
        (failed[0], AttemptOutcome.FAILED)
        if failed
        else (min((attempt for attempt, _ in others), key=_score), AttemptOutcome.NO_GAIN)
    )
    pair = _clear(_pair(part, SOME, best, worst, str(kind), tried), bar)
    if isinstance(pair, str) or real:
        return pair
    return _against_garbled(part, SOME, best, tried, garbled)


def merged(attempts: Sequence[TriedChoice], part: Part) -> list[TriedChoice]:
    """Return attempts with the same plan (or action) as one, in the order in which they were first tried.

    One that acted hides a failure with the same text. Attempts without a text of this part are left out. Results that they
    share are counted once.
    """
    by_text: dict[str, TriedChoice] = {}
    counted: set[tuple[str, int]] = set()
    for attempt in attempts:
        text = _text(attempt, part)
        if not text:
            continue
        if attempt.shared is not None:
            if (text, attempt.shared) in counted:
                continue
            counted.add((text, attempt.shared))
        before = by_text.get(text)
        if before is None or before.failure:
            by_text[text] = attempt
        elif not attempt.failure:
            values = [each for each in (before.value, attempt.value) if each is not None]
            value = sum(values) / len(values) if values else None
            by_text[text] = TriedChoice(
                before.action, (*before.results, *attempt.results), before.plan, value, text=before.text
            )
    return list(by_text.values())


def margin_interval(first: Sequence[float], second: Sequence[float], tried: int = 2) -> tuple[float, float]:
    """Return the 95% interval of the difference of two mean results, each from 0 to 1 (Newcombe 1998, method 10).

    It combines the Wilson intervals of both, so that eight won of eight against none of eight is no certainty. Ties count as
    halves, which makes it a little too wide. tried: from so many, best and worst were picked by these results. Of four
    that are equally good they differ, too, so the interval holds for all differences among them together (Bonferroni).
    """
    z = NormalDist().inv_cdf(1 - 0.025 / max(1, tried * (tried - 1) // 2))
    (a, low_a, high_a), (b, low_b, high_b) = _wilson(first, z), _wilson(second, z)
    below = math.hypot(a - low_a, high_b - b)
    above = math.hypot(high_a - a, b - low_b)
    return max(-1.0, a - b - below), min(1.0, a - b + above)


def _wilson(results: Sequence[float], z: float) -> tuple[float, float, float]:
    n, p = len(results), sum(results) / len(results)
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n * n)) / (1 + z**2 / n)
    return p, middle - half, middle + half


def _against_garbled(
    part: Part,
    rule: str,
    best: TriedChoice,
    tried: Sequence[TriedChoice],
    garbled: Callable[[str], str | None] | TriedChoice,
) -> Judged | str:
    if isinstance(garbled, TriedChoice):
        text: str | None = _text(garbled, part)
        if not text or text == _text(best, part):
            return NOT_OTHER
    else:
        text = garbled(_text(best, part))
    if text is None:
        return NOT_GARBLED
    known = next((one for one in tried if _text(one, part) == text and not one.failure), None)
    if isinstance(garbled, TriedChoice):
        known = replace(garbled, results=known.results) if known else garbled
    return _pair(part, rule, best, known or TriedChoice(text if part == "action" else "", plan=text), "garbled", tried)


def _clear(pair: Judged, bar: Bar) -> Judged | str:
    """The pair, or why its margin is none."""
    if pair.margin is not None and pair.margin < bar.min_margin:
        return CLOSE
    if bar.sure and pair.low is not None and pair.low <= 0:
        return UNSURE
    return pair


def _pair(
    part: Part, rule: str, best: TriedChoice, worse: TriedChoice, kind: str, tried: Sequence[TriedChoice]
) -> Judged:
    margin = low = high = None
    score = None if worse.failure else worse.score
    if best.score is not None and score is not None:
        margin = best.score - score
        if best.results and worse.results:
            played = sum(1 for attempt in tried if attempt.results)
            low, high = margin_interval(best.results, worse.results, max(2, played))
    return Judged(
        part, rule, _text(best, part), _text(worse, part), best.score, score, kind if not worse.failure else
        f"{kind}: {worse.failure}", margin, low, high, best.text, worse.text,
    )  # fmt: skip


def _text(attempt: TriedChoice, part: Part) -> str:
    return attempt.plan if part == "plan" else attempt.action


def _score(attempt: TriedChoice) -> float:
    return attempt.score or 0.0
