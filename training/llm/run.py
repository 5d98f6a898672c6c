"""A run of `train llm-dpo`: TRL's trainer, checkpoints that are complete or not there, and what it leaves.

RUN/config.yaml               the configuration
RUN/metrics.jsonl             all metrics, a line per measurement
RUN/checkpoints/checkpoint-N  adapters with the state of their training; each plays as llm:RUN/checkpoints/checkpoint-N
RUN/model                     the result: plays as llm:RUN
"""

from __future__ import annotations

import json
import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset, disable_progress_bars
from transformers import PrinterCallback, TrainerCallback
from transformers.trainer_callback import ProgressCallback
from transformers.utils import logging as transformers_logging
from trl import DPOConfig, DPOTrainer

from agents.llm.models import OUTPUT, folder_of, is_model
from teamsets.atomic import atomic_folder, write_atomic
from training.llm.config import LlmConfig
from training.llm.data import Rows, rows_of
from training.llm.loading import adapter_of, base_model, in_4bit, merged, precision_of, tokenizer_of
from training.runs.run_folder import keep_settings, lock_folder
from training.runs.tracking import Tracking

#: Settings that may change when a run is resumed: they do not change what is trained.
FREE = ("name", "out", "tracking", "compute.threads", "checkpoints.keep", "output")
#: In a checkpoint's folder once all of it is written.
_COMPLETE = "complete"
#: TRL's metric -> ours.
_NAMES = {
    "loss": "loss",
    "rewards/accuracies": "pair_accuracy",
    "rewards/margins": "reward_margin",
    "rewards/chosen": "reward_chosen",
    "rewards/rejected": "reward_rejected",
    "entropy": "entropy",
    "grad_norm": "grad_norm",
    "learning_rate": "learning_rate",
}


@dataclass(frozen=True)
class FinishedLlmRun:
    """A finished run. step: of the last checkpoint."""

    folder: Path
    step: int


def train_llm(config: LlmConfig) -> FinishedLlmRun:
    """Train to the last step, from the last complete checkpoint if there is one, and write RUN/model.

    Raises BadConfig, BadInput, BadData.
    """
    out = Path(config.out)
    with lock_folder(out, "in use by another training process: wait, or name another folder"):
        keep_settings(out / "config.yaml", config, FREE)
        if config.compute.threads:
            torch.set_num_threads(config.compute.threads)
        _quiet()
        checkpoint = _last_complete(out / "checkpoints")
        step = 0 if checkpoint is None else _step(checkpoint)
        tokenizer = tokenizer_of(config)
        rows = rows_of(config.data, tokenizer)
        last_step = _max_steps(config, len(rows.train))
        if step < last_step:
            trainer = _trainer(config, tokenizer, rows)
            with Tracking(config, out, step, last_step) as tracking:
                tracking.say(_begun(config, rows, step, trainer.model))
                trainer.add_callback(_Metrics(tracking))
                trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
        last = _last_complete(out / "checkpoints")
        assert last is not None
        _write(config, last, tokenizer, out / OUTPUT)
        return FinishedLlmRun(out, _step(last))


def _quiet() -> None:
    """No progress bars among the run's own lines, and no warnings of transformers about names that TRL uses."""
    disable_progress_bars()
    transformers_logging.disable_progress_bar()
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")


class _Trainer(DPOTrainer):  # type: ignore[misc, unused-ignore]
    """Marks a checkpoint when all of it is written, and only then deletes older ones: a kill leaves a complete one."""

    keep = 2

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        super()._save_checkpoint(model, trial)
        folder = Path(str(self.args.output_dir))
        write_atomic(folder / f"checkpoint-{self.state.global_step}" / _COMPLETE, "")
        for old in _complete(folder)[: -self.keep]:
            shutil.rmtree(old)

    def create_model_card(self, *words: Any, **more: Any) -> None:
        """None: it names packages and their authors, not this run."""


class _Metrics(TrainerCallback):  # type: ignore[misc, unused-ignore]
    """Notes TRL's metrics under our names."""

    def __init__(self, tracking: Tracking) -> None:
        self._tracking = tracking

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **more: Any) -> None:
        reported = logs or {}
        for prefix, ours in (("", ""), ("eval_", "validation/")):
            metrics = {
                ours + name: float(reported[prefix + key]) for key, name in _NAMES.items() if prefix + key in reported
            }
            if f"{ours}loss" not in metrics:
                continue
            line = (
                f"{'held out: ' if prefix else ''}loss {metrics[f'{ours}loss']:.4f} · pair accuracy "
                f"{100 * metrics.get(f'{ours}pair_accuracy', 0):.0f}% · margin {metrics.get(f'{ours}reward_margin', 0):+.4f}"
            )
            self._tracking.note(state.global_step, metrics, line)


