"""A checkpoint's results against the pool: its rating, its scores by opponent and team set, and changes since its parent.

Averages over opponents or team sets have equal weights. Intervals are 95%, from random weights on pairs of battles
(`resampled_rates`). A checkpoint and its parent play an opponent with the same teams and seeds, but their weights are drawn
independently, so the intervals of differences are conservative.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from arena.ratings.bradley_terry import fit_ratings
from arena.ratings.evidence import Evidence, Floats, make_evidence
from arena.ratings.rates import interval, resampled_rates, win_rates
from arena.store import rows
from training.experiments.curriculum.lineage import ALL

RESAMPLES = 2000


def gathered(db: Path, runs: Sequence[str], team_sets: Sequence[str], agents: Sequence[str]) -> Evidence:
    """Return the distinct pairs that are evidence for any of the runs, for some team sets and agents."""
    stored = rows(
        "SELECT agent, opponent, sum(score), count(score), team_set FROM "
        "(SELECT DISTINCT battle_id, agent, opponent, score, team_set, pair FROM evidence_results "
        "WHERE list_contains($1, for_run) AND list_contains($2, team_set)) "
        "WHERE agent < opponent AND list_contains($3, agent) AND list_contains($3, opponent) "
        "GROUP BY agent, opponent, team_set, pair ORDER BY agent, opponent, team_set, pair",
        db,
        [list(runs), list(team_sets), list(agents)],
    )
    return make_evidence([(a, b, float(points or 0), games, s) for a, b, points, games, s in stored], agents)


def rating(evidence: Evidence, agent: str, anchor: str) -> tuple[float, float, float]:
    """Return Elo with its interval (value, low, high); the anchor has 1000."""
    ratings = fit_ratings(evidence, anchor=anchor)
    place = ratings.agents.index(agent)
    return float(ratings.elo[place]), float(ratings.low[place]), float(ratings.high[place])


def rating_change(evidence: Evidence, child: str, parent: str, anchor: str) -> tuple[float, float, float]:
    """Return the Elo of the child minus its parent's, with the interval; their battles against each other are excluded.

    So a child that has only learned to beat its parent is not rated higher.
    """
    child_index, parent_index = evidence.agents.index(child), evidence.agents.index(parent)
    own = np.isin(evidence.first, (child_index, parent_index)) & np.isin(evidence.second, (child_index, parent_index))
    ratings = fit_ratings(evidence.take(~own), anchor=anchor)
    samples = ratings.samples[:, child_index] - ratings.samples[:, parent_index]
    return (float(ratings.elo[child_index] - ratings.elo[parent_index]), *interval(samples))


def against_all(
    db: Path, pool: Sequence[str], team_sets: Sequence[str], child: tuple[str, str], parent: tuple[str, str] | None
) -> list[dict[str, Any]]:
    """Return a checkpoint's score against each opponent on each team set, and the change since its parent.

    child, parent: the checkpoint's spec, and the run of its battles against the pool. Rows: {opponent, team_set, battles,
    score, low, high, parent, change, change_low, change_high}; with ALL for the averages; the last four None at the root.
    """
    mine, samples, battles = _shares(db, pool, team_sets, *child, seed=0)
    results = []
    before = _shares(db, pool, team_sets, *parent, seed=1) if parent is not None else None
    for key, score in mine.items():
        low, high = interval(samples[key])
        row = {
            "opponent": key[0], "team_set": key[1], "battles": battles[key],
            "score": _rounded(score), "low": _rounded(low), "high": _rounded(high),
            "parent": None, "change": None, "change_low": None, "change_high": None,
        }  # fmt: skip
        if before is not None and key in before[0]:
            ends = interval(samples[key] - before[1][key])
            row |= {
                "parent": _rounded(before[0][key]), "change": _rounded(score - before[0][key]),
                "change_low": _rounded(ends[0]), "change_high": _rounded(ends[1]),
            }  # fmt: skip
        results.append(row)
    return results


def set_gaps(db: Path, pool: Sequence[str], team_sets: Sequence[str], child: tuple[str, str]) -> list[dict[str, Any]]:
    """Return each score on the first team set minus that on others: {opponent, more_on, less_on, gap, low, high}."""
    shares, samples, _ = _shares(db, pool, team_sets, *child, seed=0)
    gaps = []
    for other in team_sets[1:]:
        for opponent in [*pool, ALL]:
            first_key, other_key = (opponent, team_sets[0]), (opponent, other)
            if first_key in shares and other_key in shares:
                low, high = interval(samples[first_key] - samples[other_key])
                gaps.append(
                    {
                        "opponent": opponent, "more_on": team_sets[0], "less_on": other,
                        "gap": _rounded(shares[first_key] - shares[other_key]), "low": _rounded(low), "high": _rounded(high),
                    }
                )  # fmt: skip
    return gaps


Key = tuple[str, str]


def _shares(
    db: Path, pool: Sequence[str], team_sets: Sequence[str], agent: str, run_id: str, *, seed: int
) -> tuple[dict[Key, float], dict[Key, Floats], dict[Key, int]]:
    """Return (opponent, team set) -> score, resampled scores [RESAMPLES], number of battles; with ALL for averages."""
    shares: dict[Key, float] = {}
    samples: dict[Key, Floats] = {}
    battles: dict[Key, int] = {}
    for place, name in enumerate(team_sets):
        evidence = gathered(db, [run_id], [name], [agent, *pool])
        mine, games = evidence.agents.index(agent), evidence.tables()[1]
        seen = win_rates(evidence)
        drawn = resampled_rates(evidence, RESAMPLES, np.random.default_rng((seed, place)))
        for opponent in pool:
            theirs = evidence.agents.index(opponent)
            if games[mine, theirs]:
                shares[opponent, name] = float(seen[mine, theirs])
                samples[opponent, name] = drawn[:, mine, theirs]
                battles[opponent, name] = int(games[mine, theirs])
    for opponent in pool:
        _average(shares, samples, battles, [(opponent, name) for name in team_sets], (opponent, ALL))
    for name in [*team_sets, ALL]:
        _average(shares, samples, battles, [(opponent, name) for opponent in pool], (ALL, name))
    return shares, samples, battles


def _average(
    shares: dict[Key, float], samples: dict[Key, Floats], battles: dict[Key, int], parts: list[Key], whole: Key
) -> None:
    there = [key for key in parts if key in shares]
    if there:
        shares[whole] = float(np.mean([shares[key] for key in there]))
        samples[whole] = np.mean([samples[key] for key in there], axis=0)
        battles[whole] = sum(battles[key] for key in there)


def _rounded(value: float) -> float:
    return round(value, 4)
