"""The worker's side of a seat whose agent runs in its own process."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable
from typing import Any, get_args

import orjson

from agents import Agent, Choice, SeatBattle, read_answer
from agents.serving.broker import Broker
from agents.serving.client import Mailbox
from arena.battles.clock import RunClock
from arena.battles.guard import Clock, StepGuard
from arena.battles.seat import MAKING_SECONDS, Fault, FaultKind, Seat
from arena.venues.isolation.agent_process import AgentProcess, AgentTimeout, Answer, ProcessEnded
from arena.venues.isolation.inside import SeatSettings
from arena.venues.isolation.process import NurseryProcess

#: Seconds beyond the limit of a decision after which the agent's process is killed. The process itself interrupts the agent
#: at the limit, as a worker does without isolation, unless the agent prevents that.
GRACE_SECONDS = 1.0
#: Seconds that a process has to finish its current decision when its battle is over.
_PARTING_SECONDS = 1.0


class IsolatedSeat(Seat):
    """A seat whose agent runs in an agent process. Legal choices, time and the choice are checked here."""

    def __init__(self, nursery: NurseryProcess, told: SeatSettings, clock: Clock) -> None:
        battle = SeatBattle(told.tag, told.role, told.role, told.gen, told.format_id, random.Random(told.seed))
        super().__init__(told.role, Agent(), battle, clock, reads_battle=False)
        self._nursery, self._told = nursery, told
        self._process: AgentProcess | None = None
        self._views: list[bytes] = []
        self._asked = False  # a request is open
        self._choice: asyncio.Future[Choice] | None = None
        self._received: Any = None  # diagnostics of the last reply
        self._bringing = asyncio.ensure_future(self._bring())
        # If no decision is requested, it is never awaited.
        self._bringing.add_done_callback(lambda task: task.cancelled() or task.exception())

    def see(self, view: dict[str, Any]) -> bool:
        """Like `Seat.see`; the agent process receives the same with the next request."""
        self._views.append(orjson.dumps(view))
        return super().see(view)

    def decide(self) -> asyncio.Future[Choice]:
        """Return the agent's choice. Raises Fault, immediately or when awaited."""
        self._check_refusals()
        self._choice = asyncio.get_running_loop().create_future()
        if self._bringing.done():
            self._ask(self._bringing)
        else:
            self._bringing.add_done_callback(self._ask)
        return self._choice

    def _ask(self, bringing: asyncio.Task[AgentProcess]) -> None:
        if bringing.cancelled() or self._choice is None or self._choice.done():
            return
        error = bringing.exception()
        if error is None:
            bringing.result().ask(self._question, self.clock.limit + GRACE_SECONDS, self._answered)
        else:
            self._choice.set_exception(error)

    def _question(self) -> bytes | None:
        """Return the request line, when it is this seat's turn."""
        if self._choice is None or self._choice.done():
            return None  # the battle is over
        self._asked = True
        self.clock.start()
        return b'{"decide":' + self._new_views() + b"}"

    def _answered(self, answer: Answer) -> None:
        self._asked = False
        if self._choice is None or self._choice.done():
            return
        try:
            self._choice.set_result(self._chosen(answer))
        except Exception as error:
            self._choice.set_exception(error)

    def _chosen(self, answer: Answer) -> Choice:
        late = f"no choice within {self.clock.limit:g} s, and its process was ended"
        told = _checked(answer, late)
        words = told.get("choice")
        self._check_time()
        assert self.request is not None
        choice = read_answer(words, self.battle.legal, self.request) if isinstance(words, str) else None
        if choice is None:
            raise Fault("error", "wrote an invalid answer into its channel")
        self._received = told.get("diagnostics")
        return self._note(choice)

    def _read_diagnostics(self) -> dict[str, Any] | None:
        """Return the received diagnostics, which are plain data: no agent code runs here, so no clock is needed."""
        diagnostics, self._received = self._received, None
        kept: dict[str, Any] | None = self._budget.take(diagnostics if isinstance(diagnostics, dict) else None)
        return kept

    async def _bring(self) -> AgentProcess:
        """Return a process in which the agent has been created."""
        self._process = process = await self._nursery.agent_process(self._told.spec, self.role, self._told.gen)
        late = f"was not ready within {MAKING_SECONDS:g} s"
        await self._told_of(process, self._told.order(), MAKING_SECONDS + GRACE_SECONDS, late)
        return process

    async def _told_of(self, process: AgentProcess, line: bytes, seconds: float, late: str) -> dict[str, Any]:
        """Return the answer to a line that requests no choice. Raises Fault with the message `late` if there is none."""
        try:
            return _checked(await process.answer(line, seconds), late)
        except (ProcessEnded, AgentTimeout) as error:
            return _checked(error, late)

    def _new_views(self) -> bytes:
        """Return what the seat has seen since the last request, as a list of JSON."""
        views, self._views = self._views, []
        return b"[" + b",".join(views) + b"]"

    async def part(self) -> None:
        """Notifies the agent that the battle is over, and releases its process; ends the process if that is impossible."""
        process = self._process
        if process is None or not self._bringing.done() or self._bringing.exception() is not None:
            return self.drop()
        try:
            if self._asked:  # the opponent has already lost
                await process.open_answer(_PARTING_SECONDS)
                self._asked = False
            finish = b'{"finish":' + self._new_views() + b"}"
            over = await self._told_of(process, finish, self.clock.limit + GRACE_SECONDS, "")
        except (Fault, AgentTimeout, ProcessEnded):
            return self.drop()
        oddities = over.get("over")
        if not isinstance(oddities, int) or not 0 <= oddities <= len(self.log) + len(self.decisions):
            return self.drop()
        self.battle.parse_warnings = oddities
        self._process = None
        self._nursery.keep(process)

    def drop(self) -> None:
        """Kill the seat's process, if any: its battle was aborted, or it must not play another."""
        self._bringing.cancel()
        if self._process is not None:
            self._process.kill()
            self._process = None

    def finish(self) -> None:
        """Do nothing: `part` has notified the agent."""


