"""External programs as agents: they play over a websocket, on a Showdown server that the arena starts.

`contract.py` is the interface of such an agent; docs/external.md shows how to add one.
"""

from typing import Any

from agents.external.command import External
from agents.external.contract import BattleAddress, Program, ProgramAgent, Role
from agents.external.foul_play import FoulPlay
from agents.external.foul_play_piped import PipedFoulPlay
from agents.external.metamon.player import MODELS

#: Family -> name -> agent class, for the registry.
PROGRAMS: dict[str, dict[str, Any]] = {
    "external": {"": External},
    "foul-play": {"": FoulPlay, "piped": PipedFoulPlay},
    "metamon": MODELS,
}

__all__ = ["PROGRAMS", "BattleAddress", "Program", "ProgramAgent", "Role"]
