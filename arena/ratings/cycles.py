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
from scipy.special import expit

from arena.ratings.bradley_terry import ELO, fit
from arena.ratings.evidence import Evidence, Floats, Ints
from arena.ratings.rates import resampled_rates, win_rates

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
    rates, drawn = win_rates(evidence), resampled_rates(evidence, resamples, rng)
    by_luck = surest_by_luck(evidence, resamples, rng)
    cycles = []
    for ring in rings:
        rows, columns = list(ring), [*ring[1:], ring[0]]
        one, two, three = (float(rate) for rate in rates[rows, columns])
        holds = float((drawn[:, rows, columns] > 0.5).all(axis=1).mean())
        as_sure = by_luck >= sureness[rows, columns].min() - 1e-9
        luck = float((1 + as_sure.sum()) / (1 + resamples))
        cycles.append(
            Cycle(
                agents=(evidence.agents[ring[0]], evidence.agents[ring[1]], evidence.agents[ring[2]]),
                win_rates=(one, two, three),
                games=(int(games[ring[0], ring[1]]), int(games[ring[1], ring[2]]), int(games[ring[2], ring[0]])),
                strength=min(one, two, three) - 0.5,
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
    drawn = np.zeros((pools, *games.shape))
    drawn[:, first, second], drawn[:, second, first] = won, games[first, second] - won
    return _surest(_sureness(drawn, games))


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


def _surest_rings(sureness: Floats, top: int) -> list[Ring]:
    """The rings with the surest least sure meeting, all three above 1/2, each from its lowest agent index on."""
    least = np.minimum(np.minimum(sureness[:, :, None], sureness[None, :, :]), sureness.T[:, None, :])
    index = np.arange(len(sureness))
    rows, columns, thirds = np.nonzero(
        (least > 0) & (index[:, None, None] < index[:, None]) & (index[:, None, None] < index)
    )
    order = np.argsort(-least[rows, columns, thirds], kind="stable")[:top]
    return [(int(rows[i]), int(columns[i]), int(thirds[i])) for i in order]


def _surest(sureness: Floats) -> Floats:
    """[B] of [B, N, N]: the sureness of the surest ring of each pool."""
    best = np.full(len(sureness), -np.inf)
    for i in range(sureness.shape[1] - 2):  # the first agent of the ring; the others come after it
        least = np.minimum(sureness[:, i, i + 1 :, None], sureness[:, i + 1 :, i + 1 :])
        least = np.minimum(least, sureness[:, None, i + 1 :, i])
        best = np.maximum(best, least.max(axis=(1, 2)))
    return best
