"""Which battles count for a run: its own, and earlier ones between the same players under the same conditions."""

from __future__ import annotations

from pathlib import Path

from arena.ratings.evidence import Evidence, counted_evidence
from arena.store import rows
from teamsets.errors import BadInput


def latest_run(db: Path) -> str:
    """Returns the run that was recorded last, whatever the system's clock said. Raises BadInput if there is none."""
    latest = rows("SELECT run_id FROM runs ORDER BY rowid DESC LIMIT 1", db)
    if not latest:
        raise BadInput(f"database {db}: contains no run; `arena evaluate` starts one")
    return str(latest[0][0])


def load_evidence(db: Path, run_id: str, format_id: str) -> Evidence:
    """All pairs that count for a run in a format, in an order that depends on nothing but the pairs."""
    pairs = rows(
        "SELECT agent, opponent, points, games, team_set, count(*) FROM ("
        "SELECT agent, opponent, team_set, sum(score)::DOUBLE AS points, count(score) AS games FROM counted_results "
        "WHERE for_run = ? AND format = ? AND agent < opponent GROUP BY agent, opponent, team_set, pair"
        ") WHERE games > 0 GROUP BY ALL ORDER BY agent, opponent, team_set, points, games",
        db,
        [run_id, format_id],
    )
    names = rows(
        "SELECT DISTINCT agent FROM counted_results WHERE for_run = ? AND format = ? ORDER BY 1",
        db,
        [run_id, format_id],
    )
    return counted_evidence(pairs, [name for (name,) in names])
