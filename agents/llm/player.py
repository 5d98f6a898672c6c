"""What all language models that play have in common: the question, the reading of the answer, and what is kept of both."""

from __future__ import annotations

import math
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, ClassVar

from agents.battle import SeatBattle, SeatDoubleBattle
from agents.contract import Agent, Answer
from agents.llm.pairs import joint_action
from agents.llm.prompts import PromptAnswer, prompt_in_style, read, retry_prompt, template
from teamsets.errors import BadInput

#: Characters of a model's answer that are kept with a decision.
_KEPT = 2000
#: Characters of an answer that names no action, as it is handed to the seat, which refuses it.
SHOWN = 80


@dataclass(frozen=True)
class Reply:
    """What a model wrote. tokens: of the prompt and of the answer, as the model counts them; None: it did not say.

    cut: it was still writing when `max_tokens` was reached.
    """

    text: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cut: bool = False


class LanguageModel(Agent):
    """A language model as an agent. Subclasses implement `ask`.

    A decision with one legal choice is made without asking. An answer that names no legal choice is the agent's: the seat
    retries (the prompt then has a line that says so) and ends the battle as lost at the third in a row. In doubles an answer
    has the choices of both slots, and the team preview is a decision, too; in singles the team keeps its order.

    Diagnostics of each decision: `plan`; `answer`, what the model wrote; `refused`, earlier answers that were no legal
    choice; `requests`; `prompt_tokens` and `completion_tokens`, of all requests of the decision; `cut`; `cost`, where the
    options have prices.
    """

    repeatable: ClassVar[bool] = False
    #: For messages.
    named: ClassVar[str] = "llm"

    def __init__(
        self, style: str, prompt: str, temperature: float, max_tokens: int, price_in: float = 0, price_out: float = 0
    ) -> None:
        if problem := _problem(style, prompt, temperature, max_tokens, price_in, price_out):
            raise BadInput(f"{self.named}: {problem}")
        self.style, self.prompt_file = style, prompt
        self.temperature, self.max_tokens = temperature, max_tokens
        self.prices = price_in, price_out
        self._request: Any = None
        self._kept: dict[str, Any] = {}
        self._refused: list[str] = []

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        """Return what is wrong with the options that all language models have."""
        return _problem(
            options.get("style", "plan"),
            options.get("prompt", ""),
            options.get("temperature", 0.0),
            options.get("max_tokens", 1),
            options.get("price_in", 0.0),
            options.get("price_out", 0.0),
        )

    async def ask(self, text: str, choices: list[str], seed: int | None = None) -> Reply:
        """Return the model's answer. text: the prompt. choices: the labels of the legal choices.

        seed: of the sampling, below 2³¹: a local model gives the same answer again, a server if it can; None: any.
        """
        raise NotImplementedError(f"{type(self).__name__}.ask")

    def team_preview(self, battle: SeatBattle) -> Awaitable[Answer] | None:
        return self.act(battle) if isinstance(battle, SeatDoubleBattle) else None

    async def act(self, battle: SeatBattle) -> Answer:
        if len(battle.legal) == 1:
            self.diagnostics = {"forced": True}
            return battle.legal[0]
        text = prompt_in_style(battle, self.style, self.prompt_file)
        if battle.last_request is self._request:  # a retry: the last answer was no legal choice
            self._refused.append(self._kept["answer"])
            text = retry_prompt(text, self._refused[-1])
        else:
            self._request, self._kept, self._refused = battle.last_request, {}, []
        reply = await self.ask(text, [choice.label for choice in battle.legal])
        answer = read(reply.text)
        self._keep(reply, answer.plan)
        action = handed_in(answer, reply.text)
        return joint_action(action, battle.last_request) if isinstance(battle, SeatDoubleBattle) else action

    def _keep(self, reply: Reply, plan: str) -> None:
        """Set the diagnostics, with the tokens of all requests of this decision."""
        before, self._kept = self._kept, {"plan": plan, "answer": reply.text[:_KEPT]}
        if self._refused:
            self._kept["refused"] = list(self._refused)
        self._kept["requests"] = before.get("requests", 0) + 1
        cost = before.get("cost", 0.0)
        for name, price in zip(("prompt_tokens", "completion_tokens"), self.prices, strict=True):
            counted = getattr(reply, name)
            if counted is not None:
                self._kept[name] = before.get(name, 0) + counted
                cost += counted * price / 1e6
        if any(self.prices):
            self._kept["cost"] = round(cost, 9)
        if reply.cut:
            self._kept["cut"] = True
        self.diagnostics = dict(self._kept)


def handed_in(answer: PromptAnswer, text: str) -> str:
    """Return what the seat gets as an answer: the action, or the beginning of a text that names none, which it refuses."""
    return answer.action or text[:SHOWN]


def _problem(
    style: str, prompt: str, temperature: float, max_tokens: int, price_in: float, price_out: float
) -> str:  # fmt: skip
    """Return what is wrong with options, in one line; empty if nothing."""
    try:
        template(style, prompt)
    except BadInput as error:
        return str(error)
    if not 0 <= temperature < math.inf:
        return f"temperature={temperature}: must be 0 (the most probable answer) or more"
    if max_tokens < 1:
        return f"max_tokens={max_tokens}: must be 1 or more"
    for name, price in (("price_in", price_in), ("price_out", price_out)):
        if not 0 <= price < math.inf:
            return f"{name}={price}: must be the price of a million tokens, 0 or more"
    return ""
