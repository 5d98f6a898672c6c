"""An agent prepares for its format before the battle, and what goes wrong there is its fault."""

from __future__ import annotations

from agents import Agent
from arena.battles.session import prepared_agent


class Preparing(Agent):
    """Notes the formats that it prepares for."""

    def __init__(self) -> None:
        self.formats: list[str] = []

    def prepare(self, format_id: str) -> None:
        self.formats.append(format_id)


def test_an_agent_prepares_for_the_format_that_it_is_made_for() -> None:
    agent = prepared_agent(lambda spec: Preparing(), "mine", "gen9ou")
    assert isinstance(agent, Preparing) and agent.formats == ["gen9ou"]
