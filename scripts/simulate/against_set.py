"""How often do the intervals of `arena rank` hold the truth, and how often is its P(better) above 95% for the worse agent?

Agents with known win rates play pairs of battles against the opponents of a set; the two battles of a pair are alike to a
known degree, which is then estimated from the battles as `arena rank` does. docs/ratings.md has the table.

    python scripts/simulate/against_set.py --pools 400
"""

from __future__ import annotations

import argparse
import itertools

import numpy as np

from arena.ratings.against import ResultsAgainst
from arena.ratings.cycles import pair_likeness
from arena.ratings.evidence import Floats, make_evidence

AGENTS = 8
#: Opponents of the set, pairs against each.
SIZES = ((1, 2), (1, 10), (1, 50), (3, 10), (8, 2), (8, 10))
#: The ends of the win rates against an opponent, and how much a pair's battles go alike (below 0: the teams decide).
RATES, LIKENESS = ((0.3, 0.7), (0.05, 0.95), (0.85, 1.0)), (0.4, 0.0, -0.4)


def play(rates: Floats, pairs: int, alike: float, rng: np.random.Generator) -> Floats:
    """Points [A, M, pairs] of pairs of battles at win rates [A, M]."""
    bound = rng.random((*rates.shape, pairs)) < abs(alike)
    first, second = (rng.random((2, *bound.shape)) < rates[..., None]).astype(float)
    if alike >= 0:
        return np.asarray(first + np.where(bound, first, second))
    better = rates[..., None] >= 0.5  # then one battle is won for certain
    other = rng.random(bound.shape) < np.where(better, 2 * rates[..., None] - 1, 2 * rates[..., None])
    return np.where(bound, better * 1.0 + other, first + second)


def results_of(points: Floats) -> ResultsAgainst:
    """What agents [A] have won against a set [M], of points [A, M, pairs], with the likeness that these show."""
    agents, members, pairs = points.shape
    size = agents + members
    tables = np.zeros((2, size, size))
    tables[0, :agents, agents:], tables[1, :agents, agents:] = points.sum(axis=-1), 2 * pairs
    evidence = make_evidence(
        [(f"a{i}", f"b{j}", float(points[i, j, k]), 2, "") for i, j, k in np.ndindex(*points.shape)]
    )
    return ResultsAgainst(tables[0], tables[1], 2 * tables[1], np.arange(size) >= agents, pair_likeness(evidence))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pools", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    print("opponents | pairs | rates | alike | held | claimed for the worse agent")
    for (members, pairs), (low, high), alike in itertools.product(SIZES, RATES, LIKENESS):
        held, wrong, compared = 0, 0, 0
        for _ in range(arguments.pools):
            rates = rng.uniform(low, high, (AGENTS, members))
            results = results_of(play(rates, pairs, alike, rng))
            _, lows, highs = results.scores()
            truth = rates.mean(axis=1)
            held += int(((lows[:AGENTS] <= truth) & (truth <= highs[:AGENTS])).sum())
            for better, worse in itertools.combinations(np.argsort(-truth).tolist(), 2):
                wrong, compared = wrong + (results.better(worse, better) > 0.95), compared + 1
        share = held / arguments.pools / AGENTS
        print(
            f"{members} | {pairs} | {low:g} to {high:g} | {alike:g} | {share:.1%} | {wrong / compared:.1%}", flush=True
        )


if __name__ == "__main__":
    main()
