"""How many steps a run takes, and how large each is."""

from __future__ import annotations

import math

from training.config import Config


def total_steps(config: Config, trajectories: int) -> int:
    """How many steps a configuration means for so many trajectories."""
    steps = math.ceil(config.length.epochs * trajectories / config.data.batch_size)
    return min(steps, config.length.max_steps) if config.length.max_steps else steps


def learning_rate(config: Config, step: int, total: int) -> float:
    """Of the step after `step` steps: a straight warm-up, then the schedule down to `min_lr_ratio` at the end."""
    told = config.optimizer
    if step < told.warmup_steps:
        return told.learning_rate * (step + 1) / told.warmup_steps
    if told.schedule == "constant":
        return told.learning_rate
    done = (step - told.warmup_steps) / max(1, total - told.warmup_steps)
    share = 1 - done if told.schedule == "linear" else (1 + math.cos(math.pi * done)) / 2
    return told.learning_rate * (told.min_lr_ratio + (1 - told.min_lr_ratio) * share)
