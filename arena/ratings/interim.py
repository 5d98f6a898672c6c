"""Ratings while a run is being played: one quick Bradley-Terry fit with rough intervals, for a live display."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from arena.ratings.bradley_terry import fit, groups, information
from arena.ratings.evidence import BASE


@dataclass(frozen=True)
class InterimStanding:
    """An agent so far. battles that count; score: the mean, ties as halves. elo, margin: rating against the anchor, and half
    the width of its rough 95% interval; None where no battles link the agent to the anchor."""

    agent: str
    battles: int
    score: float
    elo: float | None
    margin: float | None


def standings(points: Mapping[tuple[str, str], float], anchor: str) -> list[InterimStanding]:
    """All agents that have played, the strongest first; those that nothing links to the anchor at the end, by their score.

    points: (agent, opponent) -> what the agent has won against the opponent, in both directions. anchor: rated 1000; the
    first agent by name where the anchor has not played.
    The intervals are the normal approximation from Fisher's information with battles taken as independent: good enough to
    watch a run, too narrow for a result (`fit_ratings` resamples pairs).
    """
    agents = sorted({agent for pair in points for agent in pair})
    if not agents:
        return []
    place = {agent: number for number, agent in enumerate(agents)}
    won = np.zeros((len(agents), len(agents)))
    for (agent, opponent), value in points.items():
        won[place[agent], place[opponent]] = value
    games = won + won.T
    at = place.get(anchor, 0)
    elo = fit(won, games)
    group = groups(games)
    # Every group of linked agents has a mean of its own that no battle tells: fixing it makes the matrix invertible.
    known = information(elo, games)
    covariance = np.linalg.inv(known + (group[:, None] == group) * max(known.max(), 1e-9))
    own = np.diag(covariance)
    margin = 1.96 * np.sqrt(np.maximum(own + own[at] - 2 * covariance[:, at], 0))
    battles = games.sum(axis=1)
    unsorted = [
        InterimStanding(
            agent,
            round(battles[i]),
            float(won[i].sum() / battles[i]),
            float(elo[i] - elo[at] + BASE) if group[i] == group[at] else None,
            float(margin[i]) if group[i] == group[at] else None,
        )
        for agent, i in place.items()
    ]
    return sorted(unsorted, key=lambda each: (each.elo is None, -(each.elo or 0.0), -each.score, each.agent))
