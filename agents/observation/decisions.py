"""The decisions of one request, one after the other: one in singles, in doubles one for each slot that has a choice.

A learner decides in turn:

    turn = decisions_of(battle)
    while turn.actions:
        turn.take(act(turn.observe()))   # one of turn.actions
    return turn.choice
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agents.battle import SeatBattle, SeatDoubleBattle
from agents.battle.choices import Choice
from agents.observation.actions import legal_actions
from agents.observation.doubles.decisions import DoublesDecisions
from agents.observation.observation import Observation, observe


class Decisions(Protocol):
    """The decisions of a battle's current request."""

    @property
    def actions(self) -> dict[int, Choice]:
        """The legal actions of the next decision, each with what it chooses; empty if there is none (left)."""

    @property
    def choice(self) -> Choice:
        """The legal choice of the request that the decisions amount to. Before the last one: its first legal choice."""

    @property
    def number(self) -> int:
        """The number of the next decision in the request, from 0."""

    @property
    def prefix(self) -> str:
        """What a label of the next decision begins with among those of all decisions of the request; "" in singles."""

    def observe(self) -> Observation:
        """Return what is seen at the next decision."""

    def take(self, action: int) -> None:
        """Decide. Raises KeyError for an action that is not legal."""

    def label_of(self, action: int) -> str:
        """Return the label of a legal action of the next decision among all decisions of the request."""

    @property
    def is_preview(self) -> bool:
        """Whether the request is that of team preview."""

    def parts_of(self, label: str) -> Sequence[str]:
        """Return the labels of the choices, one for each decision, of a stored choice's label."""


class SinglesDecisions:
    """The decision of a request in singles; at team preview: who leads."""

    number, prefix = 0, ""

    def __init__(self, battle: SeatBattle) -> None:
        self._battle = battle
        self.actions = legal_actions(battle.last_request, battle.legal)
        self.choice = battle.legal[0]
        self.is_preview = self.choice.kind == "team"

    def observe(self) -> Observation:
        return observe(self._battle)

    def take(self, action: int) -> None:
        self.choice, self.actions = self.actions[action], {}

    def label_of(self, action: int) -> str:
        return self.actions[action].label

    def parts_of(self, label: str) -> Sequence[str]:
        if not self.is_preview:
            return [label]
        # Whatever the order of the others is: of those with the same lead the team's own order is the legal one.
        lead = label.removeprefix("team ")[:1]
        return [choice.label for choice in self._battle.legal if str(choice.slot) == lead]


def decisions_of(battle: SeatBattle) -> Decisions:
    """Return the decisions of a battle's current request, which must not ask to wait."""
    if isinstance(battle, SeatDoubleBattle):
        return DoublesDecisions(battle)
    return SinglesDecisions(battle)
