"""What every learning rule needs and none should repeat: batches, devices, steps, checkpoints, validation, evaluation.

A run is a folder (training/run_folder.py). Whatever ends it, the same command goes on from its last checkpoint: the same
batches in the same order, the same dropout, the same curve (on a CPU number by number), the same run in wandb.
"""

from __future__ import annotations

import math
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import InitProcessGroupKwargs, set_seed

from agents.policy import checkpoint
from training.algorithms.tensors import Sums, added, local_means, on_device
from training.config import BadConfig, Config
from training.curves import FILE as CURVES
from training.curves import write_curves
from training.data.stream import Batch
from training.evaluation import evaluate_checkpoint
from training.learner import learned, learner, reference_of
from training.objective import Objective
from training.run_data import RunData
from training.run_folder import RunFolder
from training.schedule import learning_rate, total_steps
from training.state import DiskFull, TrainingFailed, disk_full_told, finite, restore_state, save_state
from training.tracking import Pace, Tracking
from training.validation import in_words

#: Steps in a row whose gradient is not finite after which a run stops. fp16 lowers its scale by a half in each.
_BAD_STEPS = 20
#: While the main process evaluates, the others wait for it.
_EVALUATION_TIME = timedelta(hours=12)
#: What every step looks at besides the norm of its gradient.
_WATCHED = ("loss", "kl", "kl_without_dropout")
_PRECISIONS = {"fp32": "no", "bf16": "bf16", "fp16": "fp16"}


@dataclass(frozen=True)
class Finished:
    """How a run ended. step: where. best: as in best.json, None where nothing was measured."""

    folder: Path
    step: int
    best: dict[str, Any] | None


def train(config: Config) -> Finished:
    """Trains to the end of the configuration, from the last checkpoint of its folder if there is one.

    Raises BadConfig, BadData, and TrainingFailed with the last good checkpoint named.
    """
    if config.compute.threads:
        torch.set_num_threads(config.compute.threads)
    accelerator = Accelerator(
        mixed_precision=_PRECISIONS[config.compute.precision],
        kwargs_handlers=[InitProcessGroupKwargs(timeout=_EVALUATION_TIME)],
    )
    folder = RunFolder(config)
    with ExitStack() as stack:
        if accelerator.is_main_process:
            stack.enter_context(folder.held())
        accelerator.wait_for_everyone()
        run = _Run(config, folder, accelerator)
        if accelerator.is_main_process:
            run.tracking = stack.enter_context(Tracking(config, folder.path, run.step, run.total))
        try:
            with disk_full_told(folder.path):
                run.go()
        except DiskFull as error:
            raise TrainingFailed(
                f"the disk is full at step {run.step}: {run.last_good()}; make room and resume"
            ) from error
    return Finished(folder.path, run.step, folder.best)


