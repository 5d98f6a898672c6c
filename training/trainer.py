"""What every learning rule needs and none should repeat: batches, devices, steps, checkpoints, validation, evaluation.

A run is a folder (training/run_folder.py). Whatever ends it, the same command goes on from its last checkpoint: the same
batches in the same order, the same dropout, the same curve (on a CPU number by number), the same run in wandb.
"""

from __future__ import annotations

import errno
import math
import time
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import InitProcessGroupKwargs, broadcast_object_list, set_seed
from torch import Tensor, nn

from agents.policy import checkpoint
from teamsets.errors import ArenaError
from training.algorithms import LOSSES
from training.algorithms.tensors import Sums, Tensors, added, on_device
from training.config import BadConfig, Config
from training.data.shards import opened
from training.data.stream import Batch, Stream, in_order
from training.evaluation import evaluate_checkpoint
from training.learner import learned, learner, reference_of
from training.run_folder import RunFolder
from training.schedule import learning_rate, total_steps
from training.tracking import Tracking

#: What the trainer adds to a checkpoint: accelerate's state (optimizer, random states), and the position in the data.
STATE = "training"
#: So many batches of each dataset held out are measured.
_VALIDATION_BATCHES = 64
#: While the main process evaluates, the others wait for it.
_EVALUATION_TIME = timedelta(hours=12)
_PRECISIONS = {"fp32": "no", "bf16": "bf16", "fp16": "fp16"}


class TrainingFailed(ArenaError):
    """Training cannot go on. The message says why, and which checkpoint is the last good one."""


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
        run.go()
    return Finished(folder.path, run.step, folder.best)


