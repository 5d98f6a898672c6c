"""How often is a ring (A beats B beats C beats A) claimed where none is, and found where one is?

Simulates round robins of twelve agents whose chances are known, and counts the pools in which some ring has a confidence of
at least 80, 90 and 95%, beside the share in which the bootstrap alone would say 80%. With confidence c, pools without a ring
should claim one no more often than 1 - c.

    python scripts/simulate/cycles.py [--pools 300] [--seed 0]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from arena.ratings.cycles import strongest_cycles
from arena.ratings.evidence import Evidence, Floats, make_evidence

AGENTS = 12
RESAMPLES = 200


def from_elo(elo: Floats) -> Floats:
    """Chances [N, N] of the row to beat the column."""
    return np.asarray(1 / (1 + 10 ** ((elo[None, :] - elo[:, None]) / 400)))


def spread(deviation: float) -> Callable[[np.random.Generator], Floats]:
    """Pools whose agents' Elo has this standard deviation."""
    return lambda rng: from_elo(rng.normal(0, deviation, AGENTS))


def better_wins_60(_: np.random.Generator) -> Floats:
    """Every better agent wins 60% against every worse one, however much worse: a line, but not Bradley-Terry's."""
    return (
        np.triu(np.full((AGENTS, AGENTS), 0.6), 1) + np.tril(np.full((AGENTS, AGENTS), 0.4), -1) + 0.5 * np.eye(AGENTS)
    )


def nearly_rings(_: np.random.Generator) -> Floats:
    """Four times A beats B, B beats C, and A and C are exactly even: what is hardest not to call a ring."""
    chances = from_elo(np.repeat([600.0, 300.0, 0.0, -300.0], 3))
    for a in range(0, AGENTS, 3):
        for row, column, chance in ((a, a + 1, 0.75), (a + 1, a + 2, 0.75), (a, a + 2, 0.5)):
            chances[row, column], chances[column, row] = chance, 1 - chance
    return chances


def with_ring(chance: float) -> Callable[[np.random.Generator], Floats]:
    """Pools of some spread whose first three agents beat each other in a ring with this chance."""

    def make(rng: np.random.Generator) -> Floats:
        chances = spread(200)(rng)
        for row, column in ((0, 1), (1, 2), (2, 0)):
            chances[row, column], chances[column, row] = chance, 1 - chance
        return chances

    return make


def play(chances: Floats, pairs: int, alike: float, rng: np.random.Generator) -> Evidence:
    """A round robin. alike: that share of the pairs is won twice by the same agent or, below 0, split if possible."""
    first, second = (np.repeat(index, pairs) for index in np.triu_indices(AGENTS, 1))
    first_draw, second_draw = rng.random((2, len(first)))
    bound = rng.random(len(first)) < abs(alike)
    second_draw = np.where(bound, first_draw if alike > 0 else 1 - first_draw, second_draw)
    points = (first_draw < chances[first, second]) * 1.0 + (second_draw < chances[first, second])
    return make_evidence(
        [(f"{a:02}", f"{b:02}", p, 2, "") for a, b, p in zip(first, second, points.tolist(), strict=True)]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pools", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    cases: list[tuple[str, Callable[[np.random.Generator], Floats], int, float]] = [
        ("no ring: all equal", spread(0), 4, 0.0),
        ("no ring: all equal", spread(0), 20, 0.0),
        ("no ring: all equal, luck repeats", spread(0), 20, 0.4),
        ("no ring: all equal, teams decide", spread(0), 20, -0.4),
        ("no ring: Elo +- 150", spread(150), 20, 0.0),
        ("no ring: the better wins 60%", better_wins_60, 20, 0.0),
        ("no ring: four A > B > C with A = C", nearly_rings, 20, 0.0),
        ("ring of 75%", with_ring(0.75), 4, 0.0),
        ("ring of 75%", with_ring(0.75), 10, 0.0),
        ("ring of 75%", with_ring(0.75), 20, 0.0),
        ("ring of 65%", with_ring(0.65), 20, 0.0),
        ("ring of 65%", with_ring(0.65), 50, 0.0),
    ]
    print(
        f"{'pools with a ring of confidence at least':54} {'80%':>7} {'90%':>7} {'95%':>7} {'bootstrap alone 80%':>21}"
    )
    for name, chances, pairs, alike in cases:
        rng = np.random.default_rng(given.seed)
        best = np.zeros((given.pools, 2))
        for number in range(given.pools):
            rings = strongest_cycles(play(chances(rng), pairs, alike, rng), resamples=RESAMPLES, seed=number)
            best[number] = (
                max((ring.confidence for ring in rings), default=0),
                max((ring.holds for ring in rings), default=0),
            )
        shares = [100 * (best[:, 0] >= level).mean() for level in (0.8, 0.9, 0.95)]
        label = f"{name}, {pairs} pairs a meeting"
        print(
            f"{label:54} {'  '.join(f'{share:5.1f}%' for share in shares)} {100 * (best[:, 1] >= 0.8).mean():20.1f}%",
            flush=True,
        )


if __name__ == "__main__":
    main()