class _Run:
    """A run between two processes' ends: everything that a checkpoint must bring back is set up or brought back here."""

    def __init__(self, config: Config, folder: RunFolder, accelerator: Accelerator) -> None:
        self.config, self.folder, self.accelerator = config, folder, accelerator
        self.tracking: Tracking | None = None
        parts = accelerator.num_processes * config.compute.gradient_accumulation_steps
        if config.data.batch_size < parts:
            raise BadConfig(
                f"data.batch_size: {config.data.batch_size} trajectories cannot be split into {parts} parts: make it larger"
            )
        if config.evaluation.every % config.checkpoints.every:
            raise BadConfig(
                "evaluation.every: not a multiple of checkpoints.every, and only checkpoints can be evaluated"
            )
        set_seed(config.seed)
        self.data = RunData(config)
        self.total = total_steps(config, self.data.trajectories)
        self.step, self.skipped = 0, 0
        last = folder.steps()[-1:]
        network, self.lineage = learner(config.network, folder.step_folder(last[0]) if last else None)
        network.checkpointing = config.compute.activation_checkpointing
        self.reference = reference_of(config, self.lineage, accelerator.device)
        self.objective = Objective(config, self.reference, accelerator)
        # Another seed than that of the first weights; a checkpoint brings back the generators as they were.
        set_seed(config.seed + 1, device_specific=True)
        optimizer = torch.optim.AdamW(
            learned(network, config.optimizer.weight_decay),
            lr=config.optimizer.learning_rate,
            betas=config.optimizer.betas,
        )
        self.network, self.optimizer = accelerator.prepare(network, optimizer)
        # The weights lie in the checkpoint already, as those who play with it want them.
        accelerator.register_save_state_pre_hook(lambda models, weights, path: weights.clear())
        accelerator.register_load_state_pre_hook(lambda models, path: models.clear())
        if last:
            self._restore(last[0])

    def _restore(self, step: int) -> None:
        position = restore_state(self.accelerator, self.folder.step_folder(step))
        if self.reference is not None:
            self.reference.restore(position["reference"])
        self.step = position["step"]
        self.data.restore(position)

    def go(self) -> None:
        """Trains until the last step."""
        config = self.config
        self._begin()
        self._evaluate_if_due()
        batches = iter(self.data.stream)
        pace = Pace()
        gathered: Sums = {}
        while self.step < self.total:
            batch = next(batches)
            sums, norm = self._learn(batch)
            self.step += 1
            pace.stepped(batch.decisions)
            gathered = added(gathered, sums)
            last = self.step == self.total
            if self.tracking is not None:
                self.tracking.advance(self.step, local_means(gathered), pace)
            if self.step % config.tracking.every == 0 or last:
                self._note(gathered, norm, pace.decisions_per_s)
                gathered = {}
            if self.step % config.checkpoints.every == 0 or last:
                self._keep()
                self._evaluate_if_due()
                pace.restart()

    def _begin(self) -> None:
        """What is trained, on what and how long: the first line of a run."""
        if self.tracking is None:
            return
        parameters = sum(parameter.numel() for parameter in self.network.parameters())
        resumed = f", resumed at step {self.step:,}" if self.step else ""
        self.tracking.say(
            f"{self.config.name}: {parameters:,} parameters, {self.total:,} steps of {self.config.data.batch_size} "
            f"trajectories on {self.accelerator.device}{resumed}; {self.folder.path}/{CURVES} shows the curves"
        )
        self.tracking.say(f"passes over the data: {'; '.join(self.data.passes(self.total))}")
        self.tracking.doing(self.step, "learning")

    def _learn(self, batch: Batch) -> tuple[Sums, float]:
        """One step on a whole batch, which all processes hold and each takes its part of. -> sums, norm of the gradient."""
        config, accelerator = self.config, self.accelerator
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(config, self.step, self.total)
        self.network.train()
        gathered: Sums = {}
        mine = batch.rows(accelerator.process_index, accelerator.num_processes)
        for part in range(config.compute.gradient_accumulation_steps):
            micro = on_device(mine.rows(part, config.compute.gradient_accumulation_steps), accelerator.device)
            last = part == config.compute.gradient_accumulation_steps - 1
            with nullcontext() if last else accelerator.no_sync(self.network):
                loss, sums = self.objective(self.network, micro)
                # By the same number at every step, so that a decision weighs the same in a batch of short battles and in one
                # of long ones; gradients are averaged over processes.
                accelerator.backward(loss * accelerator.num_processes / self.data.stream.mean_decisions)
            gathered = added(gathered, {**sums, "loss": (loss.detach(), micro.real.sum())})
        norm = float(accelerator.clip_grad_norm_(self.network.parameters(), config.optimizer.max_grad_norm))
        # Of all processes: whichever meets a number that is not finite, all stop, and the main process says why.
        means = _means(accelerator, {name: gathered[name] for name in _WATCHED if name in gathered})
        if not math.isfinite(means["loss"]):
            raise self._diverged(f"the loss is {means['loss']}", self.step + 1)
        stepped = self._stepped(norm)
        if stepped and self.reference is not None:
            self.reference.adapt(means.get("kl_without_dropout", means["kl"]))
        return gathered, norm

    def _stepped(self, norm: float) -> bool:
        """Changes the weights, unless the gradient is not finite; whether it did. norm: of the gradient, before clipping.

        Raises TrainingFailed after _BAD_STEPS such gradients in a row.
        """
        good = math.isfinite(norm)
        if good or self.accelerator.scaler is not None:  # fp16's scaler skips the step itself, and lowers its scale
            self.optimizer.step()
        self.optimizer.zero_grad()
        self.skipped = 0 if good else self.skipped + 1
        if self.skipped == 1 and self.tracking is not None:
            self.tracking.say(f"step {self.step + 1}: the gradient is not finite: step skipped")
        if self.skipped >= _BAD_STEPS:
            raise self._diverged(f"the gradient was not finite in {self.skipped} steps in a row", self.step + 1)
        return good

    def _diverged(self, what: str, step: int) -> TrainingFailed:
        rate = learning_rate(self.config, step - 1, self.total)
        return TrainingFailed(
            f"{what} at step {step} (learning rate {rate:g}): {self.last_good()}; lower optimizer.learning_rate and start "
            "another run"
        )

    def _note(self, gathered: Sums, norm: float, speed: float) -> None:
        """Means since the last time, of all processes."""
        means = _means(self.accelerator, gathered)
        if self.tracking is None:
            return
        rate = learning_rate(self.config, self.step - 1, self.total)
        measured = {**means, "gradient_norm": norm, "learning_rate": rate, "decisions_per_s": speed}
        self.tracking.note(self.step, {name: value for name, value in measured.items() if math.isfinite(value)})

    def _keep(self) -> None:
        """A checkpoint of this step, and what it is worth on the data held out. Raises TrainingFailed for one of no use."""
        accelerator, folder = self.accelerator, self.folder.step_folder(self.step)
        network = accelerator.unwrap_model(self.network)
        if not finite(network):
            raise self._diverged("the weights are not finite, so they are not saved,", self.step)
        measured = self._validated()
        bad = [name for name, value in measured.items() if not math.isfinite(value)]
        if bad:
            what = f"{' and '.join(bad)} on the held-out data is not finite, so the weights are not saved,"
            raise self._diverged(what, self.step)
        # Before the checkpoint: a line of a step that was not kept is taken back, one that is missing never comes.
        if self.tracking is not None and measured:
            self.tracking.note(
                self.step,
                {f"validation/{name}": value for name, value in measured.items()},
                f"held out: {in_words(measured)}",
            )
        if accelerator.is_main_process:
            checkpoint.save(
                folder,
                network,
                self.step,
                lineage=self.lineage,
                config=self.config.model_dump(mode="json"),
                metrics=measured,
                extra=self._save_state,
            )
        else:
            self._save_state(None)
        accelerator.wait_for_everyone()
        if self.tracking is None:
            return
        if "policy_loss" in measured and self.config.evaluation.best_by == "validation":
            self.folder.judge(self.step, "policy loss on held-out data", measured["policy_loss"], lower=True)
        self.folder.prune(self.config.checkpoints.keep)
        write_curves(self.folder.path)

    def _save_state(self, temporary: Path | None) -> None:
        near = None if self.reference is None else self.reference.state
        position = {"step": self.step, **self.data.state, "reference": near}
        save_state(self.accelerator, temporary, position)

    def last_good(self) -> str:
        """Which checkpoint there is to continue with, in words."""
        steps = self.folder.steps()
        return (
            f"the last good checkpoint is {self.folder.step_folder(steps[-1])}"
            if steps
            else "there is no checkpoint yet"
        )

    def _validated(self) -> dict[str, float]:
        """The means of the rule's measurements on the data held out; nothing where there is none, or in another process."""
        if self.tracking is None or not self.config.data.validate_on:
            return {}
        self.tracking.doing(self.step, "validating")
        return self.data.validated(self.accelerator.unwrap_model(self.network), self.accelerator.device, self.objective)

    def _evaluate_if_due(self) -> None:
        """Battles of the checkpoint of this step, unless they were played before the process was killed."""
        every, last = self.config.evaluation.every, self.step == self.total
        due = every and self.step and (self.step % every == 0 or last)
        if due and self.tracking is not None and self.step not in self.folder.evaluated():
            self.tracking.say(f"{self.step:,}/{self.total:,} · evaluating in battles ...")
            found = evaluate_checkpoint(self.config.evaluation, f"policy:{self.folder.path}@{self.step}")
            self.folder.note_evaluation(self.step, found.told)
            self.tracking.note(self.step, found.metrics, found.words)
            write_curves(self.folder.path)
            if self.config.evaluation.best_by == "rating":
                self.folder.judge(self.step, "rating", found.rating)
        self.accelerator.wait_for_everyone()


def _means(accelerator: Accelerator, sums: Sums) -> dict[str, float]:
    """The means over all processes."""
    stacked = torch.tensor([[float(part) for part in pair] for pair in sums.values()], device=accelerator.device)
    totals = accelerator.reduce(stacked, reduction="sum").tolist()
    return {name: total / count for name, (total, count) in zip(sums, totals, strict=True) if count}
