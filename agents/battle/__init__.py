"""An agent's view of a battle: poke-env's state, read faster and corrected, and the legal choices of a request."""

from __future__ import annotations

import random
from typing import cast

from agents.battle.seat_battle import SeatBattle
from agents.battle.seat_double_battle import SeatDoubleBattle
from teamsets.formats import get_format

__all__ = ["SeatBattle", "SeatDoubleBattle", "new_battle"]


def new_battle(tag: str, username: str, role: str, gen: int, format_id: str, rng: random.Random) -> SeatBattle:
    """Return the empty battle of a seat: a SeatBattle, or for a format of doubles a SeatDoubleBattle.

    Both are declared as SeatBattle, which is what an agent's methods take; one that plays doubles asks which it is.
    """
    kind = SeatDoubleBattle if get_format(format_id).doubles else SeatBattle
    return cast(SeatBattle, kind(tag, username, role, gen, format_id, rng))
