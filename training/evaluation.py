"""A checkpoint's battles during training: against a fixed pool, rated with it, in the store like all others.

The pool's own battles are played once: later checkpoints take them over, so that all are rated on the same scale.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.report.summary import summarize
from arena.store import Store, writer_lock
from arena.tournament import EvaluateSettings, play, prepare
from training.config import Evaluation


@dataclass(frozen=True)
class Found:
    """rating: the mean Elo over the formats. told: all of it, JSON-able; metrics: the same, flat. words: for people."""

    rating: float
    told: dict[str, Any]
    metrics: dict[str, float]
    words: str


def evaluate_checkpoint(asked: Evaluation, spec: str) -> Found:
    """Plays the checkpoint `spec` against the pool, on every format and team set. Raises BadInput where that cannot be."""
    settings = EvaluateSettings(
        agents=(spec, *asked.opponents),
        formats=tuple(asked.formats),
        team_sets=tuple(asked.teams),
        battles=asked.battles,
        seed=asked.seed,
        anchor=asked.opponents[0],
    )
    db = Path(asked.database)
    with writer_lock(db):
        store = Store(db)
        run = prepare(store, settings, kind="training")
        asyncio.run(play(run, store, workers=asked.workers))
    return _found(summarize(db, run.run_id), spec, run.run_id)


def _found(summary: dict[str, Any], spec: str, run_id: str) -> Found:
    told: dict[str, Any] = {"run": run_id, "formats": {}}
    metrics: dict[str, float] = {}
    words = []
    for part in summary["formats"]:
        name = part["format"]
        row = next(row for row in part["ranking"] if row["agent"] == spec)
        against = {
            cell["opponent"]: {key: cell[key] for key in ("score", "low", "high", "battles")}
            for cell in part["cross"]
            if cell["agent"] == spec
        }
        told["formats"][name] = {**{key: row[key] for key in ("elo", "low", "high", "games")}, "against": against}
        metrics |= {f"evaluation/{name}/{key}": row[key] for key in ("elo", "low", "high") if row[key] is not None}
        metrics |= {f"evaluation/{name}/against {other}": cell["score"] for other, cell in against.items()}
        words.append(f"{name} {row['elo']:.0f} [{row['low']:.0f}, {row['high']:.0f}]")
    ratings = [part["elo"] for part in told["formats"].values()]
    return Found(sum(ratings) / len(ratings), told, metrics, f"rated {', '.join(words)}")
