"""Evaluation battles of a checkpoint during training: against a fixed pool, rated with it, and stored like all others.

The pool's own battles are played once and reused for later checkpoints, so that all are rated on the same scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.report.summary import summarize
from arena.report.summary_types import ReportSummary
from arena.run.tournament import EvaluateSettings, play_into
from teamsets.errors import ArenaError
from training.runs.common_settings import EvaluationSettings


class BattlesStopped(ArenaError):
    """Ctrl-C has ended a run that training waits for. What is finished is stored; the message says how to resume."""


@dataclass(frozen=True)
class EvaluationResult:
    """rating: mean Elo over the formats. details: JSON-serializable; metrics: the same, flat; summary: one line of text."""

    rating: float
    details: dict[str, Any]
    metrics: dict[str, float]
    summary: str


def evaluate_checkpoint(evaluation: EvaluationSettings, spec: str) -> EvaluationResult:
    """Play the checkpoint `spec` against the pool, in each format and on each team set. Raises BadInput."""
    settings = EvaluateSettings(
        agents=(spec, *evaluation.opponents),
        formats=tuple(evaluation.formats),
        team_sets=tuple(evaluation.teams),
        battles=evaluation.battles,
        seed=evaluation.seed,
        anchor=evaluation.opponents[0],
    )
    db = Path(evaluation.database)
    run_id = play_into(db, settings, kind="training", workers=evaluation.workers).run.run_id
    return _result(summarize(db, run_id), spec, run_id)


def _result(summary: ReportSummary, spec: str, run_id: str) -> EvaluationResult:
    details: dict[str, Any] = {"run": run_id, "formats": {}}
    metrics: dict[str, float] = {}
    ratings_text = []
    for part in summary["formats"]:
        name = part["format"]
        row = next(row for row in part["ranking"] if row["agent"] == spec)
        against = {
            cell["opponent"]: {key: cell[key] for key in ("score", "low", "high", "battles")}
            for cell in part["cross"]
            if cell["agent"] == spec
        }
        details["formats"][name] = {**{key: row[key] for key in ("elo", "low", "high", "games")}, "against": against}
        metrics |= {f"evaluation/{name}/{key}": row[key] for key in ("elo", "low", "high") if row[key] is not None}
        metrics |= {f"evaluation/{name}/against {other}": cell["score"] for other, cell in against.items()}
        ratings_text.append(f"{name} {row['elo']:.0f} [{row['low']:.0f}, {row['high']:.0f}]")
    ratings = [part["elo"] for part in details["formats"].values()]
    return EvaluationResult(sum(ratings) / len(ratings), details, metrics, f"rated {', '.join(ratings_text)}")
