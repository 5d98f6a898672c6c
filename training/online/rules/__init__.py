"""The learning rules of online training by their names in `algorithm.name`."""

from __future__ import annotations

import importlib

from agents.importing import imported
from training.online.trainer import Trainer

SHIPPED = {
    "ppo": "PPO",
    "ddqn": "DDQN",
    "iac": "IAC",
    "maac": "MAAC",
    "magrpo": "MAGRPO",
    "expert_iteration": "ExpertIteration",
}


def rule(name: str) -> type[Trainer]:
    """The trainer of an algorithm: a shipped one, or a user's by MODULE:CLASS."""
    module, colon, attribute = name.partition(":")
    found: type[Trainer]
    if colon:
        found = imported(module, attribute)
    else:
        found = getattr(importlib.import_module(f"training.online.rules.{name}"), SHIPPED[name])
    return found
