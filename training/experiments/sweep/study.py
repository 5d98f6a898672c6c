"""A sweep's trials in Optuna's own storage, OUT/optuna.db, which `optuna-dashboard sqlite:///OUT/optuna.db` shows, too.

Optuna is imported when a sweep is opened. What is drawn for a trial depends on the sweep's seed, the trial's number and the
results so far, and on no generator's state: a resumed sweep draws what an uninterrupted one would.
"""

from __future__ import annotations

import importlib.util
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.fixture import digest
from teamsets.errors import MissingTool
from training.experiments.sweep.config import Choices, Space, Sweep
from training.runs.settings import flow

if TYPE_CHECKING:
    import optuna

DATABASE = "optuna.db"
#: Complete trials from which importances are computed: Optuna compares the best tenth of them with the rest.
_IMPORTANCE_TRIALS = 10
_RESULT, _PROBLEM = "result", "problem"


@dataclass(frozen=True)
class TrialRecord:
    """A trial in numbers, JSON-serializable.

    state: complete, pruned, failed or running. settings: dotted key -> value. elo: what Optuna maximises; None before a
    measurement. at: the length at which it was measured last. result: of that measurement (loop.py). problem: why it failed.
    """

    number: int
    state: str
    settings: dict[str, Any]
    elo: float | None
    at: int | None
    result: dict[str, Any] | None
    problem: str | None


def need_optuna() -> None:
    """Raise MissingTool if Optuna is not installed."""
    if importlib.util.find_spec("optuna") is None:
        raise MissingTool("optuna is not installed: pip install 'battle-arena[sweep]' installs it (22 MB on disk)")


class SweepStudy:
    """The study of a sweep, in its folder. Only the process that holds the folder's lock opens it."""

    def __init__(self, sweep: Sweep) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        self._sweep = sweep
        self._study = optuna.create_study(
            storage=f"sqlite:///{_database(Path(sweep.out))}",
            study_name="sweep",
            direction="maximize",
            load_if_exists=True,
            pruner=optuna.pruners.PercentilePruner(
                100 * sweep.pruner.keep, n_startup_trials=sweep.pruner.startup_trials
            ),
        )

    def interrupted(self) -> list[optuna.Trial]:
        """Return the trials that a killed process has left unfinished, to be resumed."""
        import optuna

        found = []
        for stored in self._study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.RUNNING,)):
            self._study.sampler = self._sampler(stored.number)
            found.append(self._drawn(optuna.Trial(self._study, stored._trial_id)))
        return found

    def ask(self) -> optuna.Trial:
        """Draw the next trial."""
        self._study.sampler = self._sampler(self.size)
        return self._drawn(self._study.ask())

    @property
    def size(self) -> int:
        """The number of trials so far."""
        return len(self._study.get_trials(deepcopy=False))

    def settings(self, trial: optuna.Trial | optuna.trial.FrozenTrial) -> dict[str, Any]:
        """Return what a trial changes in the base: dotted key -> value."""
        return {key: _value(self._sweep.space[key], found) for key, found in sorted(trial.params.items())}

    def reached(self, trial: optuna.Trial) -> int:
        """Return the length at which a trial was measured last; 0 before its first measurement."""
        return self._stored(trial).last_step or 0

    def report(self, trial: optuna.Trial, at: int, elo: float, result: dict[str, Any]) -> None:
        """Keep what a trial has reached at a length."""
        trial.set_user_attr(_RESULT, result)
        trial.report(elo, at)

    def goes_on(self, trial: optuna.Trial) -> bool:
        """Return whether a trial is to be trained on; else it is finished here, as complete or pruned."""
        import optuna

        at = self.reached(trial)
        if at == self._sweep.length.total:
            self._study.tell(trial, self._stored(trial).intermediate_values[at])
            return False
        if at and trial.should_prune():
            self._study.tell(trial, state=optuna.trial.TrialState.PRUNED)
            return False
        return True

    def _stored(self, trial: optuna.Trial) -> optuna.trial.FrozenTrial:
        return self._study.get_trials(deepcopy=False)[trial.number]

    def fail(self, trial: optuna.Trial, problem: str) -> None:
        """Count a trial as failed: the sampler learns nothing from it."""
        import optuna

        trial.set_user_attr(_PROBLEM, problem)
        self._study.tell(trial, state=optuna.trial.TrialState.FAIL)

    def records(self) -> list[TrialRecord]:
        """Return all trials, in the order in which they were drawn."""
        names = {"COMPLETE": "complete", "PRUNED": "pruned", "FAIL": "failed"}
        records = []
        for trial in self._study.get_trials(deepcopy=False):
            at, reported = trial.last_step, trial.intermediate_values
            elo = None if at is None else reported[at]
            result, problem = trial.user_attrs.get(_RESULT), trial.user_attrs.get(_PROBLEM)
            state = names.get(trial.state.name, "running")
            records.append(TrialRecord(trial.number, state, self.settings(trial), elo, at, result, problem))
        return records

    def importances(self) -> dict[str, float] | None:
        """Return each setting's share in what sets the best tenth of the trials apart (PED-ANOVA); None with too few."""
        import optuna

        complete = [record for record in self.records() if record.state == "complete"]
        if len(complete) < _IMPORTANCE_TRIALS or len(self._sweep.space) < 2:
            return None
        return {key: float(share) for key, share in optuna.importance.get_param_importances(self._study).items()}

    def _sampler(self, number: int) -> optuna.samplers.BaseSampler:
        """Return the sampler of a trial. A sampler with one seed for all would draw its first trials again when resumed."""
        from optuna import samplers

        chosen = self._sweep.sampler
        seed = int(digest(["sweep", self._sweep.seed, number], 8), 16)
        if chosen.name == "tpe":
            return samplers.TPESampler(seed=seed, n_startup_trials=chosen.startup_trials)
        if chosen.name == "gp":
            return samplers.GPSampler(seed=seed, n_startup_trials=chosen.startup_trials, deterministic_objective=False)
        if chosen.name == "qmc":  # it counts its points in the storage
            return samplers.QMCSampler(seed=self._sweep.seed % 2**32, scramble=True)
        return samplers.RandomSampler(seed=seed)

    def _drawn(self, trial: optuna.Trial) -> optuna.Trial:
        """Draw what a trial lacks; what it has stays."""
        for key, each in self._sweep.space.items():
            if isinstance(each, Choices):
                trial.suggest_categorical(key, [flow(value) for value in each.values])
            elif each.kind == "int":
                trial.suggest_int(key, int(each.low), int(each.high))
            else:
                trial.suggest_float(key, each.low, each.high, log=each.kind == "log")
        return trial


def _value(each: Space, found: Any) -> Any:
    """Return a setting's value by what Optuna stores: of a choice its text, as lists and sections are none of Optuna's."""
    return next(value for value in each.values if flow(value) == found) if isinstance(each, Choices) else found


def _database(folder: Path) -> Path:
    """Return the storage's file; a new one is complete before it has its name."""
    from optuna.storages import RDBStorage

    file, unfinished = folder / DATABASE, folder / f"{DATABASE}.new"
    if not file.exists():
        unfinished.unlink(missing_ok=True)
        storage = RDBStorage(f"sqlite:///{unfinished}")
        storage.remove_session()
        storage.engine.dispose()
        os.replace(unfinished, file)
    return file
