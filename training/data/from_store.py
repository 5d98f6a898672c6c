"""Trajectories from stored battles, selected by an SQL condition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import orjson

from arena.fixture import SEATS
from arena.record import unpacked
from arena.store import connect
from arena.venues.simulator.reproduction import PackedLogs, with_logs
from training.data.pooled import pooled
from training.data.shards import BadData
from training.data.trajectory import Trajectory, build_trajectory

#: Columns that a condition can use; there is one row per side of a battle.
COLUMNS = (
    "battle_id", "run_id", "format", "team_set", "pair", "seat", "agent", "opponent", "team_id", "opponent_team_id",
    "outcome", "score", "won", "at_fault", "reason", "turns", "started",
)  # fmt: skip
_SIDES = "(SELECT *, score = 1 AS won FROM results WHERE score IS NOT NULL)"
_AT_ONCE = 256


class Candidate(NamedTuple):
    """One side of a stored battle, without its log. score: 1 won, 0.5 tied, 0 lost. reason: how the battle ended."""

    battle_id: int
    seat: str
    format: str
    agent: str
    score: float
    reason: str
    pair: str
    team_id: str
    opponent_team_id: str


@dataclass(frozen=True)
class StoredSide:
    """One side of a stored battle, the input of a trajectory. log: compressed. diagnostics: JSON per decision, or None."""

    seat: str
    format: str
    log: bytes
    choices: list[str]
    diagnostics: list[str | None]
    score: float
    about: dict[str, Any]


def selected(db: Path, where: str) -> list[Candidate]:
    """Return the sides that match an SQL condition, in the order in which they were played. Raises BadData."""
    with connect(db, read_only=True) as connection:
        try:
            query = (
                "SELECT battle_id, seat, format, agent, score::DOUBLE, reason, pair, team_id, opponent_team_id "
                f"FROM {_SIDES} WHERE ({where}\n) "
                "ORDER BY battle_id, seat"  # on a line of its own: the condition may end in a comment
            )
            if len(connection.extract_statements(query)) != 1:
                raise BadData(f'--where "{where}": more than one statement: give one condition')
            matching = connection.execute(query).fetchall()
        except duckdb.Error as error:
            problem = str(error).split("\n")[0]
            raise BadData(f'--where "{where}": {problem}; columns are {", ".join(COLUMNS)}') from None
    if not matching:
        raise BadData(f'--where "{where}": matches no side of a battle in {db}')
    return [Candidate(*row) for row in matching]


def sides(db: Path, chosen: list[Candidate]) -> list[StoredSide]:
    """Load the logs, choices and diagnostics of sides, in the order of the battles.

    Logs that are not stored are made by Showdown. Raises BadInput for a battle whose logs cannot be made.
    """
    with connect(db, read_only=True) as connection:
        stored_rows = connection.execute(
            f"""
            SELECT r.battle_id, (b.input_log, b.p1_log, b.p2_log), r.seat, r.format, r.score,
                r.agent, r.opponent, r.pair, r.team_set, r.team_id, r.outcome,
                list(d.choice ORDER BY d.index), list(d.diagnostics ORDER BY d.index)
            FROM {_SIDES} r JOIN battles b USING (battle_id) JOIN decisions d USING (battle_id, seat)
            WHERE r.battle_id IN (SELECT unnest(?)) GROUP BY ALL ORDER BY r.battle_id, r.seat
            """,
            [sorted({one.battle_id for one in chosen})],
        ).fetchall()
    loaded, wanted = [], {(one.battle_id, one.seat) for one in chosen}
    stored = {row[0]: PackedLogs(row[0], *row[1]) for row in stored_rows}
    full = dict(zip(stored, with_logs(list(stored.values())), strict=True))
    for (
        battle,
        _,
        seat,
        format_id,
        score,
        agent,
        opponent,
        pair,
        team_set,
        team,
        outcome,
        choices,
        reported,
    ) in stored_rows:
        log = full[battle].p1_log if seat == SEATS[0] else full[battle].p2_log
        if (battle, seat) in wanted:
            about = {
                "format": format_id, "source": "arena", "agent": agent, "opponent": opponent, "battle": battle,
                "seat": seat, "pair": pair, "team_set": team_set, "team": team, "outcome": outcome,
            }  # fmt: skip
            loaded.append(StoredSide(seat, format_id, log, choices, reported, score, about))
    return loaded


def trajectory(side: StoredSide, *, by_expert: bool = False) -> Trajectory | None:
    """Build the trajectory of a side; None if it has no decision (it lost before one). by_expert: see `target_policy`."""
    diagnostics = [None if text is None else orjson.loads(text) for text in side.diagnostics]
    log = unpacked(side.log)
    return build_trajectory(
        side.seat, side.format, log, side.choices, side.score, side.about, diagnostics, by_expert=by_expert
    )


def trajectories(
    db: Path,
    chosen: list[Candidate],
    processes: int | None = None,
    *,
    by_expert: bool = False,
    make: Callable[..., Trajectory | None] = trajectory,
) -> Iterator[Trajectory]:
    """Yield the trajectories of sides, built by several processes (None: one per core), with a bounded number in memory.

    make: the function that those processes call for each side, with the signature of `trajectory`.
    """
    batches = (sides(db, chosen[start : start + _AT_ONCE]) for start in range(0, len(chosen), _AT_ONCE))
    made = pooled(partial(make, by_expert=by_expert), batches, processes)
    return (one for one in made if one is not None)
