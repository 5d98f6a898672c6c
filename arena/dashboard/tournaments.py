"""What the dashboard shows of runs of battles: the list of runs, and one run's ranking, pairings, speed and faults."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, TypedDict

import duckdb
import orjson

from arena.ratings.interim import standings
from arena.report.counts import rate
from arena.report.summary import NOBODY

#: So many runs are listed, the latest first.
RUNS = 60
#: The speed of a run over time has at most so many points, each at least so many seconds long.
BUCKETS, SHORTEST_BUCKET = 60, 2.0
FAULTS = 30


class ListedRun(TypedDict):
    """A run in the list of runs."""

    id: str
    kind: str
    status: str
    #: Unix times.
    started: float
    ended: float | None
    battles: int
    #: None where the schedule has no fixed number of battles.
    planned: int | None
    #: How many.
    agents: int
    formats: list[str]


class ShownFormat(TypedDict):
    """A format of the run that a page shows."""

    format: str
    #: `InterimStanding` as a dict, and `faults`: how many battles the agent lost by a failure of its own.
    ranking: list[dict[str, Any]]
    #: [agent, opponent, battles, score, low, high]
    pairings: list[list[Any]]


class ShownFault(TypedDict):
    agent: str
    reason: str
    battles: int
    #: The id of an example, and its detail.
    battle: int
    detail: str
    at_fault: bool


class Speed(TypedDict):
    """Battles/s over the time of a run, with 0 where no battle ended."""

    #: Unix time, and seconds for each number.
    first: float
    width: float
    battles_per_s: list[float]


class ShownRun(TypedDict):
    """The run that a page shows."""

    id: str
    settings: dict[str, Any]
    formats: list[ShownFormat]
    #: None before the first battle.
    speed: Speed | None
    faults: list[ShownFault]
    #: The highest id of its battles.
    latest: int | None


_RUNS = """
    SELECT r.run_id, r.kind, r.status, epoch(r.started), epoch(r.ended), r.config, coalesce(b.battles, 0)
    FROM runs r LEFT JOIN (SELECT run_id, count(*) AS battles FROM battles GROUP BY run_id) b USING (run_id)
    ORDER BY r.started DESC, r.run_id DESC LIMIT ?
"""
_MEETINGS = """
    SELECT format, agent, opponent, sum(score)::DOUBLE, count(score) FROM counted_results
    WHERE for_run = ? AND score IS NOT NULL GROUP BY ALL ORDER BY ALL
"""
_FAULTS = """
    SELECT agent, reason, count(*), max(battle_id), arg_max(coalesce(detail, ''), battle_id) FROM faults
    WHERE run_id = ? GROUP BY ALL ORDER BY count(*) DESC, agent, reason LIMIT ?
"""
_SPEED = """
    WITH ends AS (SELECT epoch(started) + seconds AS ended FROM battles WHERE run_id = $1),
    span AS (SELECT min(ended) AS first, greatest((max(ended) - min(ended)) / $2, $3) AS width FROM ends)
    SELECT floor((ended - first) / width)::INTEGER AS bucket, count(*), any_value(width), any_value(first)
    FROM ends, span GROUP BY bucket ORDER BY bucket
"""
_BATTLES = """
    SELECT battle_id, format, team_set, p1, p2, winner, reason, fault, turns FROM battles
    WHERE run_id = $run AND battle_id < $before AND ($agent = '' OR p1 = $agent OR p2 = $agent)
        AND (NOT $failed OR reason NOT IN ('win', 'tie'))
    ORDER BY battle_id DESC LIMIT $count
