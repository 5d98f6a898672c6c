"""The database rows of a curriculum: stages, gates, lineage, costs. Each is written as soon as it is known."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from pydantic import ValidationError

from arena.store import connect, rows, writer_lock
from training.experiments.curriculum.config import Curriculum
from training.runs.config_reader import BadConfig
from training.runs.settings import differences, other_settings

#: Settings that may change after the start, besides those of stages that have not started.
_FREE = (
    "workers",
    "venue",
    "training.tracking",
    "training.compute.threads",
    "training.compute.collective_timeout",
    "training.evaluation.workers",
)


_ATTEMPT = "curriculum = ? AND stage = ? AND attempt = ?"


@dataclass(frozen=True)
class Attempt:
    """A row of the table `stages`; see training/experiments/curriculum/tables.py."""

    stage: int
    attempt: int
    name: str
    status: str
    parent: str
    settings: dict[str, Any]
    learner: str | None
    quotas: tuple[tuple[str, str, int], ...] | None
    play_run: str | None
    datasets: list[dict[str, Any]] | None
    checkpoint: str | None


@dataclass(frozen=True)
class GateResult:
    """A row of the table `gates`. passed, summary: None until it is decided."""

    gate: str
    run_id: str
    passed: bool | None
    summary: str | None
    details: dict[str, Any]


class CurriculumStore:
    """The rows of one curriculum."""

    def __init__(self, db: Path, name: str) -> None:
        self.db, self.name = db, name

    def begin(self, config: Curriculum, base: str) -> None:
        """Insert the curriculum, or check that its settings have not changed. Raises BadConfig that names what differs."""
        now = config.model_dump(mode="json")
        stored = (
            self._rows("SELECT config FROM curricula WHERE curriculum = ?", [self.name]) if self.db.exists() else []
        )
        if not stored:
            self._write(
                "INSERT INTO curricula (curriculum, folder, base, config, started) VALUES (?, ?, ?, ?, now())",
                [self.name, config.out, base, json.dumps(now)],
            )
            return
        begun = {attempt.stage for attempt in self.attempts()}
        changed = [
            change
            for change in differences(_as_read_now(json.loads(stored[0][0])), now, _FREE)
            if _fixed(change.key, begun)
        ]
        if changed:
            raise BadConfig(
                f"{self.name}: {other_settings(changed)}: restore them, or give it another name and folder; only stages "
                "that have not begun may change"
            )
        self._write("UPDATE curricula SET config = ?, ended = NULL WHERE curriculum = ?", [json.dumps(now), self.name])

    def end(self) -> None:
        """Record that all stages are finished."""
        self._write("UPDATE curricula SET ended = now() WHERE curriculum = ?", [self.name])

    def attempts(self) -> list[Attempt]:
        """Return all attempts that have started, in order."""
        stored = self._rows(
            "SELECT stage, attempt, name, status, parent, settings, learner, quotas, play_run, datasets, checkpoint "
            "FROM stages WHERE curriculum = ? ORDER BY stage, attempt",
            [self.name],
        )
        return [_attempt(*row) for row in stored]

    def attempt(self, stage: int, attempt: int) -> Attempt | None:
        """Return an attempt; None if it has not started."""
        return next(
            (started for started in self.attempts() if (started.stage, started.attempt) == (stage, attempt)), None
        )

    def begin_attempt(self, stage: int, attempt: int, name: str, parent: str, settings: dict[str, Any]) -> Attempt:
        """Insert a new attempt."""
        self._write(
            "INSERT INTO stages (curriculum, stage, attempt, name, status, parent, settings, started) "
            "VALUES (?, ?, ?, ?, 'running', ?, ?, now())",
            [self.name, stage, attempt, name, parent, json.dumps(settings)],
        )
        begun = self.attempt(stage, attempt)
        assert begun is not None
        return begun

    def note_play(self, attempt: Attempt, learner: str, quotas: tuple[tuple[str, str, int], ...], run_id: str) -> None:
        """Record the pairings and the run of an attempt's battles, before the first of them."""
        self._set(attempt, learner=learner, quotas=json.dumps(quotas), play_run=run_id)

    def note_datasets(self, attempt: Attempt, datasets: list[dict[str, Any]]) -> None:
        self._set(attempt, datasets=json.dumps(datasets))

    def note_checkpoint(self, attempt: Attempt, checkpoint: str) -> None:
        """Record the trained checkpoint, as a child of the attempt's parent."""
        with self._writing() as connection:
            connection.execute("BEGIN")
            connection.execute(
                "INSERT INTO checkpoints (curriculum, checkpoint, parent, stage, attempt) VALUES (?, ?, ?, ?, ?)",
                [self.name, checkpoint, attempt.parent, attempt.stage, attempt.attempt],
            )
            connection.execute(f"UPDATE stages SET checkpoint = ? WHERE {_ATTEMPT}", [checkpoint, *self._key(attempt)])
            connection.execute("COMMIT")

    def decide(self, attempt: Attempt, kept: bool) -> None:
        """End an attempt: keep or reject its checkpoint."""
        with self._writing() as connection:
            connection.execute("BEGIN")
            connection.execute(
                "UPDATE checkpoints SET kept = ? WHERE curriculum = ? AND checkpoint = ?",
                [kept, self.name, attempt.checkpoint],
            )
            connection.execute(
                f"UPDATE stages SET status = ?, ended = now() WHERE {_ATTEMPT}",
                ["kept" if kept else "rejected", *self._key(attempt)],
            )
            connection.execute("COMMIT")

    def gate_result(self, attempt: Attempt, gate: str) -> GateResult | None:
        """Return a gate's row; None if it has not started."""
        stored = self._rows(
            f"SELECT gate, run_id, passed, summary, details FROM gates WHERE {_ATTEMPT} AND gate = ?",
            [*self._key(attempt), gate],
        )
        return None if not stored else _gate_result(*stored[0])

    def begin_gate(self, attempt: Attempt, gate: str, run_id: str) -> None:
        """Insert a gate with its run, before the first battle."""
        self._write(
            "INSERT INTO gates (curriculum, stage, attempt, gate, run_id) VALUES (?, ?, ?, ?, ?)",
            [*self._key(attempt), gate, run_id],
        )

    def end_gate(self, attempt: Attempt, gate: str, passed: bool, summary: str, details: dict[str, Any]) -> None:
        self._write(
            f"UPDATE gates SET passed = ?, summary = ?, details = ? WHERE {_ATTEMPT} AND gate = ?",
            [passed, summary, json.dumps(details), *self._key(attempt), gate],
        )

    def begin_base(self, checkpoint: str) -> None:
        """Insert the base checkpoint, the root of the lineage."""
        self._write(
            "INSERT INTO checkpoints (curriculum, checkpoint, stage, attempt, kept) VALUES (?, ?, 0, 0, true) "
            "ON CONFLICT DO NOTHING",
            [self.name, checkpoint],
        )

    def measured(self, checkpoint: str) -> dict[str, Any] | None:
        """Return a checkpoint's row in `checkpoints`; None if it has none."""
        names = ("checkpoint", "parent", "stage", "attempt", "kept", "run_id", "elo", "low", "high", "details")
        stored = self._rows(
            f"SELECT {', '.join(names)} FROM checkpoints WHERE curriculum = ? AND checkpoint = ?",
            [self.name, checkpoint],
        )
        return None if not stored else dict(zip(names, stored[0], strict=True))

    def begin_evaluation(self, checkpoint: str, run_id: str) -> None:
        """Record the run of a checkpoint's battles against the pool, before the first of them."""
        self._write(
            "UPDATE checkpoints SET run_id = ? WHERE curriculum = ? AND checkpoint = ?",
            [run_id, self.name, checkpoint],
        )

    def rate(self, checkpoint: str, rated: tuple[float, float, float], details: dict[str, Any] | None = None) -> None:
        """Record a checkpoint's rating (Elo, low, high), and the details of its battles against the pool."""
        self._write(
            "UPDATE checkpoints SET elo = ?, low = ?, high = ?, details = ? WHERE curriculum = ? AND checkpoint = ?",
            [*rated, None if details is None else json.dumps(details), self.name, checkpoint],
        )

    def spend(
        self, stage: int, attempt: int, phase: str, session: str, seconds: float,
        battles: int = 0, decisions: int = 0, steps: int = 0,
    ) -> None:  # fmt: skip
        """Insert the cost of a phase; once per session."""
        self._write(
            "INSERT INTO costs (curriculum, stage, attempt, phase, session, seconds, battles, decisions, steps) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [self.name, stage, attempt, phase, session, seconds, battles, decisions, steps],
        )

    def spent(self, attempt: Attempt, phase: str) -> bool:
        """Return whether a phase with battles has finished."""
        counted = f"SELECT 1 FROM costs WHERE {_ATTEMPT} AND phase = ? AND battles > 0 LIMIT 1"
        return bool(self._rows(counted, [*self._key(attempt), phase]))

    def lineage(self) -> list[str]:
        """Return the kept checkpoints, the base first."""
        kept = self._rows(
            "SELECT checkpoint FROM checkpoints WHERE curriculum = ? AND kept ORDER BY stage, attempt", [self.name]
        )
        return [name for (name,) in kept]

    def best(self) -> str | None:
        """Return the kept checkpoint with the highest rating on the held-out teams; None before any is rated."""
        rated = self._rows(
            "SELECT checkpoint FROM checkpoints WHERE curriculum = ? AND kept AND elo IS NOT NULL "
            "ORDER BY elo DESC, stage LIMIT 1",
            [self.name],
        )
        return rated[0][0] if rated else None

    def _key(self, attempt: Attempt) -> list[Any]:
        return [self.name, attempt.stage, attempt.attempt]

    def _set(self, attempt: Attempt, **values: Any) -> None:
        columns = ", ".join(f"{name} = ?" for name in values)
        self._write(f"UPDATE stages SET {columns} WHERE {_ATTEMPT}", [*values.values(), *self._key(attempt)])

    def _rows(self, sql: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        return rows(sql, self.db, parameters)

    def _write(self, sql: str, parameters: list[Any]) -> None:
        with self._writing() as connection:
            connection.execute(sql, parameters)

    @contextmanager
    def _writing(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with writer_lock(self.db), connect(self.db, read_only=False) as connection:
            yield connection


def _attempt(
    stage: int,
    attempt: int,
    name: str,
    status: str,
    parent: str,
    settings: str,
    learner: str | None,
    quotas: str | None,
    play_run: str | None,
    datasets: str | None,
    checkpoint: str | None,
) -> Attempt:
    """Build an attempt from a row, parsing its JSON."""
    drawn = None if quotas is None else tuple((opponent, teams, n) for opponent, teams, n in json.loads(quotas))
    made = None if datasets is None else json.loads(datasets)
    parsed_settings = json.loads(settings)
    return Attempt(stage, attempt, name, status, parent, parsed_settings, learner, drawn, play_run, made, checkpoint)


def _gate_result(gate: str, run_id: str, passed: bool | None, summary: str | None, details: str | None) -> GateResult:
    return GateResult(gate, run_id, passed, summary, json.loads(details or "{}"))


def _as_read_now(stored: dict[str, Any]) -> dict[str, Any]:
    """Validate a stored configuration, which adds the defaults of settings that earlier versions did not have."""
    try:
        return Curriculum.model_validate(stored).model_dump(mode="json")
    except ValidationError:
        return stored


def _fixed(key: str, begun: set[int]) -> bool:
    """Return whether a setting belongs to all stages, or to one that has started. begun: their numbers, from 1."""
    section, _, rest = key.partition(".")
    return section != "stages" or int(rest.partition(".")[0]) + 1 in begun
