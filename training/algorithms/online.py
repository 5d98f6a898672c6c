"""The learning rules of online training by the names in `algorithm.name`."""

from __future__ import annotations

import importlib

from training.online.trainer import Trainer

_RULES = {
    "ppo": "PPO",
    "ddqn": "DDQN",
    "iac": "IAC",
    "maac": "MAAC",
    "magrpo": "MAGRPO",
}


def rule(name: str) -> type[Trainer]:
    """The trainer of an algorithm."""
    found: type[Trainer] = getattr(importlib.import_module(f"training.algorithms.{name}"), _RULES[name])
    return found