"""


def runs(connection: duckdb.DuckDBPyConnection, status_of: dict[str, str]) -> list[ListedRun]:
    """The latest runs. status_of: run -> what it is, where the table `runs` cannot know (a run that was killed)."""
    listed: list[ListedRun] = []
    for run_id, kind, status, started, ended, config_text, battles in connection.execute(_RUNS, [RUNS]).fetchall():
        config = orjson.loads(config_text)
        listed.append(
            {
                "id": run_id,
                "kind": kind,
                "status": status_of.get(run_id, "killed") if status == "running" else status,
                "started": started,
                "ended": ended,
                "battles": battles,
                "planned": config.get("planned"),
                "agents": len(config.get("agents", [])),
                "formats": config.get("formats", []),
            }
        )
    return listed


def describe(connection: duckdb.DuckDBPyConnection, run_id: str) -> ShownRun | None:
    """One run as the page draws it; None where there is no such run."""
    row = connection.execute("SELECT config FROM runs WHERE run_id = ?", [run_id]).fetchone()
    if row is None:
        return None
    config = orjson.loads(row[0])
    faults = connection.execute(_FAULTS, [run_id, FAULTS]).fetchall()
    latest = connection.execute("SELECT max(battle_id) FROM battles WHERE run_id = ?", [run_id]).fetchone()
    return {
        "id": run_id,
        "settings": {key: config.get(key) for key in ("schedule", "team_sets", "venue", "anchor", "minutes", "seed")},
        "formats": _formats(connection.execute(_MEETINGS, [run_id]).fetchall(), config.get("anchor") or "", faults),
        "speed": _speed(connection.execute(_SPEED, [run_id, BUCKETS, SHORTEST_BUCKET]).fetchall()),
        "faults": [
            {
                "agent": agent,
                "reason": reason,
                "battles": count,
                "battle": example,
                "detail": detail,
                "at_fault": agent not in NOBODY,
            }
            for agent, reason, count, example, detail in faults
        ],
        "latest": latest[0] if latest else None,
    }


def _formats(
    meetings: Iterable[tuple[str, str, str, float, int]], anchor: str, faults: Iterable[tuple[Any, ...]]
) -> list[ShownFormat]:
    """Each format's interim ranking (its intervals: see `standings`) and the score of every pairing."""
    by_format: dict[str, dict[tuple[str, str], tuple[float, int]]] = defaultdict(dict)
    for format_id, agent, opponent, points, battles in meetings:
        by_format[format_id][agent, opponent] = (points, battles)
    failed: dict[str, int] = defaultdict(int)
    for agent, _, battles, *_ in faults:
        failed[agent] += battles
    shown: list[ShownFormat] = []
    for format_id, pairs in sorted(by_format.items()):
        order = standings({pair: points for pair, (points, _) in pairs.items() if pair[0] != pair[1]}, anchor)
        shown.append(
            {
                "format": format_id,
                "ranking": [{**vars(each), "faults": failed.get(each.agent, 0)} for each in order],
                "pairings": [
                    [agent, opponent, *(rate(points, battles)[key] for key in ("battles", "score", "low", "high"))]
                    for (agent, opponent), (points, battles) in pairs.items()
                ],
            }
        )
    return shown


def _speed(buckets: list[tuple[int, int, float, float]]) -> Speed | None:
    """None before the first battle."""
    if not buckets:
        return None
    width, first = buckets[0][2], buckets[0][3]
    counts = [0] * (buckets[-1][0] + 1)
    for bucket, battles, *_ in buckets:
        counts[bucket] = battles
    # The last bucket is not full yet: it would show a run that slows down.
    shown = counts[:-1] if len(counts) > 1 else counts
    return {"first": first, "width": width, "battles_per_s": [round(count / width, 2) for count in shown]}


def battles(
    connection: duckdb.DuckDBPyConnection, run_id: str, *, agent: str, failed: bool, before: int, count: int
) -> list[list[Any]]:
    """The latest battles of a run with ids below `before`: [id, format, team set, p1, p2, winner, reason, fault, turns].

    agent: only its battles; "" for all. failed: only those in which something failed.
    """
    wanted = {"run": run_id, "agent": agent, "failed": failed, "before": before, "count": count}
    return [list(row) for row in connection.execute(_BATTLES, wanted).fetchall()]