class Isolation:
    """Creates isolated seats, on the running event loop. One per worker.

    mailbox: to the servers of models that the run's workers share; None: this one has a broker of its own. clock: the run's
    time.
    """

    def __init__(self, mailbox: Mailbox | None = None, clock: RunClock | None = None) -> None:
        self._broker: Broker | None = None
        if mailbox is None:
            self._broker = Broker()
            mailbox = self._broker.mailbox
        self._nursery = NurseryProcess.launch(mailbox, clock or RunClock())

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
        """Like `new_seat`, with the agent in its own process."""
        told = SeatSettings(spec, role, tag, format_id, gen, seed, think_limit)
        return IsolatedSeat(self._nursery, told, Clock(guard, who, think_limit))

    async def part(self, seats: Iterable[Seat]) -> None:
        """Notify the agents of isolated seats that their battle is over."""
        await asyncio.gather(*(seat.part() for seat in seats if isinstance(seat, IsolatedSeat)))

    def drop(self, seats: Iterable[Seat]) -> None:
        """Kill the processes that isolated seats still have."""
        for seat in seats:
            if isinstance(seat, IsolatedSeat):
                seat.drop()

    def end(self) -> None:
        """End all agent processes."""
        self._nursery.end()
        if self._broker is not None:
            self._broker.close()


def _checked(answer: Answer, late: str) -> dict[str, Any]:
    """Return the reply. Raises Fault if there is none (`late`: the message), or if it reports a fault."""
    if isinstance(answer, AgentTimeout):
        raise Fault("timeout", late)
    if isinstance(answer, ProcessEnded):
        raise Fault("error", str(answer))
    if "fault" in answer:
        kind, words = answer["fault"], str(answer.get("words"))[:1000]
        kinds: tuple[FaultKind, ...] = get_args(FaultKind)
        raise Fault(kind if kind in kinds else "error", words)
    return answer
