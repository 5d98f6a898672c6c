"""Programs of other people as agents: they play over a websocket, on a Showdown server that the arena starts.

`contract.py` says what such an agent is; docs/external.md how to enter one.
"""

from typing import Any

from agents.external.command import External
from agents.external.contract import Place, Program, ProgramAgent, Role
from agents.external.foul_play import FoulPlay
from agents.external.metamon import MODELS

#: Family -> name -> class, as the registry takes it.
PROGRAMS: dict[str, dict[str, Any]] = {"external": {"": External}, "foul-play": {"": FoulPlay}, "metamon": MODELS}

__all__ = ["PROGRAMS", "Place", "Program", "ProgramAgent", "Role"]
