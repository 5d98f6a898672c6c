"""The engine's step and legal actions, compiled once for the search: a search that is edited links them from the cache."""

from __future__ import annotations

from agents.engine.compiled import serial
from agents.engine.gen1.requests import legal_actions
from agents.engine.gen1.turn import step_battle


@serial()
def step(b, action_0, action_1):
    """Plays both sides' actions on to the next request (engine.turn.step_battle)."""
    step_battle(b, action_0, action_1)


@serial()
def legal(b, s):
    """The legal actions of a side as bits (engine.turn.legal_actions)."""
    return legal_actions(b, s)
