"""Intransitive cycles of three agents (A beats B beats C beats A), and their significance.

Among many agents some such cycle (a ring) is always observed: with 18 equal ones there are 1,632 possible rings, and each
shows one time in eight by luck alone. So a ring must pass two checks, and its confidence is the lower of the two. Do all
three wins hold when the pairs are weighed anew? And would a pool without rings, the Bradley-Terry fit to the same battles,
have shown so sure a ring anywhere? The second guards against picking the strongest of many. docs/cycles.md has the measured
rates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from arena.ratings.bradley_terry import CHUNK, ELO, fit
from arena.ratings.evidence import Evidence, Floats, Ints
from arena.ratings.rates import resampled_meetings, win_rates

Ring = tuple[int, int, int]


@dataclass(frozen=True)
class Cycle:
    """agents: each beats the next, the last the first. win_rates, games: of these three meetings, in this order.

    strength: the smallest of the win rates, less 1/2. holds: share of the resamples in which all three stay above 1/2.
    luck: share of simulated pools without rings in which some ring is as sure as this one. confidence: the smaller of
    `holds` and 1 - `luck`.
    """

    agents: tuple[str, str, str]
    win_rates: tuple[float, float, float]
    games: tuple[int, int, int]
    strength: float
    holds: float
    luck: float
    confidence: float


def strongest_cycles(evidence: Evidence, *, top: int = 3, resamples: int = 1000, seed: int = 0) -> list[Cycle]:
    """The `top` surest rings seen, or fewer if there are no more. The same evidence and seed give the same.

    A meeting is the surer the more standard errors its win rate lies above 1/2; a ring is as sure as its least sure meeting.
    Where all meetings have the same number of battles, that is the order of the strengths.
    """
    points, games = evidence.tables()
    sureness = _sureness(points, games)
    rings = _surest_rings(sureness, top)
    if not rings:
        return []
    rng = np.random.default_rng(seed)
    rates = win_rates(evidence)
    first, second, shares = resampled_meetings(evidence, resamples, rng)
    meeting = {pair: number for number, pair in enumerate(zip(first.tolist(), second.tolist(), strict=True))}

    def wins(row: int, column: int) -> NDArray[np.bool_]:
        """[B]: whether the row is ahead of the column in a resample."""
        if row < column:
            return np.asarray(shares[:, meeting[row, column]] > 0.5)
        return np.asarray(1 - shares[:, meeting[column, row]] > 0.5)

    by_luck = surest_by_luck(evidence, resamples, rng)
    cycles = []
    for ring in rings:
        rows, columns = list(ring), [*ring[1:], ring[0]]
        first_rate, second_rate, third_rate = (float(rate) for rate in rates[rows, columns])
        held = np.logical_and.reduce([wins(*pair) for pair in zip(rows, columns, strict=True)])
        holds = float(held.mean())
        as_sure = by_luck >= sureness[rows, columns].min() - 1e-9
        luck = float((1 + as_sure.sum()) / (1 + resamples))
        cycles.append(
            Cycle(
                agents=(evidence.agents[ring[0]], evidence.agents[ring[1]], evidence.agents[ring[2]]),
                win_rates=(first_rate, second_rate, third_rate),
                games=(int(games[ring[0], ring[1]]), int(games[ring[1], ring[2]]), int(games[ring[2], ring[0]])),
                strength=min(first_rate, second_rate, third_rate) - 0.5,
                holds=holds,
                luck=luck,
                confidence=min(holds, 1 - luck),
            )
        )
    return cycles


def surest_by_luck(evidence: Evidence, pools: int, rng: np.random.Generator) -> Floats:
    """[pools]: how sure the surest ring is in simulated pools that have none; -inf where no ring shows.

    A simulated pool has the fitted strengths and the same meetings, pair by pair; the two battles of a pair are as much
    alike as those that were seen.
    """
    points, games = evidence.tables()
    elo = fit(points, games)
    first, second = np.nonzero(np.triu(games))
    chance = expit((elo[first] - elo[second]) / ELO)
    pairs = np.zeros((2, *games.shape), dtype=np.int64)
    np.add.at(pairs, (evidence.games - 1, evidence.first, evidence.second), 1)
    single, double = pairs[:, first, second]
    won = _draw(chance, single, double, pair_likeness(evidence), pools, rng)
    sureness = (2 * won - games[first, second]) / np.sqrt(games[first, second])
    return _surest(sureness, _triangles(games > 0))


def pair_likeness(evidence: Evidence) -> float:
    """From -1 to 1: how much the two battles of a pair go alike. 0: they are independent; 1: always the same winner;
    -1: as often split as the win rates allow (the teams decide).

    From the spread of pairs within each meeting, over all meetings together. 1, the careful guess, where nobody played two
    pairs against the same opponent.
    """
    whole = evidence.take(evidence.games == 2)
    meeting = whole.first * len(whole.agents) + whole.second
    _, number, count = np.unique(meeting, return_inverse=True, return_counts=True)
    mean = np.bincount(number, whole.points) / np.maximum(count, 1)
    squares = np.bincount(number, (whole.points - mean[number]) ** 2)
    often = count > 1
    mean, squares, count = mean[often], squares[often], count[often]
    if not len(count):
        return 1.0
    spread = squares / (count - 1)
    # Of two independent battles with these means; the mean of few pairs is uncertain itself, which makes up for its square.
    independent = mean * (2 - mean) / 2 + spread / (2 * count)
    expected = float(((count - 1) * independent).sum())
    excess = float(squares.sum()) - expected
    if excess < 0:
        chance = np.clip(mean / 2, 1e-9, 1 - 1e-9)
        expected = float(((count - 1) * independent * np.minimum(chance / (1 - chance), (1 - chance) / chance)).sum())
    return float(np.clip(excess / expected, -1, 1)) if expected > 0 else 1.0


def _draw(chance: Floats, single: Ints, double: Ints, alike: float, pools: int, rng: np.random.Generator) -> Floats:
    """Points [pools, E] in E meetings with these chances to win a battle, of single battles and of pairs. No ties."""
    bound = rng.binomial(double, abs(alike), (pools, len(chance)))  # pairs whose battles depend on each other wholly
    free = rng.binomial(single + 2 * (double - bound), chance)
    if alike >= 0:
        return np.asarray(free + 2.0 * rng.binomial(bound, chance))
    better = chance >= 0.5  # then one battle is won for certain, and the other as often as is left
    return np.asarray(free + better * bound + 1.0 * rng.binomial(bound, 2 * chance - better))


def _sureness(points: Floats, games: Floats) -> Floats:
    """[..., N, N]: by how many standard errors of a fair coin the row beat the column; -inf for those who never met."""
    size = len(games)
    met = (games > 0) & ~np.eye(size, dtype=bool)
    return np.where(met, (2 * points - games) / np.sqrt(np.where(met, games, 1)), -np.inf)


def _triangles(met: NDArray[np.bool_]) -> Ints:
    """[T, 3]: the meetings of i and j, j and k, i and k of three agents i < j < k, numbered by row and column."""
    above = np.triu(met, 1)
    number = np.cumsum(above).reshape(above.shape) - 1
    triangles = []
    for i in range(len(above)):
        later = np.flatnonzero(above[i])
        j, k = np.nonzero(above[np.ix_(later, later)])
        j, k = later[j], later[k]
        triangles.append(np.stack([number[i, j], number[j, k], number[i, k]], axis=1))
    return np.concatenate(triangles) if triangles else np.zeros((0, 3), dtype=np.int64)


def _surest_rings(sureness: Floats, top: int) -> list[Ring]:
    """The rings with the surest least sure meeting, all three above 1/2, each from its lowest agent index on."""
    met = np.isfinite(sureness)
    first, second = np.nonzero(np.triu(met, 1))
    ij, jk, ik = _triangles(met).T
    sure = sureness[first, second]
    i, j, k = first[ij], second[ij], second[jk]
    least = np.r_[_least(sure, ij, jk, ik), _least(-sure, ij, jk, ik)]
    rings = np.concatenate([np.stack([i, j, k], axis=1), np.stack([i, k, j], axis=1)])
    shown = least > 0
    least, rings = least[shown], rings[shown]
    order = np.lexsort((rings[:, 2], rings[:, 1], rings[:, 0], -least))[:top]
    return [(int(a), int(b), int(c)) for a, b, c in rings[order]]


def _least(sure: Floats, ij: Ints, jk: Ints, ik: Ints) -> Floats:
    """[..., T]: the least sure meeting of the rings i beats j beats k beats i. sure [..., E]: of the first of a meeting."""
    return np.minimum(np.minimum(sure[..., ij], sure[..., jk]), -sure[..., ik])


def _surest(sure: Floats, triangles: Ints) -> Floats:
    """[B] of [B, E]: the sureness of the surest ring of each pool; -inf where no three agents have all met."""
    best = np.full(len(sure), -np.inf)
    part = max(1, CHUNK // max(1, len(sure)))
    for begin in range(0, len(triangles), part):
        edges = triangles[begin : begin + part].T
        for turned in (sure, -sure):
            best = np.maximum(best, _least(turned, *edges).max(axis=1))
    return best
