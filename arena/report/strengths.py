"""The ratings of a report as plain numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from arena.ratings.alpha_rank import alpha_rank_of, is_installed
from arena.ratings.bradley_terry import Ratings, fit_ratings
from arena.ratings.cycles import Cycle, strongest_cycles
from arena.ratings.evidence import Evidence, Floats
from arena.ratings.glicko import glicko
from arena.ratings.nash import nash_of
from arena.ratings.team_sets import SetDifference, sentence, set_differences
from arena.report.summary_types import (
    CycleSummary,
    NashShare,
    RankingRow,
    SetDifferenceSummary,
    Strengths,
)
from arena.store import rows

FENCE = 1.5
ENOUGH_FOR_QUARTILES = 8

# By pair, which is a shuffle that is the same for everybody.
_BATTLES = """
    SELECT agent, opponent, score::DOUBLE FROM counted_results
    WHERE for_run = ? AND format = ? AND seat = 'p1' AND score IS NOT NULL ORDER BY pair, agent, battle_id
"""


def measure(
    db: Path,
    run_id: str,
    format_id: str,
    evidence: Evidence,
    *,
    anchor: str | None,
    seed: int,
    descriptions: Mapping[str, str | None],
) -> Strengths:
    """The ratings of one format of a run. descriptions: of agents, by their specs."""
    battles = rows(_BATTLES, db, [run_id, format_id])
    return strengths_of(evidence, battles, anchor=anchor, seed=seed, descriptions=descriptions)


def strengths_of(
    evidence: Evidence,
    battles: Sequence[tuple[str, str, float]],
    *,
    anchor: str | None,
    seed: int = 0,
    descriptions: Mapping[str, str | None] | None = None,
) -> Strengths:
    """The ratings that evidence gives. battles: the same ones singly, for `glicko`. descriptions: as of `measure`."""
    ratings = fit_ratings(evidence, anchor=anchor, seed=seed)
    order = sorted(range(len(ratings.agents)), key=lambda i: (ratings.group[i], -ratings.elo[i], ratings.agents[i]))
    gxes = {agent: each.gxe for agent, each in glicko(battles).items()}
    nash = _nash(evidence, ratings, seed)
    alpha = _alpha_rank(evidence, ratings, seed)
    best = _best(ratings)
    differences = set_differences(evidence, seed=seed) if len(evidence.team_sets) > 1 else []
    return {
        "anchor": ratings.anchor,
        "ranking": [
            {
                "rank": rank,
                "agent": ratings.agents[i],
                "elo": round(float(ratings.elo[i]), 1),
                "low": round(float(ratings.low[i]), 1),
                "high": round(float(ratings.high[i]), 1),
                "mark": ratings.marks[i],
                "best": round(float(best[i]), 4),
                "group": int(ratings.group[i]),
                "games": int(ratings.games[i]),
                "score": _number(ratings.score[i], 6),
                "gxe": _number(gxes.get(ratings.agents[i], math.nan), 1),
                "nash": nash[i],
                "alpha_rank": alpha[i][0],
                "alpha_rank_low": alpha[i][1],
                "alpha_rank_high": alpha[i][2],
                "about": (descriptions or {}).get(ratings.agents[i]),
            }
            for rank, i in enumerate(order, 1)
        ],
        "better": {
            "agents": [ratings.agents[i] for i in order],
            "matrix": [[_number(ratings.better[i, j], 4) for j in order] for i in order],
        },
        "set_differences": [_difference(each) for each in differences],
        "cycles": [_cycle(each) for each in strongest_cycles(evidence, seed=seed)],
    }


def elo_range(ranking: Sequence[RankingRow]) -> tuple[float, float]:
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


def _nash(evidence: Evidence, ratings: Ratings, seed: int) -> Sequence[NashShare | None]:
    """Each agent's part of the Nash average; None for all where not all are linked by battles: then there is none."""
    if np.any(ratings.group):
        return [None] * len(ratings.agents)
    average = nash_of(evidence, elo=ratings.elo, seed=seed)
    return [
        {
            "weight": round(float(average.weights[i]), 4),
            "mean": round(float(average.mean[i]), 4),
            "low": round(float(average.low[i]), 4),
            "high": round(float(average.high[i]), 4),
            "support": round(float(average.support[i]), 4),
            "rating": round(0.5 + float(average.value_mean[i]), 4),
            "rating_low": round(0.5 + float(average.value_low[i]), 4),
            "rating_high": round(0.5 + float(average.value_high[i]), 4),
        }
        for i in range(len(ratings.agents))
    ]


def _alpha_rank(
    evidence: Evidence, ratings: Ratings, seed: int
) -> Sequence[tuple[float | None, float | None, float | None]]:
    """Each agent's share of time in alpha-rank and the ends of its interval; None where there are none."""
    if np.any(ratings.group) or len(ratings.agents) < 3 or not is_installed():
        return [(None, None, None)] * len(ratings.agents)
    shares, low, high = (np.round(each, 4) for each in alpha_rank_of(evidence, elo=ratings.elo, seed=seed))
    return list(zip(shares.tolist(), low.tolist(), high.tolist(), strict=True))


def _difference(each: SetDifference) -> SetDifferenceSummary:
    return {
        "agent": each.agent,
        "better_on": each.better_on,
        "worse_on": each.worse_on,
        "elo": each.elo,
        "low": each.low,
        "high": each.high,
        "clear": each.clear,
        "bound": each.bound,
        "sentence": sentence(each),
    }


def _cycle(each: Cycle) -> CycleSummary:
    """With its numbers rounded."""
    return {
        "agents": list(each.agents),
        "win_rates": [round(float(share), 4) for share in each.win_rates],
        "games": list(each.games),
        "strength": round(float(each.strength), 4),
        "holds": round(float(each.holds), 4),
        "luck": round(float(each.luck), 4),
        "confidence": round(float(each.confidence), 4),
    }


def _number(value: float, digits: int) -> float | None:
    """Rounded; None for NaN, which is no JSON."""
    return None if math.isnan(value) else round(float(value), digits)
