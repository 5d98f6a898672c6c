"""The player that every other must beat."""

from __future__ import annotations

from agents.battle import SeatBattle
from agents.choices import Choice
from agents.contract import Agent


class UniformRandom(Agent):
    """Any legal choice, all equally likely.

    The floor of every rating list, as in poke-env's RandomPlayer.
    """

    reads_battle = False

    def act(self, battle: SeatBattle) -> Choice:
        return self.rng.choice(battle.legal)
