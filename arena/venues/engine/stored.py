"""Stored battles of the engine's formats, as far as another venue can check them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.record import unpacked
from arena.store import rows
from arena.venues.simulator.replaying import input_log_teams
from arena.venues.simulator.reproduction import StoredDecision
from teamsets.errors import BadInput

_RESULTS = """
    SELECT battle_id, b.venue, b.winner, b.turns, b.input_log,
        list((d.turn, d.legal, d.choice) ORDER BY d.index) FILTER (d.seat = 'p1'),
        list((d.turn, d.legal, d.choice) ORDER BY d.index) FILTER (d.seat = 'p2')
    FROM battles b LEFT JOIN decisions d USING (battle_id)
    WHERE list_contains(?, battle_id) GROUP BY ALL ORDER BY battle_id
"""


@dataclass(frozen=True)
class StoredResult:
    """A stored battle. venue: where it was played; None: not noted, so not on the engine. decisions: of both seats."""

    battle_id: int
    venue: str | None
    winner: str | None
    turns: int
    input_log: list[str]
    decisions: tuple[list[StoredDecision], list[StoredDecision]]

    @property
    def seed(self) -> str:
        """Showdown's seed of the battle."""
        return str(input_log_teams(self.input_log)["seed"])

    @property
    def options(self) -> dict[str, Any]:
        """See `input_log_teams`."""
        return input_log_teams(self.input_log)


def battles_to_check(db: Path, run_id: str | None, sample: int | None) -> list[tuple[int, str]]:
    """The id and format of stored battles, of a run or of all; sample: so many, chosen by their keys. Raises BadInput."""
    if run_id is not None and not rows("SELECT run_id FROM runs WHERE run_id = ?", db, [run_id]):
        latest = [name for (name,) in rows("SELECT run_id FROM runs ORDER BY rowid DESC LIMIT 3", db)]
        raise BadInput(f"run '{run_id}': not in {db}; the latest runs are {', '.join(latest) or 'none'}")
    chosen = rows(
        "SELECT battle_id, format FROM battles WHERE ?::VARCHAR IS NULL OR run_id = ? ORDER BY md5(key), battle_id LIMIT ?",
        db,
        [run_id, run_id, sample],
    )
    return sorted(chosen)


def stored_results(db: Path, battle_ids: Sequence[int]) -> list[StoredResult]:
    """The battles of these ids, in the order of the ids."""
    return [
        StoredResult(battle, venue, winner, turns, unpacked(log), (_decisions(first), _decisions(second)))
        for battle, venue, winner, turns, log, first, second in rows(_RESULTS, db, [list(battle_ids)])
    ]


def _decisions(decisions: list[Any] | None) -> list[StoredDecision]:
    return [StoredDecision(*(row.values() if isinstance(row, dict) else row)) for row in decisions or []]
