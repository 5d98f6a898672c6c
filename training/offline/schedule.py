"""The number of training steps, and the learning rate of each."""

from __future__ import annotations

import math

from training.offline.config import Config


def total_steps(config: Config, trajectories: int) -> int:
    """Return the number of steps of a run on datasets with so many trajectories in total."""
    steps = math.ceil(config.length.epochs * trajectories / config.data.batch_size)
    return min(steps, config.length.max_steps) if config.length.max_steps else steps


def learning_rate(config: Config, step: int, total: int) -> float:
    """Return the learning rate of the step after `step` steps: linear warm-up, then decay to `min_lr_ratio` of the peak."""
    settings = config.optimizer
    if step < settings.warmup_steps:
        return settings.learning_rate * (step + 1) / settings.warmup_steps
    if settings.schedule == "constant":
        return settings.learning_rate
    progress = (step - settings.warmup_steps) / max(1, total - settings.warmup_steps)
    factor = 1 - progress if settings.schedule == "linear" else (1 + math.cos(math.pi * progress)) / 2
    return settings.learning_rate * (settings.min_lr_ratio + (1 - settings.min_lr_ratio) * factor)
