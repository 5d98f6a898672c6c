"""Rule players, from harmful to good. `PLAYERS` maps the name in `heuristic:NAME` to its class."""

from agents.contract import Agent

PLAYERS: dict[str, type[Agent]] = {}
