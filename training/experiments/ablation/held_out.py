"""The evaluation battles of a checkpoint: the same pairs for all checkpoints of an ablation, stored in the database."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.policy import checkpoint
from arena.run.entrants import resolve_each
from arena.run.tournament import EvaluateSettings, Run, play_into
from arena.schedules.plan import numbered_pair
from arena.store import open_store
from teamsets.atomic import write_atomic
from teamsets.errors import BadInput
from training.experiments.ablation.config import HeldOutEvaluation
from training.runs.evaluation import BattlesStopped


@dataclass(frozen=True)
class BattleBlock:
    """The pairs against one opponent on one team set. scores: of each pair, from 0 to 1; None if a battle was aborted."""

    format: str
    team_set: str
    opponent: str
    scores: list[float | None]


def measured(evaluation: HeldOutEvaluation, spec: str, kept: Path) -> list[BattleBlock]:
    """Play the remaining evaluation battles of a checkpoint. kept: file that caches their scores.

    Raises BadInput, and BattlesStopped.
    """
    key = {
        "player": checkpoint.identity(checkpoint.find(spec.partition(":")[2])),
        "asked": evaluation.model_dump(mode="json", exclude={"workers"}),
    }
    cached = json.loads(kept.read_text()) if kept.exists() else {}
    if cached.get("what") != key:
        cached = {"what": key, "blocks": _played(evaluation, spec)}
        write_atomic(kept, json.dumps(cached, indent=1) + "\n")
    return [BattleBlock(**block) for block in cached["blocks"]]


def _played(evaluation: HeldOutEvaluation, spec: str) -> list[dict[str, Any]]:
    settings = EvaluateSettings(
        agents=(spec, *evaluation.opponents),
        formats=tuple(evaluation.formats),
        team_sets=tuple(evaluation.teams),
        battles=evaluation.battles,
        seed=evaluation.seed,
        challengers=(spec,),
        same_luck=True,
        anchor=evaluation.opponents[0],
    )
    db = Path(evaluation.database)
    if len(resolve_each(settings.agents)) != len(settings.agents):
        raise BadInput(f"evaluation.opponents: one is listed twice, or is {spec} itself: name others")
    played = play_into(db, settings, kind="ablation", workers=evaluation.workers)
    if not played.finished:
        raise BattlesStopped("stopped: finished battles are stored; run the same command again to resume")
    run = played.run
    with open_store(db) as store:
        results = store.results(run.run_id)
    return [
        {"format": pool[0], "team_set": pool[1], "opponent": opponent, "scores": _scores(run, pool, opponent, results)}
        for pool in run.plan.pools
        for opponent in run.plan.agents[1:]
    ]


def _scores(run: Run, pool: tuple[str, str], opponent: str, results: dict[str, float | None]) -> list[float | None]:
    scores: list[float | None] = []
    for number in range(run.plan.pairs):
        fixture, mirrored = numbered_pair(run.plan, pool, (run.plan.agents[0], opponent), number)
        first, second = results[fixture.key], results[mirrored.key]
        scores.append(None if first is None or second is None else (first + 1 - second) / 2)
    return scores
