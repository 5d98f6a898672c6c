"""Sweeps without training: runs that are over at once, and a score that is a function of their settings."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from training.experiments.ablation.config import HeldOutEvaluation
from training.experiments.sweep.config import Sweep
from training.machines.cluster.run_payload import Run
from training.online.config import OnlineConfig
from training.runs.config_reader import validated
from training.runs.evaluation import BattleBlock
from training.runs.process import write_run
from training.runs.shipped import resolve_path

RATE, ENTROPY, EPOCHS = "learner.optimizer.learning_rate.start", "algorithm.entropy.start", "algorithm.epochs"
#: The best settings of `hill`.
BEST_RATE, BEST_ENTROPY = 0.002, 0.01


def sweep_settings(out: Path, **changes: Any) -> dict[str, Any]:
    """The shipped sweep as YAML would hold it, with two settings, and without pruning and training in the end."""
    settings = yaml.safe_load(resolve_path("ppo", "sweep").read_text())
    settings["space"] = {key: settings["space"][key] for key in (RATE, ENTROPY)}
    settings |= {"out": str(out), "trials": 12, "workers": 1}
    settings["pruner"]["at"] = []
    settings["evaluation"] |= {"opponents": ["random"], "battles": 400}
    settings["final"] |= {"training_seeds": [], "battles": 400}
    for key, value in changes.items():
        if isinstance(value, dict) and key not in ("space", "fixed"):
            value = {**settings[key], **value}
        settings[key] = value
    return settings


def sweep_of(out: Path, **changes: Any) -> Sweep:
    return validated(Sweep, sweep_settings(out, **changes), "mine")


def toy_settings(out: Path, **changes: Any) -> dict[str, Any]:
    """A sweep that is really played: two trials of two iterations, measured after each of them in eight battles."""
    toy: dict[str, Any] = {
        "trials": 2,
        "length": {"total": 2},
        "pruner": {"at": [1], "startup_trials": 1},
        "evaluation": {"battles": 8},
        "final": {"battles": 8, "training_seeds": []},
        "fixed": {
            "rollout.battles": 4,
            "rollout.teams": [{"set": "competitive", "weight": 1.0}],
            "rollout.held_out": [],
            "compute.threads": 1,
            "tracking.wandb": "disabled",
        },
    }
    return sweep_settings(out, **{**toy, **changes})


def hill(run: OnlineConfig) -> float:
    """The score of settings, from 0.1 to 0.9: best at BEST_RATE and BEST_ENTROPY; it grows with the length of the run."""
    rate, entropy = run.learner.optimizer.learning_rate.at(0), run.algorithm.model_dump()["entropy"]["start"]
    away = math.log(rate / BEST_RATE) ** 2 + 0.3 * math.log(entropy / BEST_ENTROPY) ** 2
    return 0.1 + 0.8 * math.exp(-away) * run.iterations / (run.iterations + 5)


def measured_by(score: Callable[[OnlineConfig], float]) -> Callable[[Run, HeldOutEvaluation, Path], list[BattleBlock]]:
    """Plays pairs of which this share is won, whatever the seed."""

    def measure(run: Run, evaluation: HeldOutEvaluation, kept: Path) -> list[BattleBlock]:
        assert isinstance(run, OnlineConfig)
        pairs = evaluation.battles // 2
        won = round(score(run) * pairs)
        return [BattleBlock("gen1ou", "competitive", name, [1.0] * won + [0.0] * (pairs - won)) for name in
                evaluation.opponents]  # fmt: skip

    return measure


class NoTraining:
    """Trainers whose runs are over at once. started: folder and length of each run, in order; `fails`: which of them do.

    killed_after: the process is killed instead of that start.
    """

    def __init__(self, fails: Callable[[Run], bool] = lambda run: False, killed_after: int | None = None) -> None:
        self.started: list[tuple[str, int]] = []
        self._fails, self._killed_after = fails, killed_after
        self._ended: list[tuple[Run, str]] = []
        self.most = 0

    def start(self, run: Run) -> None:
        """A process is killed where it is."""
        if len(self.started) == self._killed_after:
            raise KeyboardInterrupt
        assert isinstance(run, OnlineConfig)
        self.started.append((Path(run.out).name, run.iterations))
        write_run(run)
        self._ended.append((run, "the weights are not finite" if self._fails(run) else ""))
        self.most = max(self.most, len(self._ended))

    def wait(self) -> list[tuple[Run, str]]:
        return [self._ended.pop(0)]

    def close(self) -> None:
        pass
