"""Pairs as arrays: counted instead of listed, they are the same."""

from __future__ import annotations

import numpy as np
import pytest

from arena.ratings.bradley_terry import fit_ratings
from arena.ratings.evidence import Evidence, counted_evidence, make_evidence

AGENTS = "abcde"


@pytest.fixture
def pairs() -> list[tuple[str, str, float, int, str]]:
    """300 pairs of five agents on two team sets, some with one battle only."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(300):
        one, other = sorted(rng.choice(5, 2, replace=False))
        games = int(rng.integers(1, 3))
        found.append((AGENTS[one], AGENTS[other], rng.integers(0, 2 * games + 1) / 2, games, f"set {rng.integers(2)}"))
    return found


def columns(evidence: Evidence) -> np.ndarray:
    return np.stack([evidence.first, evidence.second, evidence.points, evidence.games, evidence.team_set], axis=1)


def test_different_pairs_and_their_number(pairs: list[tuple[str, str, float, int, str]]) -> None:
    evidence = make_evidence(pairs)
    cells, counts = evidence.cells()
    expected, numbers = np.unique(columns(evidence)[:, :4], axis=0, return_counts=True)
    assert np.array_equal(cells, expected) and np.array_equal(counts, numbers) and len(cells) < len(pairs)
    nothing, none = make_evidence([], "ab").cells()
    assert nothing.shape == (0, 4) and len(none) == 0


def test_counted_pairs_are_the_listed_ones_and_rate_alike(pairs: list[tuple[str, str, float, int, str]]) -> None:
    counted = counted_evidence([(*pair, pairs.count(pair)) for pair in sorted(set(pairs))], "z")
    listed = make_evidence(sorted(pairs), "z")
    assert np.array_equal(columns(counted), columns(listed)) and counted.agents == listed.agents
    one, other = (fit_ratings(each, resamples=50) for each in (counted, listed))
    assert np.array_equal(one.samples, other.samples) and np.array_equal(one.elo, other.elo)
