"""The training loop, shared by all learning rules: batches, devices, steps, checkpoints, validation and evaluation.

A run is a folder (training/runs/run_folder.py). However it was interrupted, the same command resumes it from its last
checkpoint: the same batches in the same order, the same dropout masks, the same curves (bitwise on a CPU), and the same
wandb run.
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
from agents.policy.network import Network
from training.data.stream import Batch
from training.offline.config import Config
from training.offline.learner import build_network, inherited_team_preview, load_reference
from training.offline.objective import Objective, means_over_processes
from training.offline.run_data import RunData
from training.offline.schedule import learning_rate, total_steps
from training.offline.tensors import Sums, add_sums, local_means, to_device
from training.offline.validation import summary
from training.runs.config_reader import BadConfig
from training.runs.curves import FILE as CURVES
from training.runs.curves import write_curves
from training.runs.distributed.rank import Rank, world_size
from training.runs.distributed.sharding import all_finite, sharding_plugin, use_sharding, whole_network
from training.runs.evaluation import evaluate_checkpoint
from training.runs.parameters import parameter_groups
from training.runs.run_folder import RunFolder
from training.runs.state import DiskFull, TrainingFailed, report_disk_full, restore_state, save_state
from training.runs.tracking import Pace, Tracking

#: Consecutive steps with a non-finite gradient after which a run stops. fp16 halves its loss scale in each.
_BAD_STEPS = 20
#: Timeout of the other processes, which wait while the main process evaluates.
_EVALUATION_TIME = timedelta(hours=12)
#: Metrics that are reduced over processes at every step, to detect divergence and to adapt the KL coefficient.
_WATCHED = ("loss", "kl", "kl_without_dropout")
_PRECISIONS = {"fp32": "no", "bf16": "bf16", "fp16": "fp16"}


@dataclass(frozen=True)
class FinishedRun:
    """A finished run. step: the last step. best: the content of best.json; None if no checkpoint was measured."""

    folder: Path
    step: int
    best: dict[str, Any] | None


def train(config: Config, rank: Rank | None = None) -> FinishedRun:
    """Train until the configured number of steps, resuming from the folder's last checkpoint if there is one.

    rank: notes where this process is, if the run has several. Raises BadConfig, BadData, and TrainingFailed that names the
    last good checkpoint.
    """
    if config.compute.threads:
        torch.set_num_threads(config.compute.threads)
    plugin = sharding_plugin(config.compute)
    accelerator = Accelerator(
        cpu=world_size() > 1
        and not torch.cuda.is_available(),  # else accelerate takes each process for a run of its own
        mixed_precision=_PRECISIONS[config.compute.precision],
        kwargs_handlers=[InitProcessGroupKwargs(timeout=_EVALUATION_TIME)],
        fsdp_plugin=plugin,
    )
    use_sharding(accelerator, plugin)
    folder = RunFolder(config)
    with ExitStack() as stack:
        if accelerator.is_main_process:
            stack.enter_context(folder.locked())
        accelerator.wait_for_everyone()
        run = _Run(config, folder, accelerator, rank or Rank())
        if accelerator.is_main_process:
            run.tracking = stack.enter_context(Tracking(config, folder.path, run.step, run.total))
        try:
            with report_disk_full(folder.path):
                run.train()
        except DiskFull as error:
            raise TrainingFailed(
                f"the disk is full at step {run.step}: {run.last_good()}; make room and resume"
            ) from error
    return FinishedRun(folder.path, run.step, folder.best)


class _Run:
    """A run in one process. The constructor sets up, or restores from the last checkpoint, everything that has state."""

    def __init__(self, config: Config, folder: RunFolder, accelerator: Accelerator, rank: Rank) -> None:
        self.config, self.folder, self.accelerator, self.rank = config, folder, accelerator, rank
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
        last = folder.steps()[-1:]
        last_folder = folder.step_folder(last[0]) if last else None
        self.data = RunData(config, inherited_team_preview(config.network, last_folder))
        self.total = total_steps(config, self.data.trajectories)
        self.step, self.skipped = 0, 0
        network, self.lineage = build_network(
            config.network, last_folder, self.data.slots, self.data.team_preview, self.data.has_previews
        )
        network.checkpointing = config.compute.activation_checkpointing
        self.reference = load_reference(config, self.lineage, accelerator.device, self.data.team_preview)
        self.objective = Objective(config, self.reference, accelerator)
        # A different seed from that of the initial weights. Resuming restores the generators from the checkpoint.
        set_seed(config.seed + 1, device_specific=True)
        optimizer = torch.optim.AdamW(
            parameter_groups(network, config.optimizer.weight_decay),
            lr=config.optimizer.learning_rate,
            betas=config.optimizer.betas,
        )
        self.network, self.optimizer = accelerator.prepare(network, optimizer)
        # accelerate does not save the weights: the checkpoint has them already, in the format that agents load.
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

    def train(self) -> None:
        """Run the training loop until the last step."""
        config = self.config
        self._print_header()
        self._evaluate_if_due()
        batches = iter(self.data.stream)
        pace = Pace()
        interval_sums: Sums = {}
        while self.step < self.total:
            self.rank.enter(self.step + 1, "reading data")
            batch = next(batches)
            sums, grad_norm = self._training_step(batch)
            self.step += 1
            pace.stepped(batch.decisions)
            interval_sums = add_sums(interval_sums, sums)
            last = self.step == self.total
            if self.tracking is not None:
                self.tracking.advance(self.step, local_means(interval_sums), pace)
            if self.step % config.tracking.every == 0 or last:
                self._log_metrics(interval_sums, grad_norm, pace.decisions_per_s)
                interval_sums = {}
            if self.step % config.checkpoints.every == 0 or last:
                self._save_checkpoint()
                self._evaluate_if_due()
                pace.restart()

    def _print_header(self) -> None:
        """Print what is trained, on which data and for how many steps."""
        if self.tracking is None:
            return
        parameters = sum(parameter.numel() for parameter in self.network.parameters())  # also where they are sharded
        resumed = f", resumed at step {self.step:,}" if self.step else ""
        self.tracking.say(
            f"{self.config.name}: {parameters:,} parameters, {self.total:,} steps of {self.config.data.batch_size} "
            f"trajectories on {self.accelerator.device}{resumed}; {self.folder.path}/{CURVES} shows the curves"
        )
        self.tracking.say(f"passes over the data: {'; '.join(self.data.passes(self.total))}")
        self.tracking.doing(self.step, "learning")

    def _training_step(self, batch: Batch) -> tuple[Sums, float]:
        """Run one optimizer step, and return the sums behind the metrics and the gradient norm before clipping.

        batch: the whole batch, which is the same in all processes; each trains on its own part.
        """
        config, accelerator = self.config, self.accelerator
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(config, self.step, self.total)
        self.network.train()
        step_sums: Sums = {}
        mine = batch.rows(accelerator.process_index, accelerator.num_processes)
        for part in range(config.compute.gradient_accumulation_steps):
            micro = to_device(mine.rows(part, config.compute.gradient_accumulation_steps), accelerator.device)
            last = part == config.compute.gradient_accumulation_steps - 1
            with nullcontext() if last else accelerator.no_sync(self.network):
                self.rank.enter(self.step + 1, "forward")
                loss, sums = self.objective(self.network, micro)
                self.rank.enter(self.step + 1, "backward")
                # Divided by a constant, not by the batch's number of decisions, so that a decision has the same weight in
                # batches of short and of long battles. DDP averages gradients over processes: hence num_processes.
                accelerator.backward(loss * accelerator.num_processes / self.data.stream.mean_decisions)
            step_sums = add_sums(step_sums, {**sums, "loss": (loss.detach(), micro.valid_mask.sum())})
        self.rank.enter(self.step + 1, "optimizer step")
        grad_norm = float(accelerator.clip_grad_norm_(self.network.parameters(), config.optimizer.max_grad_norm))
        # Reduced over processes: if one of them has a non-finite loss, all stop, and the main process reports it.
        means = means_over_processes(accelerator, {name: step_sums[name] for name in _WATCHED if name in step_sums})
        if not math.isfinite(means["loss"]):
            raise self._diverged(f"the loss is {means['loss']}", self.step + 1)
        updated = self._optimizer_step(grad_norm)
        if updated and self.reference is not None:
            self.reference.adapt(means.get("kl_without_dropout", means["kl"]))
        return step_sums, grad_norm

    def _optimizer_step(self, grad_norm: float) -> bool:
        """Update the weights unless the gradient is non-finite, and return whether they were updated.

        Raises TrainingFailed after _BAD_STEPS non-finite gradients in a row.
        """
        good = math.isfinite(grad_norm)
        if good or self.accelerator.scaler is not None:  # fp16's GradScaler skips the step itself, and lowers its scale
            self.optimizer.step()
        self.optimizer.zero_grad()
        self.skipped = 0 if good else self.skipped + 1
        if self.skipped == 1 and self.tracking is not None:
            self.tracking.say(f"step {self.step + 1}: the gradient is not finite: step skipped")
        if self.skipped >= _BAD_STEPS:
            raise self._diverged(f"the gradient was not finite in {self.skipped} steps in a row", self.step + 1)
        return good

    def _diverged(self, reason: str, step: int) -> TrainingFailed:
        rate = learning_rate(self.config, step - 1, self.total)
        return TrainingFailed(
            f"{reason} at step {step} (learning rate {rate:g}): {self.last_good()}; lower optimizer.learning_rate and start "
            "another run"
        )

    def _log_metrics(self, sums: Sums, grad_norm: float, speed: float) -> None:
        """Log the means over all processes since the last call. speed: decisions per second."""
        means = means_over_processes(self.accelerator, sums)
        if self.tracking is None:
            return
        rate = learning_rate(self.config, self.step - 1, self.total)
        metrics = {**means, "gradient_norm": grad_norm, "learning_rate": rate, "decisions_per_s": speed}
        self.tracking.note(self.step, {name: value for name, value in metrics.items() if math.isfinite(value)})

    def _save_checkpoint(self) -> None:
        """Validate and save a checkpoint of this step. Raises TrainingFailed if weights or validation are not finite."""
        accelerator, folder = self.accelerator, self.folder.step_folder(self.step)
        if not all_finite(accelerator, self.network):
            raise self._diverged("the weights are not finite, so they are not saved,", self.step)
        network = whole_network(accelerator, self.network)
        self.rank.enter(self.step, "validation", patient=True)
        metrics = self._validated(network)
        accelerator.wait_for_everyone()
        self.rank.enter(self.step, "saving")
        bad = [name for name, value in metrics.items() if not math.isfinite(value)]
        if bad:
            reason = f"{' and '.join(bad)} on the held-out data is not finite, so the weights are not saved,"
            raise self._diverged(reason, self.step)
        # Logged before the checkpoint is saved: resuming removes lines of later steps, but could not add a missing one.
        if self.tracking is not None and metrics:
            self.tracking.note(
                self.step,
                {f"validation/{name}": value for name, value in metrics.items()},
                f"held out: {summary(metrics)}",
            )
        if accelerator.is_main_process:
            checkpoint.save(
                folder,
                network,
                self.step,
                lineage=self.lineage,
                config=self.config.model_dump(mode="json"),
                metrics=metrics,
                extra=self._save_state,
            )
        else:
            self._save_state(None)
        accelerator.wait_for_everyone()
        if self.tracking is None:
            return
        if "policy_loss" in metrics and self.config.evaluation.best_by == "validation":
            self.folder.update_best(self.step, "policy loss on held-out data", metrics["policy_loss"], lower=True)
        self.folder.prune(self.config.checkpoints.keep)
        write_curves(self.folder.path)

    def _save_state(self, temporary: Path | None) -> None:
        reference = None if self.reference is None else self.reference.state
        position = {"step": self.step, **self.data.state, "reference": reference}
        save_state(self.accelerator, temporary, position)

    def last_good(self) -> str:
        """Return the part of an error message that names the last good checkpoint."""
        steps = self.folder.steps()
        return (
            f"the last good checkpoint is {self.folder.step_folder(steps[-1])}"
            if steps
            else "there is no checkpoint yet"
        )

    def _validated(self, network: Network) -> dict[str, float]:
        """Return the validation metrics; empty without validation datasets and in other than the main process."""
        if self.tracking is None or not self.config.data.validate_on:
            return {}
        self.tracking.doing(self.step, "validating")
        return self.data.validated(network, self.accelerator.device, self.objective)

    def _evaluate_if_due(self) -> None:
        """Play the evaluation battles of this step's checkpoint, unless they were played before an interruption."""
        every, last = self.config.evaluation.every, self.step == self.total
        due = every and self.step and (self.step % every == 0 or last)
        if due:
            self.rank.enter(self.step, "evaluation battles", patient=True)
        if due and self.tracking is not None and self.step not in self.folder.evaluated():
            self.tracking.say(f"{self.step:,}/{self.total:,} · evaluating in battles ...")
            result = evaluate_checkpoint(self.config.evaluation, f"policy:{self.folder.path}@{self.step}")
            self.folder.record_evaluation(self.step, result.details)
            self.tracking.note(self.step, result.metrics, result.summary)
            write_curves(self.folder.path)
            if self.config.evaluation.best_by == "rating":
                self.folder.update_best(self.step, result.rated_by, result.rating)
        self.accelerator.wait_for_everyone()
