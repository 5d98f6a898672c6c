"""A seat's battle without corrections, to compare the quicker reading of lines and requests with poke-env's own."""

from __future__ import annotations

from typing import Any

from agents.battle import SeatBattle
from agents.battle.quick_battle import QuickBattle


class UncorrectedBattle(SeatBattle):
    """Without agents/battle/corrections.py: lines and requests leave what poke-env's own code leaves."""

    parse_message = QuickBattle.parse_message
    _pressure_on = QuickBattle._pressure_on

    def _correct_own(self, request: dict[str, Any]) -> None:
        """Nothing: poke-env has no such thing."""
