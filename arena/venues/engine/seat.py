"""A seat of a battle on the engine: asked alone like any other, or together with others of its agent's class."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from agents import Choice
from agents.batched import BatchedAgent, actions_of, with_labels
from agents.contract import Agent
from agents.observation.observation import Observations
from arena.battles.seat import Seat
from arena.venues.engine.requests import SeatQuestion


@dataclass
class EngineSeat(Seat):
    """A seat whose battle is known only by its legal choices and turn.

    question: what it is asked now. observation: that of a batched agent, as arrays for one.
    """

    question: SeatQuestion | None = None
    observation: Observations | None = None

    @property
    def batched(self) -> bool:
        """Whether its agent acts on observations."""
        return isinstance(self.agent, BatchedAgent)

    def pose(self, question: SeatQuestion, turn: int) -> None:
        """Put a question to it, for `decide` or a batch."""
        self.question, self.request = question, question.request
        self.battle.legal, self.battle.turn = question.legal, turn
        self.illegal_answers = 0
        self.used_seconds = 0.0

    def begin(self) -> None:
        """Call the agent's `start` before its first decision in a batch. Raises Fault."""
        if not self.agent_started:
            self.agent_started = True
            if type(self.agent).start is not Agent.start:
                self.clock.start()
                self.run_step(self.agent.start, self.battle)
                self.used_seconds = self.clock.elapsed

    def accept_action(self, action: int, seconds: float) -> Choice | None:
        """Keep the action of a batch as its decision; None if it is not legal, and so counts as an illegal answer.

        seconds: its share of the batch's time. The decision's clock continues from there, as if it had been asked alone.
        Raises Fault.
        """
        assert self.question is not None
        self.clock.start(used=self.used_seconds + seconds)
        if self.agent.diagnostics is not None:
            self.run_step(self._label_diagnostics)
        self.check_time()
        choice = self.question.by_action.get(action)
        if choice is None:
            self.illegal_answers += 1
            self.used_seconds = self.clock.elapsed
            return None
        return self.record_decision(choice)

    def drop_last_decision(self) -> None:
        """Forget its last decision: the opponent had lost before."""
        self.decisions.pop()

    def ask_agent(self) -> tuple[bool, Any]:
        if not isinstance(self.agent, BatchedAgent):
            return super().ask_agent()
        assert self.observation is not None
        answer = type(self.agent).act_many([self.agent], self.observation)
        return (True, answer) if inspect.isawaitable(answer) else (False, self.parse_answer(answer))

    def parse_answer(self, answer: Any) -> tuple[Choice | None, str]:
        if not isinstance(self.agent, BatchedAgent):
            return super().parse_answer(answer)
        assert self.question is not None
        action = actions_of(answer, 1)[0]
        self._label_diagnostics()
        return self.question.by_action.get(action), repr(f"action {action}")

    def _label_diagnostics(self) -> None:
        """Name the actions in its diagnostics by their choices, as `BatchedAgent.act` does."""
        assert self.question is not None
        labels = {action: choice.label for action, choice in self.question.by_action.items()}
        self.agent.diagnostics = with_labels(self.agent.diagnostics, labels)
