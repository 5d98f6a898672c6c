"""Agents: the interface of an agent, the registry of specs, and a folder for each agent family."""

from agents.battle import SeatBattle, SeatDoubleBattle, new_battle
from agents.battle.choices import Choice, legal_choices, read_answer
from agents.coached import Coached
from agents.contract import Agent, Answer
from agents.registry import AgentSource, UnknownAgent, is_built_in, known_specs, register_composite, resolve

__all__ = [
    "Agent",
    "AgentSource",
    "Answer",
    "Choice",
    "SeatBattle",
    "SeatDoubleBattle",
    "UnknownAgent",
    "is_built_in",
    "known_specs",
    "legal_choices",
    "new_battle",
    "read_answer",
    "resolve",
]

register_composite("coached", Coached)
