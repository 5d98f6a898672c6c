"""What beats an agent: its win rates by opponent, by what is in the opponent's team, by its lead, by length, by team set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypedDict

import numpy as np

from arena.report.counts import counted_rate
from arena.report.profiles import species
from arena.report.summary_types import CountedWinRate
from arena.store import rows
from teamsets.errors import BadInput

#: The false discovery rate at which a group's win rate counts as different.
_LEVEL = 0.05
#: Lengths in turns: up to and including these, and longer.
_LENGTHS = (10, 20, 30, 50, 100)
_QUERY = """
    SELECT r.opponent, r.team_set, t.packed, try_cast(substr(d.choice, 6, 1) AS INTEGER), r.turns, r.score::DOUBLE
    FROM results r LEFT JOIN teams t ON t.team_id = r.opponent_team_id
    LEFT JOIN (SELECT battle_id, seat, choice FROM decisions WHERE index = 0 AND choice LIKE 'team %') d
        ON d.battle_id = r.battle_id AND d.seat <> r.seat
    WHERE r.agent = ? AND r.format = ? AND r.score IS NOT NULL
"""


class Battle(NamedTuple):
    """A battle of the agent. lead: place of the opponent's lead by its choice at team preview, from 1; None without one."""

    opponent: str
    team_set: str
    packed: str | None
    lead: int | None
    turns: int
    score: float


class MatchupRow(CountedWinRate):
    """The battles of one group. clear: its win rate differs from that of all others, at a false discovery rate of 5%."""

    group: str
    rest: float | None
    clear: bool


class Matchups(TypedDict):
    agent: str
    format: str
    by: str
    battles: int
    score: float
    rows: list[MatchupRow]


def _length(battle: Battle) -> list[str]:
    low = 1
    for high in _LENGTHS:
        if battle.turns <= high:
            return [f"{low}-{high} turns"]
        low = high + 1
    return [f"{low} or more turns"]


def _lead(battle: Battle) -> list[str]:
    members = species(battle.packed)
    return members[(battle.lead or 1) - 1 : battle.lead or 1]


#: What battles are grouped by -> the groups of a battle.
GROUPS: dict[str, Callable[[Battle], list[str]]] = {
    "opponent": lambda battle: [battle.opponent],
    "species": lambda battle: list(dict.fromkeys(species(battle.packed))),
    "lead": _lead,
    "length": _length,
    "team-set": lambda battle: [battle.team_set],
}


def matchups(
    db: Path, agent: str, format_id: str | None, by: str, *, against: Sequence[str] = (), least: int = 10
) -> Matchups:
    """Win rates of an agent over all stored battles of a format, worst first. by: a key of GROUPS.

    format_id: None where it has battles in one format only. against: only these opponents. least: battles of a group, below
    which it is left out. Raises BadInput for an agent or opponent without battles.
    """
    formats = [name for (name,) in rows("SELECT DISTINCT format FROM results WHERE agent = ? ORDER BY 1", db, [agent])]
    if not formats:
        raise BadInput(
            f"agent '{agent}': has no battles in {db}: `arena sql \"SELECT DISTINCT agent FROM results\"` lists agents"
        )
    if format_id is None and len(formats) > 1:
        raise BadInput(f"agent '{agent}': has battles in {', '.join(formats)}: choose one with --format")
    chosen = format_id or formats[0]
    battles = [Battle(*row) for row in rows(_QUERY, db, [agent, chosen])]
    battles = [battle for battle in battles if not against or battle.opponent in against]
    if not battles:
        raise BadInput(f"agent '{agent}': has no such battles in {chosen}; formats: {', '.join(formats)}")
    scores: dict[str, list[float]] = defaultdict(list)
    for battle in battles:
        for group in GROUPS[by](battle):
            scores[group].append(battle.score)
    kept = {group: each for group, each in sorted(scores.items()) if len(each) >= least}
    if not kept:
        raise BadInput(
            f"agent '{agent}': by {by} no group has {least} of its {len(battles)} battles: lower --min-battles"
        )
    whole = [battle.score for battle in battles]
    found = [_row(group, each, whole) for group, each in kept.items()]
    clear = _clear(found, whole)
    table: list[MatchupRow] = [{**row, "clear": row["group"] in clear} for row in found]
    table.sort(key=lambda row: (row["score"], row["group"]))
    score = sum(whole) / len(whole)
    return {"agent": agent, "format": chosen, "by": by, "battles": len(whole), "score": score, "rows": table}


def _row(group: str, scores: list[float], whole: list[float]) -> MatchupRow:
    """The group's row, not tested yet. whole: the scores of all battles."""
    others = len(whole) - len(scores)
    return {
        **counted_rate(sum(scores), len(scores), scores.count(1.0), scores.count(0.0)),
        "group": group,
        "rest": round((sum(whole) - sum(scores)) / others, 6) if others else None,
        "clear": False,
    }


def _clear(found: Sequence[MatchupRow], whole: list[float]) -> set[str]:
    """The groups whose win rate differs from that of all other battles: Fisher's exact test without ties,
    Benjamini-Hochberg over the groups."""
    from scipy.stats import false_discovery_control, fisher_exact  # it takes longer to import than all the rest here

    wins, losses = whole.count(1.0), whole.count(0.0)
    tested = [row for row in found if row["rest"] is not None]
    tables = [[[row["wins"], row["losses"]], [wins - row["wins"], losses - row["losses"]]] for row in tested]
    p_values = [float(fisher_exact(np.array(each)).pvalue) for each in tables]
    if not p_values:
        return set()
    return {row["group"] for row, p in zip(tested, false_discovery_control(p_values), strict=True) if p < _LEVEL}