def _trainer(config: LlmConfig, tokenizer: Any, rows: Rows) -> _Trainer:
    precision, on_gpu = precision_of(config), torch.cuda.is_available()
    every = config.checkpoints.every
    arguments = DPOConfig(
        output_dir=str(Path(config.out) / "checkpoints"),
        seed=config.seed,
        data_seed=config.seed,
        loss_type=[config.algorithm.loss],
        beta=config.algorithm.beta,
        label_smoothing=config.algorithm.label_smoothing,
        max_length=config.data.max_length,
        learning_rate=config.optimizer.learning_rate,
        lr_scheduler_type=_schedule(config),
        warmup_steps=config.optimizer.warmup_steps,
        weight_decay=config.optimizer.weight_decay,
        max_grad_norm=config.optimizer.max_grad_norm,
        num_train_epochs=config.length.epochs,
        max_steps=_max_steps(config, len(rows.train)),
        per_device_train_batch_size=config.compute.batch_size,
        per_device_eval_batch_size=config.compute.batch_size,
        gradient_accumulation_steps=config.compute.gradient_accumulation_steps,
        gradient_checkpointing=config.compute.activation_checkpointing,
        bf16=precision == "bf16",
        fp16=precision == "fp16",
        use_cpu=not on_gpu,
        dataloader_pin_memory=on_gpu,
        save_strategy="steps",
        save_steps=every,
        eval_strategy="steps" if rows.held_out else "no",
        eval_steps=every if rows.held_out else None,
        logging_steps=config.tracking.every,
        disable_tqdm=True,
        report_to="none",
    )
    _Trainer.keep = config.checkpoints.keep
    model = base_model(config, quantized=in_4bit(config))
    trainer = _Trainer(
        model=model,
        args=arguments,
        train_dataset=Dataset.from_list(rows.train),
        eval_dataset=Dataset.from_list(rows.held_out) if rows.held_out else None,
        processing_class=tokenizer,
        peft_config=adapter_of(config, model),
    )
    for printing in (PrinterCallback, ProgressCallback):
        trainer.remove_callback(printing)
    return trainer


def _schedule(config: LlmConfig) -> str:
    return "constant_with_warmup" if config.optimizer.schedule == "constant" else config.optimizer.schedule


def _max_steps(config: LlmConfig, pairs: int) -> int:
    """The last step: `length.max_steps`, or that of the last epoch if it comes first."""
    per_step = config.compute.batch_size * config.compute.gradient_accumulation_steps
    by_epochs = max(1, round(config.length.epochs * -(-pairs // per_step)))
    return min(by_epochs, config.length.max_steps) if config.length.max_steps else by_epochs


def _begun(config: LlmConfig, rows: Rows, step: int, model: Any) -> str:
    """Return the first line of a run: what is trained on what."""
    left_out = f", {rows.too_long} left out as too long" if rows.too_long else ""
    quantized = " over 4-bit weights" if in_4bit(config) else ""
    trained, total = model.get_nb_trainable_parameters()
    return (
        f"{'resumed at' if step else 'from'} step {step}: {len(rows.train)} pairs, {len(rows.held_out)} held out{left_out}; "
        f"{trained:,} of {total:,} parameters are trained, in {precision_of(config)}{quantized}"
    )


def _complete(folder: Path) -> list[Path]:
    """The complete checkpoints, by step."""
    complete = [path for path in folder.glob("checkpoint-*") if (path / _COMPLETE).exists()]
    return sorted(complete, key=_step)


def _last_complete(folder: Path) -> Path | None:
    """The last complete checkpoint; those that a kill left incomplete are deleted."""
    for path in folder.glob("checkpoint-*"):
        if not (path / _COMPLETE).exists():
            shutil.rmtree(path)
    return next(reversed(_complete(folder)), None)


def _step(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("-")[2])


def _write(config: LlmConfig, checkpoint: Path, tokenizer: Any, folder: Path) -> None:
    """Write the run's result, as a whole or not at all: the adapter of a checkpoint, or a merged model."""
    if folder.exists():
        shutil.rmtree(folder)
    with atomic_folder(folder, flush=True) as temporary:
        if config.output == "merged":
            merged(config, checkpoint).save_pretrained(temporary)
        else:
            for name in ("adapter_config.json", "adapter_model.safetensors"):
                shutil.copy(checkpoint / name, temporary / name)
        tokenizer.save_pretrained(temporary)
        assert is_model(temporary)
        about = {
            "base": str(folder_of(config.model.path)),
            "step": _step(checkpoint),
            "settings": config.model_dump(mode="json"),
        }
        (temporary / "training.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
