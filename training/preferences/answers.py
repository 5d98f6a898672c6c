"""Several answers of a language model to the same prompt: what it says at the decisions of stored battles.

Each answer is drawn with a seed of its own, which depends on the battle and the decision only: a local model says the same
again. One more is asked for at a high temperature, as a garbled answer (garbling.py); it is not played on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agents import resolve
from agents.battle import SeatBattle, SeatDoubleBattle
from agents.battle.choices import Choice, read_answer
from agents.battle.joint_answers import read_joint_answer
from agents.llm.pairs import joint_action
from agents.llm.player import SHOWN, Reply, handed_in
from agents.llm.prompts import prompt_in_style, read
from arena.fixture import digest
from arena.record import unpacked
from teamsets.errors import BadInput
from training.data.from_store import Candidate, sides
from training.data.trajectory import decision_points
from training.envs.background import wait_for
from training.preferences.attempts import TriedChoice, TriedDecision

#: Questions that are on their way at once: local models answer so many together.
_AT_ONCE = 16
#: Returns the legal choice that an answer means, or None.
ReadChoice = Callable[[str], Choice | None]


class _Question(NamedTuple):
    """The prompt of a decision, and how it is asked. place: of the answer; the last one is the hot one."""

    decision: int
    place: int
    text: str
    choices: list[str]
    temperature: float
    seed: int


class Answers:
    """Asks the language model `spec` for `number` answers at each decision, and for one at the temperature `hot`.

    seed: of all that it says. Raises BadInput for an agent that is no language model, lacks something, or says the same
    each time.
    """

    def __init__(self, spec: str, number: int, hot: float, seed: int) -> None:
        if not spec.startswith("llm:"):
            raise BadInput(
                f"--answers-of {spec}: must be a language model: llm:PATH or llm:openai?base_url=URL&model=NAME"
            )
        source = resolve(spec)
        if lacks := source.missing(None):
            raise BadInput(f"--answers-of {spec}: {lacks}")
        options = {**source.options, **source.given}
        self._source, self._agents = source, list[Any]()
        self._number, self._hot, self._seed, self._temperature = number, hot, seed, float(options["temperature"])
        self._style, self._file = options["style"], options["prompt"]
        if not self._temperature:
            more = f"{spec}{'&' if '?' in spec else '?'}temperature=1"
            raise BadInput(f"--answers-of {spec}: says the same each time at temperature 0: use for example {more}")
        if hot <= self._temperature:
            raise BadInput(
                f"--garble-temperature {hot:g}: must be above the {self._temperature:g} of --answers-of {spec}"
            )

    def at(self, db: Path, side: Candidate, decisions: Sequence[int]) -> dict[int, TriedDecision]:
        """Return what it answers at decisions of a side. Raises BadInput, and ServerFailed if it cannot be asked."""
        (stored,) = sides(db, [side])
        questions: list[_Question] = []
        attempts: dict[int, list[TriedChoice]] = {}
        readers: dict[int, ReadChoice] = {}
        for index, battle in enumerate(decision_points(stored.seat, stored.format, unpacked(stored.log))):
            if index in decisions:
                questions += self._questions(stored.about, index, battle)
                readers[index] = reader_of(battle)
        if not self._agents:  # the first loads the model
            self._agents = [self._source.make() for _ in range(_AT_ONCE)]
        replies = wait_for(self._replies(questions))
        for question, reply in zip(questions, replies, strict=True):
            attempts.setdefault(question.decision, []).append(attempt_of(reply.text, readers[question.decision]))
        return {index: TriedDecision(tuple(tried[:-1]), tried[-1]) for index, tried in attempts.items()}

    def prompt(self, battle: SeatBattle) -> str:
        """Return what the model is asked at a battle's request."""
        return prompt_in_style(battle, self._style, self._file)

    def _questions(self, about: dict[str, Any], index: int, battle: SeatBattle) -> list[_Question]:
        text, choices = self.prompt(battle), [choice.label for choice in battle.legal]
        heats = [self._temperature] * self._number + [self._hot]
        where = [self._seed, about["pair"], about["team"], about["seat"], index]
        seeds = [int(digest(["answer", *where, place], 12), 16) % 2**31 for place in range(len(heats))]
        return [
            _Question(index, place, text, choices, heat, seed)
            for place, (heat, seed) in enumerate(zip(heats, seeds, strict=True))
        ]

    async def _replies(self, questions: Sequence[_Question]) -> list[Reply]:
        free: asyncio.Queue[Any] = asyncio.Queue()
        for agent in self._agents:
            free.put_nowait(agent)

        async def ask(question: _Question) -> Reply:
            agent = await free.get()  # an agent has one question at a time
            try:
                agent.temperature = question.temperature
                return await agent.ask(question.text, question.choices, question.seed)
            finally:
                free.put_nowait(agent)

        return await asyncio.gather(*map(ask, questions))


def reader_of(battle: SeatBattle) -> ReadChoice:
    """Return what reads an answer as the battle's seat does at its present request, also when the battle has gone on."""
    request, legal = battle.last_request, list(battle.legal)
    if not isinstance(battle, SeatDoubleBattle):
        return lambda action: read_answer(action, legal, request)
    slots = battle.legal_slots
    return lambda action: read_joint_answer(joint_action(action, request), legal, slots, request)


def attempt_of(text: str, read_choice: ReadChoice) -> TriedChoice:
    """Return what a model wrote as an attempt that was not played on: legal as a seat would take it, or failed to act."""
    answer = read(text)
    choice = read_choice(handed_in(answer, text))
    if choice is not None:
        return TriedChoice(choice.label, plan=answer.plan, text=text.strip())
    failure = "illegal" if answer.action else "unparsable"
    shown = answer.action or " ".join(text.split())[:SHOWN] or "(nothing)"
    return TriedChoice(shown, plan=answer.plan, failure=failure, text=text.strip())
