"""What the best trial is worth, measured anew: the figure by which it was chosen is that of the luckiest of many.

Two things may have been lucky. The battles: so its checkpoint plays others. The run (its initial weights, its battles in
training): so the settings are trained anew with seeds that no trial had, beside the base's own, and both play these other
battles, too.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from arena.ratings.pentanomial import score_elo
from teamsets.errors import ArenaError
from training.experiments.ablation.run import pair_scores
from training.experiments.ablation.statistics import EstimatedScore, Findings, findings
from training.experiments.sweep.config import Sweep, trial_config
from training.experiments.sweep.measuring import Measure, elo_text, result_of, trial_folder
from training.experiments.sweep.study import TrialRecord
from training.experiments.sweep.trainers import Trainers
from training.machines.cluster.run_payload import Run
from training.runs.evaluation import BattleBlock

BEST, BASE = "settings", "base"
_KEPT = "measured-final.json"


def measure_anew(
    sweep: Sweep, best: TrialRecord, trainers: Trainers, measure: Measure, say: Callable[[str], None]
) -> dict[str, Any]:
    """Return the final measurement, JSON-serializable; parts that are there already are not made again.

    checkpoint: of the best trial, on battles that chose nothing. settings, base: trained with `training_seeds`, on the same
    battles, as EstimatedScores; difference: of the first to the second, in score. Raises ArenaError for a run that failed.
    """
    evaluation = sweep.evaluation.model_copy(update={"battles": sweep.final.battles, "seed": sweep.final.seed})
    chosen = trial_config(sweep, best.settings, trial_folder(sweep, best.number))
    say(f"final measurement: the checkpoint of trial {best.number} on the battles of seed {evaluation.seed}")
    checkpoint = result_of(measure(chosen, evaluation, Path(chosen.out) / _KEPT))
    say(f"final measurement: Elo {elo_text(checkpoint)}")
    found: dict[str, Any] = {"trial": best.number, "checkpoint": checkpoint}
    seeds = sweep.final.training_seeds
    if not seeds:
        return found
    runs = {
        name: [trial_config(sweep, settings, _folder(sweep, name, best, seed), seed=seed) for seed in seeds]
        for name, settings in ((BEST, best.settings), (BASE, {}))
    }
    _train([run for name in runs for run in runs[name]], sweep.workers, trainers, say)
    blocks: list[list[list[BattleBlock]]] = []
    for of_name in runs.values():
        blocks.append([])
        for run in of_name:
            say(f"final measurement: battles of {run.out}")
            blocks[-1].append(measure(run, evaluation, Path(run.out) / _KEPT))
    scores, indices, _ = pair_scores(blocks)
    both = findings(scores, indices)
    for name, estimate, of_seeds in zip(runs, both.scores, blocks, strict=True):
        found[name] = {**_numbers(estimate), "by_seed": [result_of(of_seed)["score"] for of_seed in of_seeds]}
    found["difference"] = _difference(both)
    return found


def _folder(sweep: Sweep, name: str, best: TrialRecord, seed: int) -> Path:
    return Path(sweep.out) / "final" / f"{'base' if name == BASE else f'trial-{best.number:03d}'}-{seed}"


def _train(runs: list[Run], workers: int, trainers: Trainers, say: Callable[[str], None]) -> None:
    """Train the runs that were not measured yet, at most so many at once."""
    waiting = [run for run in runs if not (Path(run.out) / _KEPT).exists()]
    under_way = 0
    while waiting or under_way:
        while waiting and under_way < workers:
            run = waiting.pop(0)
            say(f"final measurement: training {run.out}")
            trainers.start(run)
            under_way += 1
        for run, problem in trainers.wait():
            under_way -= 1
            if problem:
                raise ArenaError(f"{run.out}: the run has failed: {problem}: run the same command again to resume")


def _numbers(estimate: EstimatedScore) -> dict[str, Any]:
    return {
        "elo": score_elo(estimate.score), "elo_low": score_elo(estimate.low), "elo_high": score_elo(estimate.high),
        "score": estimate.score, "low": estimate.low, "high": estimate.high, "seed_luck": estimate.seed_luck,
    }  # fmt: skip


def _difference(both: Findings) -> dict[str, Any]:
    """Return the best settings' score minus the base's."""
    (found,) = both.differences
    sign = 1 if found.better == 0 else -1
    low, high = sorted((sign * found.low, sign * found.high))
    return {"points": sign * found.points, "low": low, "high": high, "clear": found.clear}
