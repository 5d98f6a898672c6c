"""ReportCounts for a report: SQL aggregations over the battles that count for a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from arena.report.summary_types import CountedWinRate, WinRate
from arena.store import rows

Row = TypeVar("Row")
Z = 1.959964  # 95% of a normal distribution lie within


def rate(points: float, battles: int, *, independent: float | None = None) -> WinRate:
    """Mean score of one or more battles and its 95% Wilson interval. points: wins, ties as halves.

    independent: the number of independent battles that tell as much; without it battles are taken singly.
    """
    share, z2, number = points / battles, Z * Z, battles if independent is None else independent
    middle = share + z2 / (2 * number)
    reach = Z * (share * (1 - share) / number + z2 / (4 * number * number)) ** 0.5
    scale = 1 + z2 / number
    low, high = max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)
    return {"battles": battles, "score": round(share, 6), "low": round(low, 6), "high": round(high, 6)}


def counted_rate(
    points: float, battles: int, wins: int, losses: int, *, independent: float | None = None
) -> CountedWinRate:
    """As `rate`, with the counts; what is neither won nor lost is a tie."""
    return {
        **rate(points, battles, independent=independent),
        "wins": wins,
        "losses": losses,
        "ties": battles - wins - losses,
    }


class PairingCount(NamedTuple):
    """One agent against one opponent on one team set, over the results that have a score: battles, or whole series."""

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


class LengthCount(NamedTuple):
    """The battles of one agent with a number of turns, and its points in them."""

    agent: str
    turns: int
    battles: int
    points: float


class MoveCount(NamedTuple):
    """How often one agent chose a move."""

    agent: str
    move: str
    times: int


class LeadCount(NamedTuple):
    """How often an agent's team began with which of its members. place: from 1; None where there is no team preview."""

    agent: str
    packed: str | None
    place: int | None
    battles: int
    points: float


class ThinkTimeRow(NamedTuple):
    """One agent's time per decision: median, 95th percentile and maximum, in milliseconds."""

    agent: str
    decisions: int
    median_ms: float
    p95_ms: float
    max_ms: float


class SeriesCount(NamedTuple):
    """How many series of one agent against one opponent ended alike. outcome: win, loss, tie, unfinished."""

    agent: str
    opponent: str
    best_of: int
    outcome: str
    wins: int
    losses: int
    ties: int
    series: int


class FaultCount(NamedTuple):
    """The battles of one agent with one kind of fault, and an example. agent: `venue` and `nobody` where no agent failed."""

    agent: str
    kind: str
    battles: int
    example_id: int
    example_detail: str


class SourceOfBattles(NamedTuple):
    """A run whose battles count, and how many of them were aborted."""

    run_id: str
    battles: int
    aborted: int


@dataclass(frozen=True)
class FormatCounts:
    """The counts of one format. think: the slowest agent first; faults: the most frequent first."""

    meetings: list[PairingCount]
    lengths: list[LengthCount]
    teams: list[TeamUse]
    moves: list[MoveCount]
    leads: list[LeadCount]
    think: list[ThinkTimeRow]
    faults: list[FaultCount]
    series: list[SeriesCount]


