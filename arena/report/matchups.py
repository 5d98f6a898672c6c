"""What beats an agent: its win rates by opponent, by what is in the opponent's team, by its lead, by length, by team set."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from arena.ratings.clusters import group_p_values, independent_battles, shrunk_rate
from arena.report.counts import counted_rate
from arena.report.seat_battles import FEW_PAIRS, GROUPS, SeatBattle, chosen_format, likeness, matching, seat_battles
from arena.report.summary_types import CountedWinRate
from teamsets.errors import BadInput

#: The false discovery rate at which a group's win rate counts as different.
_LEVEL = 0.05


class MatchupRow(CountedWinRate):
    """The battles of one group. pairs: that they belong to; few: fewer than FEW_PAIRS. rest: the win rate in all other
    battles. clear: the two differ, at a false discovery rate of 5%."""

    group: str
    pairs: int
    few: bool
    rest: float | None
    clear: bool


class Matchups(TypedDict):
    """left_out: how many groups have too few battles."""

    agent: str
    format: str
    by: str
    battles: int
    score: float
    rows: list[MatchupRow]
    left_out: int


def matchups(
    db: Path,
    agent: str,
    format_id: str | None,
    by: str,
    *,
    against: Sequence[str] = (),
    least: int = 10,
    run: str | None = None,
) -> Matchups:
    """Win rates of an agent over the stored battles of a format, worst first. by: a key of GROUPS.

    format_id: None where it has battles in one format only. against: only these opponents, as names or patterns. least:
    battles of a group, below which it is left out. run: only battles that count for this run.
    Raises BadInput for an agent or opponent without battles.
    """
    chosen = chosen_format(db, format_id, agent, run)
    battles = seat_battles(db, chosen, agent=agent, run=run)
    opponents = matching(against, (battle.opponent for battle in battles))
    battles = [battle for battle in battles if battle.opponent in opponents]
    groups: dict[str, list[int]] = defaultdict(list)
    for place, battle in enumerate(battles):
        for group in GROUPS[by](battle):
            groups[group].append(place)
    kept = {group: places for group, places in sorted(groups.items()) if len(places) >= least}
    if not kept:
        raise BadInput(
            f"agent '{agent}': by {by} no group has {least} of its {len(battles)} battles: lower --min-battles"
        )
    table = matchup_rows(battles, kept)
    table.sort(key=lambda row: (row["score"], row["group"]))
    score = sum(battle.score for battle in battles) / len(battles)
    return {
        "agent": agent,
        "format": chosen,
        "by": by,
        "battles": len(battles),
        "score": score,
        "rows": table,
        "left_out": len(groups) - len(kept),
    }


def matchup_rows(battles: Sequence[SeatBattle], groups: dict[str, list[int]]) -> list[MatchupRow]:
    """The groups' rows. battles: all of one agent; groups: name -> places in them."""
    scores = np.array([battle.score for battle in battles])
    numbers: dict[tuple[str, str, str], int] = {}
    clusters = np.array([numbers.setdefault(battle.cluster, len(numbers)) for battle in battles])
    alike = likeness(battles)
    members = np.zeros((len(battles), len(groups)), dtype=bool)
    for column, places in enumerate(groups.values()):
        members[places, column] = True
    table = [_row(group, scores, clusters, inside, alike) for group, inside in zip(groups, members.T, strict=True)]
    tested = [column for column, row in enumerate(table) if row["rest"] is not None]
    for column in _differing(scores, clusters, members[:, tested]):
        table[tested[column]]["clear"] = True
    return table


def _row(group: str, scores: NDArray[Any], clusters: NDArray[Any], inside: NDArray[Any], alike: float) -> MatchupRow:
    """The group's row, not tested yet. scores, clusters, inside [n]: of all battles."""
    mine = scores[inside]
    sizes = np.array(list(Counter(clusters[inside].tolist()).values()))
    points, number = float(mine.sum()), len(mine)
    independent = float(independent_battles(number, (sizes**2).sum(), shrunk_rate(points, number), alike))
    others = scores[~inside]
    wins, losses = int((mine == 1).sum()), int((mine == 0).sum())
    return {
        **counted_rate(points, number, wins, losses, independent=independent),
        "group": group,
        "pairs": len(sizes),
        "few": len(sizes) < FEW_PAIRS,
        "rest": round(float(others.mean()), 6) if len(others) else None,
        "clear": False,
    }


def _differing(scores: NDArray[Any], clusters: NDArray[Any], members: NDArray[Any]) -> list[int]:
    """The columns of members [n, G] whose battles go unlike all others: a permutation of pairs, Benjamini-Hochberg."""
    from scipy.stats import false_discovery_control  # it takes longer to import than all the rest here

    if not members.shape[1]:
        return []
    adjusted = false_discovery_control(group_p_values(scores, clusters, members))
    return [column for column, p in enumerate(adjusted) if p < _LEVEL]
