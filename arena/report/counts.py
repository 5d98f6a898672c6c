"""Counts for a report: SQL aggregations over the battles that count for a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from arena.store import rows

Z = 1.959964  # 95% of a normal distribution lie within


def rate(points: float, battles: int) -> dict[str, Any]:
    """Mean score and its 95% Wilson interval, battles taken singly: {"battles", "score", "low", "high"}.

    points: wins, ties as halves. Without battles the three numbers are None.
    """
    if battles == 0:
        return {"battles": 0, "score": None, "low": None, "high": None}
    share, z2 = points / battles, Z * Z
    middle = share + z2 / (2 * battles)
    reach = Z * (share * (1 - share) / battles + z2 / (4 * battles * battles)) ** 0.5
    scale = 1 + z2 / battles
    low, high = max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)
    return {"battles": battles, "score": round(share, 6), "low": round(low, 6), "high": round(high, 6)}


class Meeting(NamedTuple):
    """One agent against one opponent on one team set, over the battles that have a score."""

    agent: str
    opponent: str
    team_set: str
    battles: int
    wins: int
    losses: int
    points: float


class TeamUse(NamedTuple):
    """One agent with one team. packed: Showdown's text; None where Showdown drew the team."""

    agent: str
    team_set: str
    team_id: str
    team: str
    packed: str | None
    battles: int
    points: float


class Lead(NamedTuple):
    """How often an agent's team began with which of its members. place: from 1; None where there is no team preview."""

    agent: str
    packed: str | None
    place: int | None
    battles: int
    points: float


class Counts:
    """The counts of one run; every method gives format -> rows. Raises BadInput when the store cannot be asked."""

    def __init__(self, db: Path, run_id: str) -> None:
        self.db, self.run_id = db, run_id

    def meetings(self) -> dict[str, list[Meeting]]:
        found = self._ask(
            "SELECT format, agent, opponent, team_set, count(*), count(*) FILTER (score = 1), "
            "count(*) FILTER (score = 0), sum(score)::DOUBLE FROM mine WHERE score IS NOT NULL GROUP BY ALL ORDER BY ALL"
        )
        return _by_format((row[0], Meeting(*row[1:])) for row in found)

    def lengths(self) -> dict[str, list[tuple[str, int, int, float]]]:
        """(agent, turns, battles, points): how long the battles of each agent were, and what it won in them."""
        return self._grouped(
            "SELECT format, agent, turns, count(*), sum(score)::DOUBLE FROM mine WHERE score IS NOT NULL "
            "GROUP BY ALL ORDER BY ALL"
        )

    def teams(self) -> dict[str, list[TeamUse]]:
        found = self._ask(
            "SELECT m.format, agent, m.team_set, team_id, coalesce(any_value(t.name), team_id), any_value(t.packed), "
            "count(*), sum(score)::DOUBLE "
            "FROM mine m LEFT JOIN teams t USING (team_id) WHERE score IS NOT NULL "
            "GROUP BY m.format, agent, m.team_set, team_id ORDER BY ALL"
        )
        return _by_format((row[0], TeamUse(*row[1:])) for row in found)

    def moves(self) -> dict[str, list[tuple[str, str, int]]]:
        """(agent, move id, times chosen); without what Showdown calls a move where there is none to choose."""
        return self._grouped(
            "SELECT format, agent, split_part(choice, ' ', 2), count(*) FROM mine JOIN decisions USING (battle_id, seat) "
            "WHERE choice LIKE 'move %' AND choice NOT IN ('move fight', 'move recharge') GROUP BY ALL ORDER BY ALL"
        )

    def leads(self) -> dict[str, list[Lead]]:
        found = self._ask(
            "SELECT m.format, agent, any_value(t.packed), try_cast(substr(choice, 6, 1) AS INTEGER) AS place, count(*), "
            "sum(score)::DOUBLE FROM mine m LEFT JOIN teams t USING (team_id) "
            "LEFT JOIN (FROM decisions WHERE index = 0 AND choice LIKE 'team %') USING (battle_id, seat) "
            "WHERE score IS NOT NULL GROUP BY m.format, agent, team_id, place ORDER BY m.format, agent, team_id, place"
        )
        return _by_format((row[0], Lead(*row[1:])) for row in found)

    def think(self) -> dict[str, list[tuple[str, int, float, float, float]]]:
        """(agent, decisions, median, 95th percentile, longest), the times in milliseconds; the slowest agent first."""
        return self._grouped(
            "SELECT format, agent, decisions, times[1] AS median, times[2], longest FROM ("
            "SELECT format, agent, count(*) AS decisions, quantile_cont(think_ms, [0.5, 0.95]) AS times, "
            "max(think_ms) AS longest FROM mine JOIN decisions USING (battle_id, seat) GROUP BY format, agent"
            ") ORDER BY format, median DESC, agent"
        )

    def faults(self) -> dict[str, list[tuple[str, str, int, int, str | None]]]:
        """(agent, kind, battles, an example's battle id, its words); most first. `venue`, `nobody`: no agent's."""
        return self._grouped(
            "SELECT format, agent, reason, count(*), min(battle_id), arg_min(coalesce(detail, ''), battle_id) "
            "FROM faults SEMI JOIN mine USING (battle_id) "
            "GROUP BY format, agent, reason ORDER BY format, 4 DESC, agent, reason"
        )

    def sources(self) -> list[tuple[str, int, int]]:
        """(run, battles, aborted): where the battles that count come from, this run first."""
        return self._ask(
            "SELECT run_id, count(*), count(*) FILTER (reason = 'aborted') FROM mine WHERE seat = 'p1' "
            "GROUP BY run_id, for_run ORDER BY run_id <> for_run, run_id"
        )

    def _grouped(self, query: str) -> dict[str, list[tuple[Any, ...]]]:
        return _by_format((row[0], row[1:]) for row in self._ask(query))

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        mine = "WITH mine AS (SELECT * FROM evidence_results WHERE for_run = ?) "
        return rows(mine + query, self.db, [self.run_id])


def _by_format(found: Iterable[tuple[str, Any]]) -> dict[str, list[Any]]:
    groups: dict[str, list[Any]] = defaultdict(list)
    for format_id, row in found:
        groups[format_id].append(row)
    return groups
