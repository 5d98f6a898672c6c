"""A stored curriculum: every attempt with its checkpoint, rating, gates and costs. Plain values, for JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypedDict

from arena.store import rows
from teamsets.errors import BadInput

#: In an evaluation: all opponents, or all team sets, each counted alike.
ALL = "all"
#: How the name of a final test begins in the table `gates`.
FINAL_TEST = "verdict: against"


class LineageGate(TypedDict):
    """A gate of an attempt, or a final test. passed, summary: None while it is played."""

    gate: str
    run: str
    passed: bool | None
    summary: str | None


class AttemptCosts(TypedDict):
    """Over all phases and sessions of an attempt."""

    seconds: float
    battles: int
    decisions: int
    steps: int


class LineageAttempt(TypedDict):
    """An attempt at a stage and its checkpoint; the base is attempt 0 of stage 0, and has no parent.

    status: running, kept, rejected. elo, low, high: the rating with its 95% interval, None before it is measured.
    details: of a checkpoint that was kept, `team_sets`, `shares` (opponent, team_set, battles, score, low, high, parent,
    change, change_low, change_high) and `gaps` (opponent, more_on, less_on, gap, low, high), in shares of 1.
    """

    stage: int
    attempt: int
    name: str
    status: str
    parent: str | None
    checkpoint: str | None
    elo: float | None
    low: float | None
    high: float | None
    details: dict[str, Any] | None
    gates: list[LineageGate]
    spent: AttemptCosts | None


class Lineage(TypedDict):
    """A curriculum. anchor: rated 1000. stages: how many it has. ended: None while it goes on. attempts: the base first."""

    name: str
    folder: str
    base: str
    anchor: str
    stages: int
    started: str
    ended: str | None
    attempts: list[LineageAttempt]


def curricula(db: Path) -> list[str]:
    """The names of all curricula in the database, by when they began."""
    if not _has_tables(db):
        return []
    return [name for (name,) in rows("SELECT curriculum FROM curricula ORDER BY started, curriculum", db)]


def curriculum_of(db: Path, run_id: str) -> str | None:
    """The curriculum that a run was played for: in a stage, a gate or an evaluation."""
    if not _has_tables(db):
        return None
    owner = rows(
        "SELECT curriculum FROM stages WHERE play_run = $1 UNION SELECT curriculum FROM gates WHERE run_id = $1 "
        "UNION SELECT curriculum FROM checkpoints WHERE run_id = $1",
        db,
        [run_id],
    )
    return owner[0][0] if owner else None


def _has_tables(db: Path) -> bool:
    """Whether the database has been opened for writing since training was installed."""
    return bool(rows("SELECT 1 FROM duckdb_tables() WHERE table_name = 'curricula'", db))


def lineage(db: Path, name: str) -> Lineage:
    """All that is known of a curriculum, also while it goes on. Raises BadInput where there is none of that name."""
    known = curricula(db)
    if name not in known:
        raise BadInput(f"database {db}: no curriculum '{name}'; known are {', '.join(known) or 'none'}")
    stored = rows("SELECT folder, base, config, started, ended FROM curricula WHERE curriculum = ?", db, [name])
    folder, base, config, started, ended = stored[0]
    settings = json.loads(config)
    return {
        "name": name,
        "folder": folder,
        "base": base,
        "anchor": settings["pool"]["anchor"],
        "stages": len(settings["stages"]),
        "started": started.isoformat(timespec="seconds"),
        "ended": None if ended is None else ended.isoformat(timespec="seconds"),
        "attempts": _attempts(db, name, base),
    }


def _attempts(db: Path, name: str, base: str) -> list[LineageAttempt]:
    checkpoints = {
        row[0]: row[1:]
        for row in rows("SELECT checkpoint, elo, low, high, details FROM checkpoints WHERE curriculum = ?", db, [name])
    }
    gates: dict[tuple[int, int], list[LineageGate]] = {}
    for stage, attempt, gate, run, passed, summary in rows(
        "SELECT stage, attempt, gate, run_id, passed, summary FROM gates WHERE curriculum = ? ORDER BY ALL", db, [name]
    ):
        gates.setdefault((stage, attempt), []).append({"gate": gate, "run": run, "passed": passed, "summary": summary})
    spent = _costs(db, name)
    begun = rows(
        "SELECT stage, attempt, name, status, parent, checkpoint FROM stages WHERE curriculum = ? ORDER BY 1, 2",
        db,
        [name],
    )
    attempts: list[LineageAttempt] = []
    for stage, attempt, stage_name, status, parent, checkpoint in [(0, 0, "base", "kept", None, base), *begun]:
        elo, low, high, details = checkpoints.get(checkpoint, (None, None, None, None))
        attempts.append(
            {
                "stage": stage,
                "attempt": attempt,
                "name": stage_name,
                "status": status,
                "parent": parent,
                "checkpoint": checkpoint,
                "elo": elo,
                "low": low,
                "high": high,
                "details": None if details is None else json.loads(details),
                "gates": gates.get((stage, attempt), []),
                "spent": spent.get((stage, attempt)),
            }
        )
    return attempts


def _costs(db: Path, name: str) -> dict[tuple[int, int], AttemptCosts]:
    costs = rows(
        "SELECT stage, attempt, sum(seconds), sum(battles), sum(decisions), sum(steps) FROM ("
        "SELECT stage, attempt, phase, sum(seconds) AS seconds, max(battles) AS battles, max(decisions) AS decisions, "
        "max(steps) AS steps FROM costs WHERE curriculum = ? GROUP BY ALL) GROUP BY ALL",
        db,
        [name],
    )
    return {
        (stage, attempt): {
            "seconds": float(seconds),
            "battles": int(battles),
            "decisions": int(decisions),
            "steps": int(steps),
        }
        for stage, attempt, seconds, battles, decisions, steps in costs
    }


def total(attempts: list[LineageAttempt]) -> AttemptCosts:
    """What all of them took together."""
    spent = [one["spent"] for one in attempts if one["spent"] is not None]
    return {
        "seconds": sum(each["seconds"] for each in spent),
        "battles": sum(each["battles"] for each in spent),
        "decisions": sum(each["decisions"] for each in spent),
        "steps": sum(each["steps"] for each in spent),
    }


def attempt_label(attempt: LineageAttempt) -> str:
    """How an attempt is named: "base", "1 first", "1 first, attempt 2"."""
    if attempt["stage"] == 0:
        return attempt["name"]
    return f"{attempt['stage']} {attempt['name']}" + (
        f", attempt {attempt['attempt']}" if attempt["attempt"] > 1 else ""
    )


def describe_gate(gate: LineageGate) -> str:
    """ "parent: H1 after 60 battles, …"."""
    name = gate["gate"].replace("verdict:", "final test", 1) if gate["gate"].startswith(FINAL_TEST) else gate["gate"]
    return f"{name}: {gate['summary'] or 'in progress'}"