class _Run:
    """A run between two processes' ends: everything that a checkpoint must bring back is set up or brought back here."""

    def __init__(self, config: Config, folder: RunFolder, accelerator: Accelerator) -> None:
        self.config, self.folder, self.accelerator = config, folder, accelerator
        self.tracking: Tracking | None = None
        parts = accelerator.num_processes * config.compute.accumulate
        if config.data.batch < parts:
            raise BadConfig(
                f"data.batch: {config.data.batch} trajectories cannot be cut into {parts} parts: make it larger"
            )
        if config.evaluation.every % config.checkpoints.every:
            raise BadConfig(
                "evaluation.every: not a multiple of checkpoints.every, and only checkpoints can be evaluated"
            )
        set_seed(config.seed)
        sources = config.data.train
        datasets = [opened(Path(source.path)) for source in sources]
        self.validation = [opened(Path(path)) for path in config.data.validate_on]
        self.stream = Stream(
            datasets,
            [source.weight for source in sources],
            size=config.data.batch,
            longest=config.data.longest,
            seed=config.seed,
        )
        self.total = total_steps(config, sum(dataset.trajectories for dataset in datasets))
        self.step = 0
        last = folder.steps()[-1:]
        network, self.lineage = learner(config.network, folder.step_folder(last[0]) if last else None)
        network.checkpointing = config.compute.activation_checkpointing
        self.reference = reference_of(config, self.lineage, accelerator.device)
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
        state = self.folder.step_folder(step) / STATE
        try:
            self.accelerator.load_state(str(state))
            position = torch.load(state / "position.pt", weights_only=True)
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            words = " ".join(str(error).split())[:200]
            raise TrainingFailed(
                f"checkpoint {state.parent}: its training state cannot be read ({words}): delete it"
            ) from error
        if self.reference is not None:
            self.reference.restore(position["reference"])
        self.step = position["step"]
        self.stream.restore(position["stream"])

    def go(self) -> None:
        """Trains until the last step."""
        config = self.config
        self._evaluate_if_due()
        batches = iter(self.stream)
        began, seen = time.monotonic(), 0
        gathered: Sums = {}
        while self.step < self.total:
            batch = next(batches)
            sums, norm = self._learn(batch)
            self.step += 1
            seen += batch.decisions
            gathered = added(gathered, sums)
            last = self.step == self.total
            if self.step % config.tracking.every == 0 or last:
                speed = seen / (time.monotonic() - began)
                self._note(gathered, norm, speed)
                gathered = {}
            if self.step % config.checkpoints.every == 0 or last:
                self._keep()
                self._evaluate_if_due()
                began, seen = time.monotonic(), 0

    def _learn(self, batch: Batch) -> tuple[Sums, float]:
        """One step on a whole batch, which all processes hold and each takes its part of. -> sums, norm of the gradient."""
        config, accelerator = self.config, self.accelerator
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(config, self.step, self.total)
        self.network.train()
        gathered: Sums = {}
        mine = batch.rows(accelerator.process_index, accelerator.num_processes)
        for part in range(config.compute.accumulate):
            micro = on_device(mine.rows(part, config.compute.accumulate), accelerator.device)
            last = part == config.compute.accumulate - 1
            with nullcontext() if last else accelerator.no_sync(self.network):
                loss, sums = self._loss(self.network, micro)
                # The mean over all decisions of the batch, whatever the parts' sizes; gradients are averaged over processes.
                accelerator.backward(loss * accelerator.num_processes / batch.decisions)
            gathered = added(gathered, {**sums, "loss": (loss.detach(), micro.real.sum())})
        norm = float(accelerator.clip_grad_norm_(self.network.parameters(), config.optimizer.clip_norm))
        if not math.isfinite(float(gathered["loss"][0])):
            raise TrainingFailed(
                f"the loss is {float(gathered['loss'][0])} at step {self.step + 1}: {self._last_good()}"
            )
        self.optimizer.step()
        self.optimizer.zero_grad()
        if self.reference is not None and self.reference.target:
            self.reference.adapt(_means(accelerator, {"kl": gathered["kl"]})["kl"])
        return gathered, norm

    def _loss(self, network: nn.Module, batch: Tensors) -> tuple[Tensor, Sums]:
        """The rule's loss, and what staying near to the reference adds to it, summed over the batch's decisions."""
        with self.accelerator.autocast():
            output = network(batch.ids, batch.numbers, batch.legal, batch.real)
            reference = None if self.reference is None else self.reference.logits(batch)
        loss, sums = LOSSES[self.config.algorithm.name](output, batch, self.config.algorithm)
        if self.reference is None or reference is None:
            return loss, sums
        penalty, more = self.reference.penalty(output.logits, reference, batch)
        return loss + penalty, {**sums, **more}

    def _note(self, gathered: Sums, norm: float, speed: float) -> None:
        """Means since the last time, of all processes."""
        means = _means(self.accelerator, gathered)
        if self.tracking is None:
            return
        rate = learning_rate(self.config, self.step - 1, self.total)
        words = f"loss {means['loss']:.4f} · {speed:,.0f} decisions/s"
        self.tracking.advance(self.step, words)
        self.tracking.note(
            self.step, {**means, "gradient_norm": norm, "learning_rate": rate, "decisions_per_s": speed}, words
        )

    def _keep(self) -> None:
        """A checkpoint of this step, and what it is worth on the data held out."""
        measured = self._validated()
        # Before the checkpoint: a line of a step that was not kept is taken back, one that is missing never comes.
        if self.tracking is not None and measured:
            self.tracking.note(self.step, {f"validation/{name}": value for name, value in measured.items()})
        accelerator, folder = self.accelerator, self.folder.step_folder(self.step)
        try:
            if accelerator.is_main_process:
                checkpoint.save(
                    folder,
                    accelerator.unwrap_model(self.network),
                    self.step,
                    lineage=self.lineage,
                    config=self.config.model_dump(mode="json"),
                    metrics=measured,
                    extra=self._save_state,
                )
            else:
                self._save_state(None)
            accelerator.wait_for_everyone()
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise TrainingFailed(f"the disk is full at step {self.step}: {self._last_good()}") from error
        if self.tracking is None:
            return
        if measured and self.config.evaluation.best_by == "validation":
            self.folder.judge(self.step, "policy loss on held-out data", measured["policy_loss"], lower=True)
        self.folder.prune(self.config.checkpoints.keep)

    def _save_state(self, temporary: Path | None) -> None:
        """What must be there to go on, into the folder that the main process writes and the others (None) are told of."""
        (named,) = broadcast_object_list([str(temporary)])
        state = Path(named) / STATE
        self.accelerator.save_state(str(state))
        if self.accelerator.is_main_process:
            near = None if self.reference is None else self.reference.state
            position = {"step": self.step, "stream": self.stream.state, "reference": near}
            torch.save(position, state / "position.pt")

    def _last_good(self) -> str:
        steps = self.folder.steps()
        return (
            f"the last good checkpoint is {self.folder.step_folder(steps[-1])}"
            if steps
            else "there is no checkpoint yet"
        )

    def _validated(self) -> dict[str, float]:
        """The means of the rule's measurements on the data held out; nothing where there is none, or in another process."""
        if self.tracking is None or not self.validation:
            return {}
        network = self.accelerator.unwrap_model(self.network)
        network.eval()
        gathered: Sums = {}
        config = self.config
        for dataset in self.validation:
            for batch in islice(in_order(dataset, config.data.batch, config.data.longest), _VALIDATION_BATCHES):
                tensors = on_device(batch, self.accelerator.device)
                with torch.no_grad():
                    _, sums = self._loss(network, tensors)
                gathered = added(gathered, sums)
        return {name: float(total) / max(1.0, float(count)) for name, (total, count) in gathered.items()}

    def _evaluate_if_due(self) -> None:
        """Battles of the checkpoint of this step, unless they were played before the process was killed."""
        every, last = self.config.evaluation.every, self.step == self.total
        due = every and self.step and (self.step % every == 0 or last)
        if due and self.tracking is not None and self.step not in self.folder.evaluated():
            self.tracking.say(f"{self.step} of {self.total} steps · evaluating ...")
            found = evaluate_checkpoint(self.config.evaluation, f"policy:{self.folder.path}@{self.step}")
            self.folder.note_evaluation(self.step, found.told)
            self.tracking.note(self.step, found.metrics, found.words)
            if self.config.evaluation.best_by == "rating":
                self.folder.judge(self.step, "rating", found.rating)
        self.accelerator.wait_for_everyone()


def _means(accelerator: Accelerator, sums: Sums) -> dict[str, float]:
    """The means over all processes."""
    stacked = torch.tensor([[float(part) for part in pair] for pair in sums.values()], device=accelerator.device)
    totals = accelerator.reduce(stacked, reduction="sum").tolist()
    return {name: total / max(1.0, count) for name, (total, count) in zip(sums, totals, strict=True)}
