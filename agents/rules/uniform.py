"""The uniformly random player."""

from __future__ import annotations

from agents.battle import SeatBattle
from agents.battle.choices import Choice
from agents.contract import Agent


class UniformRandom(Agent):
    """A uniformly random legal choice, as poke-env's RandomPlayer."""

    reads_battle = False

    def act(self, battle: SeatBattle) -> Choice:
        return self.rng.choice(battle.legal)
