"""The worker's end of a seat whose agent is in a process of its own."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Iterable
from typing import Any, get_args

import orjson

from agents import Agent, Choice, SeatBattle
from arena.isolation.inside import SeatSettings
from arena.isolation.process import AgentProcess, NurseryProcess, ProcessEnded, Silent
from arena.showdown.guard import Clock, StepGuard
from arena.showdown.seat import MAKING_SECONDS, Fault, FaultKind, Seat

#: How much longer than its limit an agent's answer may take before its process is ended, in seconds. The agent's own
#: process interrupts it at the limit, as a worker does without isolation, unless the agent has seen to it that it cannot.
GRACE_SECONDS = 1.0
#: How long a process may need to end the decision under way when its battle is over, in seconds.
_PARTING_SECONDS = 1.0


class IsolatedSeat(Seat):
    """A seat that asks an agent process. What is legal, how long it took and what it chose is decided here."""

    def __init__(self, nursery: NurseryProcess, told: SeatSettings, clock: Clock) -> None:
        battle = SeatBattle(told.tag, told.role, told.role, told.gen, told.format_id, random.Random(told.seed))
        super().__init__(told.role, Agent(), battle, clock, reads_battle=False)
        self._nursery, self._told = nursery, told
        self._process: AgentProcess | None = None
        self._views: list[bytes] = []
        self._asked = False  # a question is open
        self._bringing = asyncio.ensure_future(self._bring())
        # Whoever never asks for a decision never awaits it.
        self._bringing.add_done_callback(lambda task: task.cancelled() or task.exception())

    def see(self, view: dict[str, Any]) -> bool:
        """As `Seat.see`; the agent process gets the same with the next question."""
        self._views.append(orjson.dumps(view))
        return super().see(view)

    def decide(self) -> Awaitable[Choice]:
        """The agent's choice. Raises Fault when awaited."""
        return self._decide()

    async def _decide(self) -> Choice:
        self._check_refusals()
        process = await asyncio.shield(self._bringing)
        late = f"no choice within {self.clock.limit:g} s, and its process was ended"
        async with self._nursery.turn:
            self.clock.start()
            deadline = time.monotonic() + self.clock.limit + GRACE_SECONDS
            answer = await self._ask(process, b'{"decide":' + self._new_views() + b"}", deadline, late)
        if answer.get("later") is True:
            answer = await self._ask(process, None, deadline, late)
        words = answer.get("choice")
        choice = self._read(words) if isinstance(words, str) else None
        if choice is None:
            raise Fault("error", "wrote into its channel what is no answer")
        thought = answer.get("thought")
        self.agent.thought = thought if isinstance(thought, dict) else None
        return self._note(choice)

    async def _bring(self) -> AgentProcess:
        """A process in which the agent has been made."""
        self._process = process = await self._nursery.agent_process(self._told.spec, self.role, self._told.gen)
        async with self._nursery.turn:
            deadline = time.monotonic() + MAKING_SECONDS + GRACE_SECONDS
            await self._ask(process, self._told.order(), deadline, f"was not ready within {MAKING_SECONDS:g} s")
        return process

    def _new_views(self) -> bytes:
        """What the seat has seen since the last time, as a list of JSON."""
        views, self._views = self._views, []
        return b"[" + b",".join(views) + b"]"

    async def _ask(self, process: AgentProcess, line: bytes | None, deadline: float, late: str) -> dict[str, Any]:
        """The answer to a line, or to the last one. Raises Fault when there is none (`late` says so), or a fault comes."""
        self._asked = True
        seconds = deadline - time.monotonic()
        try:
            answer = await (process.next_answer(seconds) if line is None else process.ask(line, seconds))
        except Silent:
            raise Fault("timeout", late) from None
        except ProcessEnded as error:
            raise Fault("error", str(error)) from None
        self._asked = answer.get("later") is True
        if "fault" in answer:
            raise _fault(answer)
        return answer

    async def part(self) -> None:
        """Tells the agent that the battle is over, and gives its process back; ends it where that cannot be."""
        process = self._process
        if process is None or not self._bringing.done() or self._bringing.exception() is not None:
            return self.drop()
        try:
            while self._asked:  # the opponent has lost meanwhile
                self._asked = (await process.next_answer(_PARTING_SECONDS)).get("later") is True
            async with self._nursery.turn:
                deadline = time.monotonic() + self.clock.limit + GRACE_SECONDS
                over = await self._ask(process, b'{"finish":' + self._new_views() + b"}", deadline, "")
        except (Fault, Silent, ProcessEnded):
            return self.drop()
        oddities = over.get("over")
        if not isinstance(oddities, int) or not 0 <= oddities <= len(self.log) + len(self.decisions):
            return self.drop()
        self.battle.oddities = oddities
        self._process = None
        self._nursery.keep(process)

    def drop(self) -> None:
        """Ends the process, if the seat has one still: its battle was broken off, or it cannot be trusted with another."""
        self._bringing.cancel()
        if self._process is not None:
            self._process.kill()
            self._process = None

    def finish(self) -> None:
        """Nothing: `part` has told the agent."""


class Isolation:
    """Makes isolated seats. One per worker."""

    def __init__(self) -> None:
        self._nursery = NurseryProcess.launch()

    def seat(
        self,
        role: str,
        spec: str,
        guard: StepGuard,
        who: int,
        *,
        tag: str,
        format_id: str,
        gen: int,
        seed: int,
        think_limit: float,
    ) -> Seat:
        """As `new_seat`, with the agent in a process of its own."""
        told = SeatSettings(spec, role, tag, format_id, gen, seed, think_limit)
        return IsolatedSeat(self._nursery, told, Clock(guard, who, think_limit))

    async def part(self, seats: Iterable[Seat]) -> None:
        """Tells the agents of isolated seats that their battle is over."""
        await asyncio.gather(*(seat.part() for seat in seats if isinstance(seat, IsolatedSeat)))

    def drop(self, seats: Iterable[Seat]) -> None:
        """Ends the processes that isolated seats still have."""
        for seat in seats:
            if isinstance(seat, IsolatedSeat):
                seat.drop()

    def end(self) -> None:
        """Ends all agent processes."""
        self._nursery.end()


def _fault(answer: dict[str, Any]) -> Fault:
    kind, words = answer["fault"], str(answer.get("words"))[:1000]
    kinds: tuple[FaultKind, ...] = get_args(FaultKind)
    return Fault(kind, words) if kind in kinds else Fault("error", words)
