"""What best responses to frozen agents score (table `best_responses`), as `train exploit` measures it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path

from arena.store.database import connect, rows, writer_lock


@dataclass(frozen=True)
class BestResponse:
    """A player that was trained against one frozen agent, and its score in battles that chose nothing of it.

    agent, response: specs; fingerprint: of the agent's code and options. started_as: the response's initial weights.
    decisions: that it learned from, up to its last checkpoint; seconds: that it played and learned. team_sets:
    comma-separated, seed, venue, battles: of the battles that measured it. score, low, high: shares of 1.
    """

    agent: str
    fingerprint: str
    format: str
    team_sets: str
    seed: int
    response: str
    started_as: str
    decisions: int
    seconds: float
    venue: str
    battles: int
    score: float
    low: float
    high: float
    measured: datetime


_COLUMNS = tuple(field.name for field in fields(BestResponse))


def store_best_response(db: Path, response: BestResponse) -> None:
    """Keep a best response; measured anew in the same battles, it replaces what is stored.

    Raises BeingPlayed if another process writes to the database, and BadDatabase.
    """
    with writer_lock(db), connect(db, read_only=False) as connection:
        connection.execute(
            f"INSERT OR REPLACE INTO best_responses ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})",
            list(asdict(response).values()),
        )


def best_responses_of_run(db: Path, run_id: str) -> list[tuple[BestResponse, bool]]:
    """The best responses to a run's agents, by agent and decisions, each with whether the agent's code is still the same.

    Raises BadDatabase.
    """
    found = rows(
        f"SELECT {', '.join(f'r.{column}' for column in _COLUMNS)}, r.fingerprint = a.fingerprint "
        "FROM best_responses r JOIN agents a USING (agent) WHERE a.run_id = ? "
        "ORDER BY r.agent, r.format, r.decisions, r.measured",
        db,
        [run_id],
    )
    return [(BestResponse(*row[:-1]), row[-1]) for row in found]
