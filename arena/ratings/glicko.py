"""Glicko-1 ratings and GXE, computed as on Showdown's ladder.

The ladder's rules (smogon/pokemon-showdown-loginserver, src/ladder.ts; Glickman, "The Glicko system", glicko.net): everyone
begins at 1500 with a deviation of 130. A rating period is a day; within it a player's battles are rated together, from the
player's and the opponents' numbers as the period began. The deviation grows a little every period and stays in 25 to 130.
GXE is the expected score, in percent, against an unknown player of the ladder: 1500 with a deviation of 130.

Stored battles have no days: agents do not change overnight. A period here is a stretch of the battles in which an agent has
ten on average. It is a number for people who know the ladder; Bradley-Terry is what differences are judged by.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

START, MOST, LEAST = 1500.0, 130.0, 25.0  # rating of a newcomer; bounds of the deviation, the upper one a newcomer's
Q = math.log(10) / 400
SPREAD = 0.0000100724  # 3 (Q / pi)^2, rounded as the ladder has it
GROWTH = (MOST**2 - LEAST**2) / 365  # of the squared deviation, a period: a year without a battle forgets everything
PER_PERIOD = 10  # battles of an agent in a period, on average


@dataclass(frozen=True)
class GlickoRating:
    """rating and deviation in Glicko points; gxe in percent."""

    rating: float
    deviation: float
    gxe: float


def gxe(rating: float, deviation: float) -> float:
    """The expected score against an unknown player of the ladder, in percent (the ladder shows one decimal)."""
    return 100 / (1 + 10 ** ((START - rating) / (400 * math.sqrt(1 + SPREAD * (deviation**2 + MOST**2)))))


def glicko(battles: Sequence[tuple[str, str, float]]) -> dict[str, GlickoRating]:
    """Ratings by name of everyone in `battles`: (agent, opponent, score of the agent), each battle once, in order.

    The order matters a little. Take one that is a shuffle but always the same, such as by the key of the pair: an order by
    agent would rate the last one against opponents whose ratings are settled and the first one against newcomers.
    """
    now = dict.fromkeys(sorted({name for a, b, _ in battles for name in (a, b)}), (START, MOST))
    size = max(1, round(PER_PERIOD * len(now) / 2))
    for begin in range(0, len(battles), size):
        met: dict[str, list[tuple[float, float, float]]] = {name: [] for name in now}
        for agent, opponent, score in battles[begin : begin + size]:
            met[agent].append((*now[opponent], score))
            met[opponent].append((*now[agent], 1 - score))
        now = {name: _after_period(*now[name], results) for name, results in met.items()}
    return {name: GlickoRating(rating, deviation, gxe(rating, deviation)) for name, (rating, deviation) in now.items()}


def _after_period(rating: float, deviation: float, results: list[tuple[float, float, float]]) -> tuple[float, float]:
    deviation = min(math.sqrt(deviation**2 + GROWTH), MOST)
    if not results:
        return rating, deviation
    rating, deviation = rated(rating, deviation, results)
    return rating, max(deviation, LEAST)


def rated(rating: float, deviation: float, results: Iterable[tuple[float, float, float]]) -> tuple[float, float]:
    """Glicko-1's own step, without the ladder's bounds: (rating, deviation) after (opponent's rating, deviation, score)s."""
    certainty, surplus = 1 / deviation**2, 0.0
    for other, other_deviation, score in results:
        weight = 1 / math.sqrt(1 + 3 * (Q * other_deviation / math.pi) ** 2)
        expected = 1 / (1 + 10 ** (-weight * (rating - other) / 400))
        certainty += (Q * weight) ** 2 * expected * (1 - expected)
        surplus += weight * (score - expected)
    return rating + Q / certainty * surplus, math.sqrt(1 / certainty)
