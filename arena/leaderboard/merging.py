"""All battles of several databases that count for a leaderboard: each once, by the newest version of each agent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from arena.ratings.evidence import Evidence, make_evidence
from arena.store import rows
from teamsets.errors import BadInput


class CountedBattle(NamedTuple):
    """A battle with a score. p1, p2: agents; score: of p1. session: the run that played it, with its database."""

    key: str
    pair: str
    format: str
    team_set: str
    p1: str
    p2: str
    score: float
    started: datetime
    p1_version: str
    p2_version: str
    session: tuple[str, str]


#: Visitors and people of a ladder are in no table of agents: they have no version, and are left out.
_QUERY = """
    SELECT b.key, b.pair, b.format, b.team_set, b.p1, b.p2, r.score::DOUBLE, b.started,
        a.fingerprint, o.fingerprint, b.run_id
    FROM battles b JOIN results r ON r.battle_id = b.battle_id AND r.seat = 'p1'
    JOIN agents a ON a.run_id = b.run_id AND a.agent = b.p1 JOIN agents o ON o.run_id = b.run_id AND o.agent = b.p2
    WHERE r.score IS NOT NULL AND b.p1 <> b.p2 ORDER BY b.started, b.battle_id
"""


@dataclass
class MergedBattles:
    """battles: in the order in which they were played. doubled, outdated, few: left out, because the same battle is there
    already, of a former version of an agent, and of agents with too few battles. descriptions: of agents."""

    battles: list[CountedBattle]
    databases: list[str]
    doubled: int = 0
    outdated: int = 0
    few: dict[str, list[str]] = field(default_factory=dict)
    descriptions: dict[str, str | None] = field(default_factory=dict)

    def formats(self) -> list[str]:
        return sorted({battle.format for battle in self.battles})

    def of(self, format_id: str) -> list[CountedBattle]:
        return [battle for battle in self.battles if battle.format == format_id]


def merged_battles(databases: Sequence[Path], least: int) -> MergedBattles:
    """Read the battles of the databases. least: an agent with fewer battles in a format is left out of it.

    Raises BadInput if nothing is left.
    """
    merged = MergedBattles([], [str(db) for db in databases])
    everything: list[CountedBattle] = []
    for db in databases:
        for *columns, run_id in rows(_QUERY, db):
            everything.append(CountedBattle._make([*columns, (str(db), run_id)]))
        merged.descriptions |= dict(rows("SELECT agent, max(about) FROM agents GROUP BY agent", db))
    everything.sort(key=lambda battle: (battle.started, battle.key))
    newest: dict[str, str] = {}
    for battle in everything:
        newest[battle.p1], newest[battle.p2] = battle.p1_version, battle.p2_version
    seen: set[tuple[str, ...]] = set()
    for battle in everything:
        same = (battle.format, battle.key, battle.p1, battle.p2, battle.p1_version, battle.p2_version)
        if (newest[battle.p1], newest[battle.p2]) != (battle.p1_version, battle.p2_version):
            merged.outdated += 1
        elif same in seen:
            merged.doubled += 1
        else:
            seen.add(same)
            merged.battles.append(battle)
    _leave_out_few(merged, least)
    if not merged.battles:
        raise BadInput(
            f"{', '.join(merged.databases)}: no agent has {least} battles in a format: play some with `arena evaluate`, or "
            "lower --min-battles"
        )
    return merged


def _leave_out_few(merged: MergedBattles, least: int) -> None:
    """Leave out agents with few battles, again and again: each takes battles from others."""
    while True:
        counts: dict[tuple[str, str], int] = defaultdict(int)
        for battle in merged.battles:
            counts[battle.format, battle.p1] += 1
            counts[battle.format, battle.p2] += 1
        few = {place for place, count in counts.items() if count < least}
        if not few:
            return
        for format_id, agent in sorted(few):
            merged.few.setdefault(format_id, []).append(agent)
        merged.battles = [
            battle for battle in merged.battles if not {(battle.format, battle.p1), (battle.format, battle.p2)} & few
        ]


def evidence_of(battles: Iterable[CountedBattle]) -> Evidence:
    """The battles of one format as pairs, the unit of evidence."""
    pairs: dict[tuple[str, str, str, str], list[float]] = defaultdict(list)
    for battle in battles:
        first, second = sorted((battle.p1, battle.p2))
        score = battle.score if first == battle.p1 else 1 - battle.score
        pairs[battle.pair, battle.team_set, first, second].append(score)
    return make_evidence(
        [(first, second, sum(scores), len(scores), team_set) for (_, team_set, first, second), scores in pairs.items()]
    )
