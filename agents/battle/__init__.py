"""An agent's view of a battle: poke-env's state, read faster and corrected, and the legal choices of a request."""

from agents.battle.seat_battle import SeatBattle

__all__ = ["SeatBattle"]
