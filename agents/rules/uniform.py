"""The uniformly random player."""

from __future__ import annotations

from agents.battle import SeatBattle, SeatDoubleBattle
from agents.battle.choices import Choice
from agents.contract import Agent


class UniformRandom(Agent):
    """A uniformly random legal choice, as poke-env's RandomPlayer."""

    reads_battle = False

    def act(self, battle: SeatBattle | SeatDoubleBattle) -> Choice:
        if isinstance(battle, SeatDoubleBattle) and battle.legal_slots is not None:
            return battle.legal_slots.draw(self.rng)
        return self.rng.choice(battle.legal)
