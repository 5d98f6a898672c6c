"""Runs a sweep: draws settings, trains them, measures the checkpoints in paired battles, and prunes by these.

OUT/sweep.yaml                the configuration that it was started with
OUT/optuna.db                 Optuna's storage
OUT/trials/NNN/               a run of `train online` or `train base`; NNN.yaml: its exact settings; NNN.log: what it printed
OUT/trials/NNN/measured-L.json   the score of every pair of battles of its checkpoint at the length L
OUT/final/…                   the runs of the final measurement (final.py)
OUT/results.json, .csv, .md, .svg   the results

The same command resumes a killed sweep: its unfinished trials are trained on from their last checkpoints.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.report.numbers import counted
from teamsets.errors import ArenaError
from training.experiments.result_files import percent_text
from training.experiments.sweep.config import Sweep, rungs, trial_config
from training.experiments.sweep.final import measure_anew
from training.experiments.sweep.measuring import (
    Measure,
    elo_of,
    elo_text,
    measure_run,
    result_of,
    trial_folder,
)
from training.experiments.sweep.results import best_of, results_of
from training.experiments.sweep.study import SweepStudy
from training.experiments.sweep.trainers import Trainers
from training.machines.cluster.run_payload import Run
from training.runs.config_reader import BadConfig
from training.runs.evaluation import check_evaluation, score_of
from training.runs.run_folder import keep_settings, lock_folder
from training.runs.settings import flow

if TYPE_CHECKING:
    import optuna

#: Settings that may change when a sweep is resumed.
_FREE = ("name", "out", "trials", "workers", "final", "evaluation.workers", "evaluation.database")
#: A sweep stops after so many trials in a row whose runs failed: it is not their settings that make them fail.
_FAILURES = 5

Say = Callable[[str], None]


def run_sweep(sweep: Sweep, trainers: Trainers, say: Say, *, measure: Measure = measure_run) -> dict[str, Any]:
    """Run or resume a sweep to its end, and return its results (results.py).

    trainers: closed at the end. say: called with lines of progress. measure: plays a checkpoint's battles. Raises BadInput,
    and ArenaError where trial after trial fails, or none was completed.
    """
    check_evaluation(sweep.evaluation)
    with lock_folder(Path(sweep.out), "in use by another process: wait, or name another folder"), closing(trainers):
        keep_settings(Path(sweep.out) / "sweep.yaml", sweep, _FREE)
        study = SweepStudy(sweep)
        _Loop(sweep, study, trainers, measure, say).go()
        best = best_of(study.records())
        if best is None:
            raise ArenaError(f"{sweep.out}: no trial was completed: raise `trials`, or see {sweep.out}/trials/*.log")
        final = measure_anew(sweep, best, trainers, measure, say)
        return results_of(sweep, study.records(), study.importances(), final)


@dataclass
class _Active:
    """A trial whose run is under way, up to the length `at`."""

    trial: optuna.Trial
    run: Run
    at: int


class _Loop:
    def __init__(self, sweep: Sweep, study: SweepStudy, trainers: Trainers, measure: Measure, say: Say) -> None:
        self.sweep, self.study, self.trainers, self.measure, self.say = sweep, study, trainers, measure, say
        self.interrupted = study.interrupted()
        self.active: dict[str, _Active] = {}
        self.failures = 0

    def go(self) -> None:
        """Take every trial to its end."""
        while True:
            while len(self.active) < self.sweep.workers and (trial := self._next()) is not None:
                self._begin(trial)
            if not self.active:
                return
            for run, problem in self.trainers.wait():
                self._take(self.active.pop(run.out), problem)

    def _next(self) -> optuna.Trial | None:
        if self.interrupted:
            trial = self.interrupted.pop(0)
            self.say(f"trial {trial.number}: resumed after {self.study.reached(trial):,} {self.sweep.length.unit}")
            return trial
        return self.study.ask() if self.study.size < self.sweep.trials else None

    def _begin(self, trial: optuna.Trial) -> None:
        """Train a trial to its next length, unless it is over."""
        if not self.study.goes_on(trial):
            return
        number, settings, reached = trial.number, self.study.settings(trial), self.study.reached(trial)
        at = next(length for length in rungs(self.sweep) if length > reached)
        if not reached:
            shown = ", ".join(f"{key} {flow(value)}" for key, value in settings.items())
            self.say(f"trial {number}, of {counted(self.sweep.trials, 'trial')}: {shown}")
        try:
            run = trial_config(self.sweep, settings, trial_folder(self.sweep, number), length=at)
        except BadConfig as error:  # of a combination: each value alone was checked
            self._fail(trial, str(error))
            return
        self.active[run.out] = _Active(trial, run, at)
        self.trainers.start(run)

    def _take(self, each: _Active, problem: str) -> None:
        """Measure a trial whose run has ended."""
        if problem:
            self._fail(each.trial, problem)
            return
        self.failures = 0
        kept = Path(each.run.out) / f"measured-{each.at}.json"
        blocks = self.measure(each.run, self.sweep.evaluation, kept)
        result = result_of(blocks)
        self.study.report(each.trial, each.at, elo_of(score_of(blocks)), result)
        goes_on = self.study.goes_on(each.trial)
        pruned = "" if goes_on or each.at == self.sweep.length.total else ": pruned"
        self.say(
            f"trial {each.trial.number}: Elo {elo_text(result)} ({percent_text(result)} %) after "
            f"{each.at:,} {self.sweep.length.unit}{pruned}"
        )
        if goes_on:
            self._begin(each.trial)

    def _fail(self, trial: optuna.Trial, problem: str) -> None:
        self.study.fail(trial, problem)
        self.say(f"trial {trial.number}: failed: {problem}")
        self.failures += 1
        if self.failures >= _FAILURES:
            raise ArenaError(
                f"{_FAILURES} trials in a row have failed, the last one with: {problem}: fix what is named, raise `trials` "
                "by as many (failed ones count), and run the same command again"
            )
