"""The data of a rating: pairs of battles, the unit of evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


#: The anchor's rating.
BASE = 1000.0
#: Default anchors, the first that plays: well-known players of middling strength, so that the anchor meets
#: opponents both weaker and stronger and the intervals, which are relative to it, do not suffer for it.
ANCHORS = ("heuristic:max-damage", "poke-env:SimpleHeuristicsPlayer", "heuristic:max-power", "random")


def default_anchor(agents: Sequence[str]) -> str:
    """The first of ANCHORS that plays, or the first agent by name."""
    return next((anchor for anchor in ANCHORS if anchor in agents), min(agents))


@dataclass(frozen=True)
class Evidence:
    """The pairs of one format, as arrays of the same length P.

    agents: every agent that took part, by name. first, second: indexes into `agents`, first < second.
    points: of the first, over the battles of the pair that count (a tie is half); games: how many those are (1 or 2, more of
    two series whose battles count singly; aborted battles do not count, and a pair of which none counts is left out).
    team_set: index into `team_sets`.
    """

    agents: tuple[str, ...]
    team_sets: tuple[str, ...]
    first: Ints
    second: Ints
    points: Floats
    games: Ints
    team_set: Ints

    def __len__(self) -> int:
        return len(self.points)

    def take(self, index: Ints | NDArray[np.bool_]) -> Evidence:
        """Those pairs only (a resample may name a pair several times); the agents stay."""
        return replace(
            self,
            first=self.first[index],
            second=self.second[index],
            points=self.points[index],
            games=self.games[index],
            team_set=self.team_set[index],
        )

    def on(self, team_set: str) -> Evidence:
        """The pairs on one team set; the agents stay."""
        return self.take(self.team_set == self.team_sets.index(team_set))

    def cells(self) -> tuple[Floats, Ints]:
        """The different pairs [K, 4] (first, second, points, games), ascending, and how often each occurs [K]."""
        columns = (self.first, self.second, self.points, self.games)
        code = np.zeros(len(self), dtype=np.int64)  # one number is sorted much faster than rows of four
        for column in columns:
            values, number = np.unique(column, return_inverse=True)
            code = code * max(len(values), 1) + number
        _, place, counts = np.unique(code, return_index=True, return_counts=True)
        return np.stack([column[place].astype(np.float64) for column in columns], axis=1), counts.astype(np.int64)

    def tables(self) -> tuple[Floats, Floats]:
        """(points, games), both [N, N]: what the row won against the column, out of how many battles."""
        size = len(self.agents)
        points, games = np.zeros((size, size)), np.zeros((size, size))
        np.add.at(points, (self.first, self.second), self.points)
        np.add.at(points, (self.second, self.first), self.games - self.points)
        np.add.at(games, (self.first, self.second), self.games)
        np.add.at(games, (self.second, self.first), self.games)
        return points, games


def counted_evidence(pairs: Sequence[tuple[str, str, float, int, str, int]], agents: Sequence[str] = ()) -> Evidence:
    """As `make_evidence`, from different pairs with their number at the end, which are repeated as often."""
    evidence = make_evidence([pair[:5] for pair in pairs], agents)
    return evidence.take(np.repeat(np.arange(len(pairs)), [pair[5] for pair in pairs]))


def make_evidence(pairs: Sequence[tuple[str, str, float, int, str]], agents: Sequence[str] = ()) -> Evidence:
    """From (agent, opponent, points of the agent, games, team set) a pair, in any order.

    agents: included even without a battle.
    """
    names = tuple(sorted({*agents, *(p[0] for p in pairs), *(p[1] for p in pairs)}))
    sets = tuple(sorted({p[4] for p in pairs}))
    place = {name: i for i, name in enumerate(names)}
    set_place = {name: i for i, name in enumerate(sets)}
    ordered = [
        (place[a], place[b], points, games, set_place[s])
        if place[a] < place[b]
        else (place[b], place[a], games - points, games, set_place[s])
        for a, b, points, games, s in pairs
        if games > 0
    ]
    columns = list(zip(*ordered, strict=True)) or [(), (), (), (), ()]
    first, second, games_, set_ = (np.array(columns[i], dtype=np.int64) for i in (0, 1, 3, 4))
    return Evidence(names, sets, first, second, np.array(columns[2], dtype=np.float64), games_, set_)
