"""What a trial's checkpoint scores in paired battles, as the Elo that Optuna maximises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agents.policy import checkpoint
from arena.ratings.pentanomial import MatchSummary, score_elo
from teamsets.errors import ArenaError
from training.experiments.ablation.config import HeldOutEvaluation
from training.experiments.ablation.run import measured
from training.experiments.sweep.config import Sweep
from training.machines.cluster.run_payload import Run
from training.runs.evaluation import BattleBlock, score_of, score_text

#: Plays the evaluation battles of a run's checkpoint: the scores of its pairs, kept in a file.
Measure = Callable[[Run, HeldOutEvaluation, Path], list[BattleBlock]]


def trial_folder(sweep: Sweep, number: int) -> Path:
    """Return the folder of a trial's run."""
    return Path(sweep.out) / "trials" / f"{number:03d}"


def agent_of(run: Run, which: str) -> str:
    """Return the spec of a run's checkpoint. which: last, or best: its own choice, or the last where it has none."""
    folder = Path(run.out)
    best = None if which == "last" else checkpoint.best_of(folder)
    return f"policy:{folder}@{max(checkpoint.steps_of(folder)) if best is None else best['step']}"


def measure_run(run: Run, evaluation: HeldOutEvaluation, kept: Path) -> list[BattleBlock]:
    """Play the battles in this process, unless `kept` has the scores of the same checkpoint. Raises BadInput."""
    from training.runs.threads import use_threads

    use_threads(run.compute.threads)
    return measured(evaluation, agent_of(run, evaluation.checkpoint), kept)


def elo_of(score: MatchSummary) -> float:
    """Return the lead over an opponent against whom that score is expected: of the mean score, where there are several.

    A score of nothing or all, for which no lead is finite, counts as half a battle more, or less. Raises ArenaError where no
    pair was played to its end.
    """
    if score.score is None:
        raise ArenaError(f"evaluation: {score_text(score)}: `arena sql` shows why, or use evaluation.venue: engine")
    least = 0.25 / score.pairs
    lead = score_elo(min(max(score.score, least), 1 - least))
    assert lead is not None
    return lead


def result_of(blocks: Sequence[BattleBlock]) -> dict[str, Any]:
    """Return a measurement, JSON-serializable: Elo and score with 95% intervals, in all and against each opponent."""
    opponents = dict.fromkeys(block.opponent for block in blocks)
    against = {name: score_of([block for block in blocks if block.opponent == name]) for name in opponents}
    return {**_numbers(score_of(blocks)), "against": {name: _numbers(score) for name, score in against.items()}}


def _numbers(score: MatchSummary) -> dict[str, Any]:
    low, high = score.interval
    return {
        "elo": elo_of(score), "elo_low": score_elo(low), "elo_high": score_elo(high),
        "score": score.score, "low": low, "high": high, "battles": 2 * score.pairs,
    }  # fmt: skip


def elo_text(numbers: dict[str, Any]) -> str:
    """Return an Elo with its interval, open where it has no bound; "–" where there is none."""
    value, low, high = (numbers[key] for key in ("elo", "elo_low", "elo_high"))
    ends = ("-∞" if low is None else f"{low:+.0f}", "∞" if high is None else f"{high:+.0f}")
    return "–" if value is None else f"{value:+.0f} [{', '.join(ends)}]"
