"""A run of online training: its folder, checkpoints, metrics and evaluation battles.

However it was interrupted, the same command resumes it from its last checkpoint, with the same numbers (bitwise on a CPU)
and in the same wandb run.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import torch

from agents.policy import checkpoint
from training.online.config import OnlineConfig
from training.online.trainer import LEARNER, Metrics, Trainer, finite_metrics
from training.runs.common_settings import EvaluationBattles
from training.runs.curves import write_curves
from training.runs.evaluation import check_evaluation, evaluate_checkpoint
from training.runs.run_folder import FREE, RunFolder
from training.runs.state import UNREADABLE, DiskFull, TrainingFailed, check_files, finite, report_disk_full
from training.runs.tracking import Tracking

#: The file of a checkpoint with all of the trainer's state.
STATE = "online.pt"
#: The setting by which another run starts from a checkpoint's weights.
_START_FROM = "learner.network.start_from"
#: Settings that may change when a run is resumed.
_FREE = (*FREE, "iterations", "max_decisions", "max_minutes", "compute.device")
#: Settings that say nothing in a run without evaluation battles. Presets of later versions may have others.
_UNUSED = tuple(f"evaluation.{name}" for name in EvaluationBattles.model_fields)


def train_online(config: OnlineConfig, rule: Callable[[OnlineConfig], Trainer]) -> RunFolder:
    """Train until the configured iteration, resuming from the folder's last checkpoint if there is one.

    rule: the learning rule of `config.algorithm`. Raises BadConfig, BadInput and TrainingFailed.
    """
    free = _FREE if config.evaluation.every else (*_FREE, *_UNUSED)
    folder = RunFolder(config, free)
    if config.evaluation.every and config.evaluation.venue == "engine":
        check_evaluation(config.evaluation)
    with folder.locked(), closing(rule(config)) as trainer:
        done = folder.steps()[-1:]
        if done:
            trainer.restore(_read(folder.step_folder(done[0])))
        trainer.check_replacements()
        with Tracking(config, folder.path, trainer.iteration, config.iterations) as tracking:
            try:
                with report_disk_full(folder.path):
                    _Run(config, folder, trainer, tracking).go()
            except DiskFull as error:
                raise TrainingFailed(
                    f"the disk is full at iteration {trainer.iteration}; make room and resume"
                ) from error
    return folder


class _Run:
    """The loop, around a trainer that stands where its last checkpoint left it."""

    def __init__(self, config: OnlineConfig, folder: RunFolder, trainer: Trainer, tracking: Tracking) -> None:
        self.config, self.folder, self.trainer, self.tracking = config, folder, trainer, tracking

    def go(self) -> None:
        if not self.folder.steps():
            self._save({})
        self._evaluate_if_due()
        if not self.trainer.over:
            battles, place = self.config.rollout.battles, self.config.venue
            self.tracking.say(f"iteration {self.trainer.iteration + 1:,}: playing {battles:,} battles on {place} ...")
        while not self.trainer.over:
            metrics = finite_metrics(self.trainer.iterate())
            done = self.trainer.iteration
            if done % self.config.tracking.every == 0:
                self.tracking.note(done, metrics)
            self.tracking.show(done, _line(done, self.config.iterations, metrics))
            if done % self.config.checkpoints.every == 0 or self.trainer.over:
                self._save(metrics)
                self._evaluate_if_due()

    def _save(self, metrics: Metrics) -> None:
        trainer, learner = self.trainer, self.trainer.roles[LEARNER]
        if not finite(learner.network) or not finite(learner.published):
            raise TrainingFailed(
                f"the weights are not finite at iteration {trainer.iteration}, so they are not saved: lower "
                "learner.optimizer.learning_rate and start another run"
            )
        checkpoint.save(
            self.folder.step_folder(trainer.iteration),
            learner.published,
            trainer.iteration,
            lineage=learner.lineage,
            config=self.config.model_dump(mode="json"),
            metrics=metrics,
            extra=lambda temporary: torch.save(trainer.state(), temporary / STATE),
        )
        self.folder.prune(self.config.checkpoints.keep)
        write_curves(self.folder.path)

    def _evaluate_if_due(self) -> None:
        every, done = self.config.evaluation.every, self.trainer.iteration
        if not every or (done % every and not self.trainer.over) or done in self.folder.evaluated():
            return
        if not self.folder.step_folder(done).exists():
            return
        self.tracking.say(f"{done:,}/{self.config.iterations:,} · evaluating in battles ...")
        result = evaluate_checkpoint(
            self.config.evaluation, f"policy:{self.folder.path}@{done}", self.config.compute.device
        )
        self.folder.record_evaluation(done, result.details)
        self.tracking.note(done, result.metrics, result.summary)
        write_curves(self.folder.path)
        if self.config.evaluation.best_by == "rating":
            self.folder.update_best(done, result.rated_by, result.rating)


def _line(done: int, total: int, metrics: Metrics) -> str:
    kl = f" · KL {metrics['kl']:.3f}" if "kl" in metrics else ""
    return (
        f"{done:,}/{total:,} · return {metrics.get('raw_return', 0.0):+.3f} · entropy {metrics.get('entropy', 0.0):.2f}{kl}"
        f" · {metrics['decisions_per_s']:,.0f} decisions/s"
    )


def _read(folder: Path) -> dict[str, Any]:
    """The state of a checkpoint. Raises TrainingFailed that names the file."""
    file = folder / STATE
    if file.exists():
        check_files(folder, _START_FROM)
    try:
        state: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=False)
    except UNREADABLE as error:
        problem = "is missing" if isinstance(error, FileNotFoundError) else "is damaged"
        raise TrainingFailed(
            f"{file}: {problem}: delete {folder} to resume from the checkpoint before it, or start another run from its "
            f"weights ({_START_FROM}: {folder})"
        ) from error
    return state
