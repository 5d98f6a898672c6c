"""What a battle costs, from stored battles: its share of the time of the run that played it.

A battle costs its own duration, divided by the mean number of concurrent battles of its run. The costs of a run's battles
sum to the duration of the run, with the workers that it had.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from arena.store import rows

#: So many of the newest battles of a format are read.
_LATEST = 20_000


class BattleCost(NamedTuple):
    """A stored battle of two agents, and what it cost in seconds."""

    p1: str
    p2: str
    seconds: float


def battle_costs(db: Path, format_id: str, newest: int = _LATEST) -> list[BattleCost]:
    """Return the costs of so many of the newest battles of a format; aborted ones are left out."""
    by_run: dict[str, list[tuple[str, str, float, float]]] = defaultdict(list)
    for run_id, p1, p2, started, seconds in rows(
        "SELECT run_id, p1, p2, epoch(started), seconds FROM battles WHERE format = ? AND reason <> 'aborted' "
        "ORDER BY battle_id DESC LIMIT ?",
        db,
        [format_id, newest],
    ):
        by_run[run_id].append((p1, p2, started, seconds))
    costs = []
    for battles in by_run.values():
        spans = [(started, started + seconds) for _, _, started, seconds in battles]
        at_once = sum(end - start for start, end in spans) / max(covered(spans), 1e-9)
        costs += [BattleCost(p1, p2, seconds / at_once) for p1, p2, _, seconds in battles]
    return costs


def covered(spans: list[tuple[float, float]]) -> float:
    """Return the time during which at least one battle was running, as a run may have been interrupted."""
    total, until = 0.0, 0.0
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total
