"""The ratings of a report as plain numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from arena.ratings.bradley_terry import Ratings, fit_ratings
from arena.ratings.cycles import Cycle, strongest_cycles
from arena.ratings.evidence import Evidence, Floats
from arena.ratings.glicko import glicko
from arena.ratings.nash import nash_of
from arena.ratings.team_sets import sentence, set_differences
from arena.store import rows

FENCE = 1.5
ENOUGH_FOR_QUARTILES = 8

# By pair, which is a shuffle that is the same for everybody.
_BATTLES = """
    SELECT agent, opponent, score::DOUBLE FROM evidence_results
    WHERE for_run = ? AND format = ? AND seat = 'p1' AND score IS NOT NULL ORDER BY pair, agent, battle_id
"""


def measure(
    db: Path, run_id: str, format_id: str, evidence: Evidence, *, anchor: str | None, seed: int
) -> dict[str, Any]:
    """One format's "anchor", "ranking", "better", "set_differences" and "cycles"; what is in them: docs/report.md."""
    ratings = fit_ratings(evidence, anchor=anchor, seed=seed)
    order = sorted(range(len(ratings.agents)), key=lambda i: (ratings.group[i], -ratings.elo[i], ratings.agents[i]))
    gxes = {agent: each.gxe for agent, each in glicko(rows(_BATTLES, db, [run_id, format_id])).items()}
    nash = _nash(evidence, ratings, seed)
    best = _best(ratings)
    differences = set_differences(evidence, seed=seed) if len(evidence.team_sets) > 1 else []
    return {
        "anchor": ratings.anchor,
        "ranking": [
            {
                "rank": rank,
                "agent": ratings.agents[i],
                "elo": _number(ratings.elo[i], 1),
                "low": _number(ratings.low[i], 1),
                "high": _number(ratings.high[i], 1),
                "mark": ratings.marks[i],
                "best": _number(best[i], 4),
                "group": int(ratings.group[i]),
                "games": int(ratings.games[i]),
                "score": _number(ratings.score[i], 6),
                "gxe": _number(gxes.get(ratings.agents[i], math.nan), 1),
                "nash": nash[i],
            }
            for rank, i in enumerate(order, 1)
        ],
        "better": {
            "agents": [ratings.agents[i] for i in order],
            "matrix": [[_number(ratings.better[i, j], 4) for j in order] for i in order],
        },
        "set_differences": [asdict(each) | {"sentence": sentence(each)} for each in differences],
        "cycles": [_cycle(each) for each in strongest_cycles(evidence, seed=seed)],
    }


def elo_range(ranking: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """The range of Elo that a picture of a ranking shows: what is measured, without the few that are far below all others.

    Ratings that are bounds may lie thousands of points away; they do not stretch it. Nor does an agent more than
    FENCE interquartile ranges below the first quartile (Tukey's fence), where there are enough agents to say so.
    """
    measured = [row for row in ranking if row["games"] and not row["mark"]] or list(ranking)
    if len(measured) >= ENOUGH_FOR_QUARTILES:
        first, third = np.quantile([row["elo"] for row in measured], [0.25, 0.75])
        measured = [row for row in measured if row["elo"] >= first - FENCE * (third - first)]
    return min(row["low"] for row in measured), max(row["high"] for row in measured)


def _best(ratings: Ratings) -> Floats:
    """P(best) [N]: in what share of the resamples an agent is rated above all others of its group; ties share it."""
    best = np.zeros(len(ratings.agents))
    for number in range(int(ratings.group.max()) + 1):
        members = np.flatnonzero(ratings.group == number)
        samples = ratings.samples[:, members]
        first = samples == samples.max(axis=1, keepdims=True)
        best[members] = (first / first.sum(axis=1, keepdims=True)).mean(axis=0)
    return best


def _nash(evidence: Evidence, ratings: Ratings, seed: int) -> list[dict[str, float | None] | None]:
    """Each agent's part of the Nash average; None for all where not all are linked by battles: then there is none."""
    if np.any(ratings.group):
        return [None] * len(ratings.agents)
    found = nash_of(evidence, elo=ratings.elo, seed=seed)
    keys = ("weights", "mean", "low", "high", "support")
    return [{key.rstrip("s"): _number(getattr(found, key)[i], 4) for key in keys} for i in range(len(ratings.agents))]


def _cycle(each: Cycle) -> dict[str, Any]:
    """With its numbers rounded."""
    numbers = {key: _number(getattr(each, key), 4) for key in ("strength", "holds", "luck", "confidence")}
    rates = [_number(share, 4) for share in each.win_rates]
    return {"agents": list(each.agents), "win_rates": rates, "games": list(each.games), **numbers}


def _number(value: float, digits: int) -> float | None:
    """Rounded; None for NaN, which is no JSON."""
    return None if math.isnan(value) else round(float(value), digits)
