"""An agent that declares a chance to win."""

from __future__ import annotations

from typing import Any

from agents import Agent


class Declares(Agent):
    """Plays at random and always sees the same chance."""

    def act(self, battle: Any) -> Any:
        self.diagnostics = {"win_probability": 0.25}
        return self.rng.choice(battle.legal)
