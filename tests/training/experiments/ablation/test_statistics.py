"""The intervals hold what they promise, with the luck of seeds and of battles known because it is simulated."""

from __future__ import annotations

import numpy as np
import pytest

from arena.ratings.evidence import Floats
from training.experiments.ablation.results import sentences
from training.experiments.ablation.statistics import Findings, findings


def played(
    truth: list[float], seeds: int, pairs: int, luck: float, rng: np.random.Generator, opponents: int = 2
) -> tuple[Floats, Floats]:
    """Pairs' scores of variants of these true scores. luck: the standard deviation that a seed brings about.

    A pair's teams make it easier or harder for every checkpoint alike.
    """
    networks = np.array(truth)[:, None] + rng.normal(0, luck, (len(truth), seeds))
    chance = np.clip(networks[:, :, None] + rng.uniform(-0.15, 0.15, opponents * pairs), 0, 1)
    scores = ((rng.random(chance.shape) < chance) * 1.0 + (rng.random(chance.shape) < chance)) / 2
    return scores, np.repeat(np.arange(opponents), pairs)


def simulate(truth: list[float], seeds: int, pairs: int, luck: float, times: int) -> tuple[float, float, float]:
    """Shares of ablations: intervals of differences and of scores that hold the truth; any difference called clear."""
    rng = np.random.default_rng(17)
    differences, scores, clear = [], [], []
    for number in range(times):
        found = findings(*played(truth, seeds, pairs, luck, rng), resamples=400, seed=number)
        differences += [one.low <= truth[one.better] - truth[one.worse] <= one.high for one in found.differences]
        scores += [one.low <= value <= one.high for one, value in zip(found.scores, truth, strict=True)]
        clear.append(any(one.clear for one in found.differences))
    return float(np.mean(differences)), float(np.mean(scores)), float(np.mean(clear))


@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_intervals_hold_the_luck_of_seeds_and_battles(seeds: int) -> None:
    differences, scores, _ = simulate([0.5, 0.6], seeds, pairs=30, luck=0.06, times=250)
    assert 0.92 < differences < 0.99 and 0.92 < scores < 0.99


def test_without_luck_of_seeds_they_are_careful_but_hold() -> None:
    differences, scores, clear = simulate([0.5, 0.5], seeds=3, pairs=30, luck=0.0, times=200)
    assert differences > 0.95 and scores > 0.95 and clear < 0.05


def test_with_one_seed_they_hold_the_luck_of_battles_and_no_more() -> None:
    """The checks above can fail: an interval that leaves out the seeds' luck does not hold the truth."""
    assert 0.91 < simulate([0.5, 0.6], seeds=1, pairs=30, luck=0.0, times=250)[0] < 0.985
    assert simulate([0.5, 0.6], seeds=1, pairs=30, luck=0.06, times=250)[0] < 0.85


def test_of_many_equal_variants_none_is_called_better() -> None:
    *_, clear = simulate([0.5] * 5, seeds=3, pairs=20, luck=0.05, times=150)
    assert clear < 0.08


def test_a_large_difference_is_found() -> None:
    *_, clear = simulate([0.35, 0.65], seeds=3, pairs=50, luck=0.03, times=60)
    assert clear > 0.9


def test_opponents_count_alike_however_many_pairs_each_has() -> None:
    scores = np.zeros((2, 2, 40))
    scores[0, :, :10] = 1.0
    blocks = np.repeat([0, 1], [10, 30])
    assert findings(scores, blocks, resamples=50).scores[0].score == 0.5


def found_of(truth: list[float], seeds: int, pairs: int) -> Findings:
    return findings(*played(truth, seeds, pairs, 0.01, np.random.default_rng(5)))


def test_the_sentence_for_a_difference_has_its_interval() -> None:
    found = found_of([0.3, 0.6], seeds=3, pairs=100)
    (one,) = found.differences
    assert sentences(["a", "b"], found, 3) == [
        f"`b` is better than `a` by {100 * one.points:.1f} percentage points [{100 * one.low:.1f}, {100 * one.high:.1f}]."
    ]
    assert 0 < one.low < one.points < one.high


def test_the_sentence_for_none_says_what_the_intervals_still_contain() -> None:
    found = found_of([0.5, 0.5], seeds=3, pairs=10)
    (one,) = found.differences
    reach = 100 * max(-one.low, one.high)
    assert sentences(["a", "b"], found, 3) == [
        "No significant difference at this size (3 seeds each): the intervals contain differences up to "
        f"{reach:.1f} percentage points."
    ]


def test_one_and_two_seeds_are_said_to_tell_little() -> None:
    clear, unknown = sentences(["a", "b"], found_of([0.3, 0.6], seeds=1, pairs=100), 1)
    assert clear.startswith("The network of `b` is better than that of `a` by") and "is unknown" in unknown
    assert "poorly estimated" in sentences(["a", "b"], found_of([0.5, 0.5], seeds=2, pairs=20), 2)[-1]


def test_what_is_clear_and_what_is_not_are_both_said() -> None:
    clear, other, rest = sentences(["a", "b", "c"], found_of([0.2, 0.6, 0.6], seeds=3, pairs=100), 3)
    assert "better than `a`" in clear and "better than `a`" in other
    assert rest.startswith("No significant difference between the others")
