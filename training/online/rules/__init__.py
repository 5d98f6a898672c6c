"""The learning rules of online training, one file each, with their settings."""

from __future__ import annotations

from agents.importing import imported
from training.online.config import RULES
from training.online.trainer import Trainer


def trainer_class(name: str) -> type[Trainer]:
    """Return the trainer of `algorithm.name`: a shipped rule, or a user's by MODULE:CLASS."""
    module, _, attribute = RULES.get(name, name).partition(":")
    trainer: type[Trainer] = imported(module, attribute)
    return trainer
