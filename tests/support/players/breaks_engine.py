"""A broken engine, and an agent that breaks the one of its process."""

from __future__ import annotations

from typing import Any

from array_agents import RandomAction

from agents.engine.engine import Engine
from agents.engine.layout import FAINTED, MON_STATUS, MON_WORDS, MONS, ORDER, SIDES, TURN

_step = Engine.step


def wrong_step(self: Engine, actions: Any) -> None:
    """Step all battles; from turn 4 on, p1's last Pokémon cannot come out."""
    _step(self, actions)
    for battle in self.words:
        if battle[TURN] > 3:
            battle[SIDES + MONS + battle[SIDES + ORDER + 5] * MON_WORDS + MON_STATUS] = FAINTED


class Breaks(RandomAction):
    """RandomAction on a broken engine."""

    def __init__(self) -> None:
        Engine.step = wrong_step  # type: ignore[method-assign]
