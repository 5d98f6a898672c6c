"""Win rates of battles that come in clusters, the two of a pair: how much they tell, and a test of groups of battles.

A group of battles (those against a team with Tauros, say) may hold one battle of a pair or both. So a win rate is judged by
the number of independent battles that tell as much (Kish, "Survey Sampling", 1965: the design effect), in Wilson's interval
(Franco, Little, Louis, Slud, Journal of Survey Statistics and Methodology 7, 2019, compare such intervals), and groups are
compared by permuting whole pairs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arena.ratings.evidence import Floats, Ints

#: Permutations of a test, and the most scores that all of them draw together.
_PERMUTATIONS, _MOST_DRAWN = 9_999, 300_000_000
_FEWEST_PERMUTATIONS = 999
_PART = 4_000_000  # scores that are drawn at once


def shrunk_rate(points: ArrayLike, battles: ArrayLike) -> Floats:
    """Return win rates with half a win and half a loss more, which a variance is taken from: 10 of 10 is no certainty."""
    return np.asarray((np.asarray(points) + 0.5) / (np.asarray(battles) + 1.0))


def independent_battles(battles: ArrayLike, squares: ArrayLike, rate: ArrayLike, alike: float) -> Floats:
    """Return how many independent battles tell as much about a win rate; any shape.

    battles: how many there are; squares: the sum over clusters of the squared number of battles; rate: the win rate, between
    0 and 1. alike: how much the battles of a cluster go alike, of `pair_likeness`.
    """
    share, number = np.asarray(rate, float), np.asarray(battles, float)
    odds = share / (1 - share)
    correlation = alike * (1.0 if alike >= 0 else np.minimum(odds, 1 / odds))
    others = np.asarray(squares, float) / np.maximum(number, 1) - 1  # in the cluster of a battle, on average
    return np.asarray(number / np.maximum(1 + correlation * others, 1e-9))


def group_p_values(scores: Floats, clusters: Ints, members: NDArray[np.bool_], *, seed: int = 0) -> Floats:
    """Return [G]: the p-value of the statement that a group's battles go like all others, by a permutation test.

    scores [n]; clusters [n]: the number of a battle's cluster; members [n, G]: which groups a battle is in. The results of
    whole clusters are exchanged between clusters of the same size, so the test holds whatever a cluster's battles have in
    common. The battles of a cluster are taken in the order given, which should mean the same in all (the first seat first).
    """
    order = np.argsort(clusters, kind="stable")
    scores, clusters, members = scores[order], clusters[order], members[order]
    _, begins, sizes = np.unique(clusters, return_index=True, return_counts=True)
    number = int(np.clip(_MOST_DRAWN // max(len(scores), 1), _FEWEST_PERMUTATIONS, _PERMUTATIONS))
    rng = np.random.default_rng(seed)
    drawn = np.zeros((number, members.shape[1]))
    seen, mean = np.zeros(members.shape[1]), np.zeros(members.shape[1])
    for size in np.unique(sizes):
        rows = begins[sizes == size][:, None] + np.arange(size)
        results, inside = scores[rows].astype(np.float32), members[rows.ravel()].astype(np.float32)
        seen += results.ravel() @ inside
        mean += np.tile(results.mean(axis=0), len(rows)) @ inside
        part = max(1, _PART // rows.size)
        for begin in range(0, number, part):
            end = min(begin + part, number)
            places = rng.permuted(np.tile(np.arange(len(rows)), (end - begin, 1)), axis=1)
            drawn[begin:end] += results[places].reshape(end - begin, -1) @ inside
    reached = np.abs(drawn - mean) >= np.abs(seen - mean) - 1e-3
    return np.asarray((1 + reached.sum(axis=0)) / (1 + number))
