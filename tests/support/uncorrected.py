"""A seat's battle whose lines poke-env's own reading decides, to compare the quicker reading with."""

from __future__ import annotations

from agents.battle import SeatBattle
from agents.battle.quick_battle import QuickBattle


class UncorrectedBattle(SeatBattle):
    """Without agents/battle/corrections.py: what lines leave is what poke-env's own code would leave."""

    parse_message = QuickBattle.parse_message
