"""A broken engine, and an agent that breaks the one of its process."""

from __future__ import annotations

from typing import Any

from array_agents import RandomAction

from agents.engine.gen1 import layout as W
from agents.engine.gen1.engine import Engine

_step = Engine.step


def wrong_step(self: Engine, actions: Any, rows: Any = None) -> None:
    """Step battles; in those that are on turn 4 then, p1's Pokémon falls asleep."""
    _step(self, actions, rows)
    for battle in self.words:
        if battle[W.TURN] == 4:
            mon = W.SIDES + W.MONS + battle[W.SIDES + W.ORDER] * W.MON_WORDS
            battle[mon + W.MON_STATUS], battle[mon + W.MON_SLEEP] = W.SLEEP, 2


class Breaks(RandomAction):
    """RandomAction on a broken engine."""

    def __init__(self) -> None:
        Engine.step = wrong_step  # type: ignore[method-assign]
