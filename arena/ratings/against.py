"""Agents by their results against a chosen set of opponents only.

An agent's score is its mean win rate over the opponents of the set, each of them with the same weight however many battles
it has: the expected score against an opponent drawn from the set. A member of the set scores a half against itself, as in
the tables of Nash averages, so that members and others are compared over the same set.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from arena.ratings.clusters import independent_battles, shrunk_rate
from arena.ratings.evidence import Floats, Ints
from arena.ratings.pentanomial import Z95


@dataclass(frozen=True)
class ResultsAgainst:
    """What N agents have won against the M members of a set.

    points, battles, squares [N, N]: of the row against the column; squares: the sum over pairs of the squared number of
    battles (`independent_battles`). chosen [N]: the members. alike: of `pair_likeness`.
    """

    points: Floats
    battles: Floats
    squares: Floats
    chosen: NDArray[np.bool_]
    alike: float

    @cached_property
    def met(self) -> NDArray[np.bool_]:
        """[N, N]: whether the column is a member that the row has met."""
        return np.asarray(self.chosen & (self.battles > 0) & ~np.eye(len(self.chosen), dtype=bool))

    @cached_property
    def opponents(self) -> Ints:
        """[N]: how many members an agent has met."""
        return self.met.sum(axis=1).astype(np.int64)

    @cached_property
    def missing(self) -> Ints:
        """[N]: how many members an agent has not met, itself aside."""
        return np.asarray(self.chosen.sum() - self.chosen - self.opponents)

    @cached_property
    def _weight(self) -> Floats:
        """[N]: of each opponent in an agent's score."""
        return np.asarray(1 / np.maximum(self.opponents + self.chosen, 1))

    @cached_property
    def _variance(self) -> Floats:
        """[N, N]: of each win rate; 0 where two have not met."""
        rate = shrunk_rate(self.points, self.battles)
        number = independent_battles(self.battles, self.squares, rate, self.alike)
        return np.divide(rate * (1 - rate), number, out=np.zeros_like(rate), where=self.met)

    def scores(self) -> tuple[Floats, Floats, Floats]:
        """Return the score [N] of each agent and the ends of its 95% interval; NaN where it has met no member.

        Wilson's interval for the number of independent battles against one opponent that would have the same variance.
        """
        rates = np.divide(self.points, self.battles, out=np.zeros_like(self.points), where=self.met)
        number = np.where(self.opponents > 0, self.opponents, np.nan)
        mean, variance = rates.sum(axis=1) / number, self._variance.sum(axis=1) / number**2
        pooled = shrunk_rate((self.points * self.met).sum(axis=1), (self.battles * self.met).sum(axis=1))
        battles = pooled * (1 - pooled) / variance
        scale = 1 + Z95**2 / battles
        middle = (mean + Z95**2 / 2 / battles) / scale
        reach = Z95 * np.sqrt(mean * (1 - mean) / battles + (Z95 / 2 / battles) ** 2) / scale
        low, high = np.maximum(middle - reach, 0), np.minimum(middle + reach, 1)
        itself = np.where(self.chosen, 0.5, 0.0)
        found = [(number * each + itself) * self._weight for each in (mean, low, high)]
        return found[0], found[1], found[2]

    def better(self, first: int, second: int) -> float:
        """Return the probability that the first has the higher expected score, by the normal approximation.

        Where both are members, their battles with each other are in both scores, with opposite signs.
        """
        scores = self.scores()[0]
        parts = self._weight[[first, second], None] ** 2 * self._variance[[first, second]]
        shared = 2 * np.sqrt(parts[0, second] * parts[1, first])
        return float(ndtr((scores[first] - scores[second]) / np.sqrt(parts.sum() + shared)))