class ReportCounts:
    """The counts of one run; most methods return format -> rows. Raises BadInput when the store cannot be read."""

    def __init__(self, db: Path, run_id: str) -> None:
        self.db, self.run_id = db, run_id

    def of_formats(self) -> dict[str, FormatCounts]:
        """All counts, of the formats in which a battle has a score."""
        meetings, lengths, teams, moves = self.meetings(), self.lengths(), self.teams(), self.moves()
        leads, think, faults, series = self.leads(), self.think(), self.faults(), self.series()
        return {
            name: FormatCounts(
                meetings=meetings[name],
                lengths=lengths[name],
                teams=teams[name],
                moves=moves.get(name, []),
                leads=leads.get(name, []),
                think=think.get(name, []),
                faults=faults.get(name, []),
                series=series.get(name, []),
            )
            for name in sorted(meetings)
        }

    def meetings(self) -> dict[str, list[PairingCount]]:
        return self._by_format(
            PairingCount,
            "SELECT format, agent, opponent, team_set, count(*), count(*) FILTER (score = 1), "
            "count(*) FILTER (score = 0), sum(score)::DOUBLE FROM counted WHERE score IS NOT NULL GROUP BY ALL ORDER BY ALL",
        )

    def series(self) -> dict[str, list[SeriesCount]]:
        return self._by_format(
            SeriesCount,
            "SELECT format, agent, opponent, best_of, outcome, wins, losses, ties, count(*) FROM series_results "
            "WHERE for_run = $1 GROUP BY ALL ORDER BY ALL",
        )

    def lengths(self) -> dict[str, list[LengthCount]]:
        return self._by_format(
            LengthCount,
            "SELECT format, agent, turns, count(*), sum(score)::DOUBLE FROM mine WHERE score IS NOT NULL "
            "GROUP BY ALL ORDER BY ALL",
        )

    def teams(self) -> dict[str, list[TeamUse]]:
        return self._by_format(
            TeamUse,
            "SELECT m.format, agent, m.team_set, team_id, coalesce(any_value(t.name), team_id), any_value(t.packed), "
            "count(*), sum(score)::DOUBLE "
            "FROM counted m LEFT JOIN teams t USING (team_id) WHERE score IS NOT NULL "
            "GROUP BY m.format, agent, m.team_set, team_id ORDER BY ALL",
        )

    def moves(self) -> dict[str, list[MoveCount]]:
        """Without what Showdown calls a move where there is none to choose."""
        return self._by_format(
            MoveCount,
            "SELECT format, agent, split_part(choice, ' ', 2), count(*) FROM mine JOIN decisions USING (battle_id, seat) "
            "WHERE choice LIKE 'move %' AND choice NOT IN ('move fight', 'move recharge') GROUP BY ALL ORDER BY ALL",
        )

    def leads(self) -> dict[str, list[LeadCount]]:
        return self._by_format(
            LeadCount,
            "SELECT m.format, agent, any_value(t.packed), try_cast(substr(choice, 6, 1) AS INTEGER) AS place, count(*), "
            "sum(score)::DOUBLE FROM mine m LEFT JOIN teams t USING (team_id) "
            "LEFT JOIN (FROM decisions WHERE index = 0 AND choice LIKE 'team %') USING (battle_id, seat) "
            "WHERE score IS NOT NULL GROUP BY m.format, agent, team_id, place ORDER BY m.format, agent, team_id, place",
        )

    def think(self) -> dict[str, list[ThinkTimeRow]]:
        return self._by_format(
            ThinkTimeRow,
            "SELECT format, agent, decisions, times[1] AS median, times[2], longest FROM ("
            "SELECT format, agent, count(*) AS decisions, quantile_cont(think_ms, [0.5, 0.95]) AS times, "
            "max(think_ms) AS longest FROM mine JOIN decisions USING (battle_id, seat) GROUP BY format, agent"
            ") ORDER BY format, median DESC, agent",
        )

    def faults(self) -> dict[str, list[FaultCount]]:
        return self._by_format(
            FaultCount,
            "SELECT format, agent, reason, count(*), min(battle_id), arg_min(coalesce(detail, ''), battle_id) "
            "FROM faults SEMI JOIN mine USING (battle_id) "
            "GROUP BY format, agent, reason ORDER BY format, 4 DESC, agent, reason",
        )

    def sources(self) -> list[SourceOfBattles]:
        """Where the battles that count come from, this run first."""
        sources = self._query(
            "SELECT run_id, count(*), count(*) FILTER (reason = 'aborted') FROM mine WHERE seat = 'p1' "
            "GROUP BY run_id, for_run ORDER BY run_id <> for_run, run_id"
        )
        return [SourceOfBattles(*row) for row in sources]

    def _by_format(self, make: Callable[..., Row], query: str) -> dict[str, list[Row]]:
        """format -> the rows of a query, of which the first column is the format."""
        groups: dict[str, list[Row]] = defaultdict(list)
        for format_id, *row in self._query(query):
            groups[format_id].append(make(*row))
        return groups

    def _query(self, query: str) -> list[tuple[Any, ...]]:
        mine = (
            "WITH mine AS (SELECT * FROM evidence_results WHERE for_run = $1), "
            "counted AS (SELECT * FROM counted_results WHERE for_run = $1) "
        )
        return rows(mine + query, self.db, [self.run_id])
