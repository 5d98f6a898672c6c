"""The worker's side of a seat whose agent runs in its own process."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable
from typing import Any, get_args

import orjson

from agents import Agent, Choice, new_battle
from agents.serving.broker import Broker
from agents.serving.client import Mailbox
from arena.battles.clock import RunClock
from arena.battles.guard import SeatClock, StepGuard
from arena.battles.seat import CREATION_SECONDS, Fault, FaultKind, Seat
from arena.venues.isolation.agent_process import AgentProcess, AgentTimeout, Answer, ProcessEnded
from arena.venues.isolation.inside import SeatSettings
from arena.venues.isolation.process import MAX_IDLE, NurseryProcess

#: Seconds beyond the limit of a decision after which the agent's process is killed. The process itself interrupts the agent
#: at the limit, as a worker does without isolation, unless the agent prevents that.
GRACE_SECONDS = 1.0
#: Seconds that a process has to finish its current decision when its battle is over.
_LAST_DECISION_SECONDS = 1.0


class IsolatedSeat(Seat):
    """A seat whose agent runs in an agent process. Legal choices, time and the choice are checked here."""

    def __init__(self, nursery: NurseryProcess, settings: SeatSettings, clock: SeatClock) -> None:
        battle = new_battle(
            settings.tag, settings.role, settings.role, settings.gen, settings.format_id, random.Random(settings.seed)
        )
        super().__init__(settings.role, Agent(), battle, clock, reads_battle=False)
        self._nursery, self._settings = nursery, settings
        self._process: AgentProcess | None = None
        self._views: list[bytes] = []
        self._request_open = False  # a request is open
        self._choice: asyncio.Future[Choice] | None = None
        self._received_diagnostics: Any = None  # diagnostics of the last reply
        self._starting = asyncio.ensure_future(self._start_process())
        # If no decision is requested, it is never awaited.
        self._starting.add_done_callback(lambda task: task.cancelled() or task.exception())

    def receive(self, view: dict[str, Any]) -> bool:
        """Like `Seat.receive`; the agent process receives the same with the next request."""
        self._views.append(orjson.dumps(view))
        return super().receive(view)

    def decide(self) -> asyncio.Future[Choice]:
        """Return the agent's choice. Raises Fault, immediately or when awaited."""
        self.check_refusals()
        self._choice = asyncio.get_running_loop().create_future()
        if self._starting.done():
            self._ask(self._starting)
        else:
            self._starting.add_done_callback(self._ask)
        return self._choice

    def _ask(self, bringing: asyncio.Task[AgentProcess]) -> None:
        if bringing.cancelled() or self._choice is None or self._choice.done():
            return
        error = bringing.exception()
        if error is None:
            bringing.result().ask(self._request_line, self.clock.limit + GRACE_SECONDS, self._on_answer)
        else:
            self._choice.set_exception(error)

    def _request_line(self) -> bytes | None:
        """Return the request line, when it is this seat's turn."""
        if self._choice is None or self._choice.done():
            return None  # the battle is over
        self._request_open = True
        self.clock.start()
        return b'{"decide":' + self._new_views() + b"}"

    def _on_answer(self, answer: Answer) -> None:
        self._request_open = False
        if self._choice is None or self._choice.done():
            return
        try:
            self._choice.set_result(self._read_choice(answer))
        except Exception as error:
            self._choice.set_exception(error)

    def _read_choice(self, answer: Answer) -> Choice:
        late = f"no choice within {self.clock.limit:g} s, and its process was ended"
        reply = _checked_reply(answer, late)
        label = reply.get("choice")
        self.check_time()
        assert self.request is not None
        choice = self.battle.read_answer(label, self.request) if isinstance(label, str) else None
        if choice is None:
            raise Fault("error", "wrote an invalid answer into its channel")
        self._received_diagnostics = reply.get("diagnostics")
        return self.record_decision(choice)

    def read_diagnostics(self) -> dict[str, Any] | None:
        """Return the received diagnostics, which are plain data: no agent code runs here, so no clock is needed."""
        diagnostics, self._received_diagnostics = self._received_diagnostics, None
        kept: dict[str, Any] | None = self.diagnostics_budget.accept(
            diagnostics if isinstance(diagnostics, dict) else None
        )
        return kept

    async def _start_process(self) -> AgentProcess:
        """Return a process in which the agent has been created."""
        self._process = process = await self._nursery.agent_process(self._settings.spec, self.role, self._settings.gen)
        late = f"was not ready within {CREATION_SECONDS:g} s"
        await self._request(process, self._settings.order(), CREATION_SECONDS + GRACE_SECONDS, late)
        return process

    async def _request(self, process: AgentProcess, line: bytes, seconds: float, late: str) -> dict[str, Any]:
        """Return the answer to a line that requests no choice. Raises Fault with the message `late` if there is none."""
        try:
            return _checked_reply(await process.answer(line, seconds), late)
        except (ProcessEnded, AgentTimeout) as error:
            return _checked_reply(error, late)

    def _new_views(self) -> bytes:
        """Return what the seat has seen since the last request, as a list of JSON."""
        views, self._views = self._views, []
        return b"[" + b",".join(views) + b"]"

    async def end_battle(self) -> None:
        """Notifies the agent that the battle is over, and releases its process; ends the process if that is impossible."""
        process = self._process
        if process is None or not self._starting.done() or self._starting.exception() is not None:
            return self.drop()
        try:
            if self._request_open:  # the opponent has already lost
                await process.open_answer(_LAST_DECISION_SECONDS)
                self._request_open = False
            finish = b'{"finish":' + self._new_views() + b"}"
            over = await self._request(process, finish, self.clock.limit + GRACE_SECONDS, "")
        except (Fault, AgentTimeout, ProcessEnded):
            return self.drop()
        parse_warnings = over.get("over")
        if not isinstance(parse_warnings, int) or not 0 <= parse_warnings <= len(self.log) + len(self.decisions):
            return self.drop()
        self.battle.parse_warnings = parse_warnings
        self._process = None
        self._nursery.keep(process)

    def drop(self) -> None:
        """Kill the seat's process, if any: its battle was aborted, or it must not play another."""
        self._starting.cancel()
        if self._process is not None:
            self._process.kill()
            self._process = None

    def finish(self) -> None:
        """Do nothing: `end_battle` has notified the agent."""


class Isolation:
    """Creates isolated seats, on the running event loop. One per worker.

    mailbox: to the servers of models that the run's workers share; None: this one has a broker of its own. clock: the run's
    time. max_idle: number of idle agent processes that are kept for later battles.
    """

    def __init__(
        self, mailbox: Mailbox | None = None, clock: RunClock | None = None, *, max_idle: int = MAX_IDLE
    ) -> None:
        self._broker: Broker | None = None
        if mailbox is None:
            self._broker = Broker()
            mailbox = self._broker.mailbox
        self._nursery = NurseryProcess.launch(mailbox, clock or RunClock(), max_idle)

    def seat(
        self,
        role: str,
        spec: str,
        guard: StepGuard,
        seat_id: int,
        *,
        tag: str,
        format_id: str,
        gen: int,
        seed: int,
        think_limit: float,
    ) -> Seat:
        """Like `new_seat`, with the agent in its own process."""
        settings = SeatSettings(spec, role, tag, format_id, gen, seed, think_limit)
        return IsolatedSeat(self._nursery, settings, SeatClock(guard, seat_id, think_limit))

    async def end_seats(self, seats: Iterable[Seat]) -> None:
        """Notify the agents of isolated seats that their battle is over."""
        await asyncio.gather(*(seat.end_battle() for seat in seats if isinstance(seat, IsolatedSeat)))

    def drop_seats(self, seats: Iterable[Seat]) -> None:
        """Kill the processes that isolated seats still have."""
        for seat in seats:
            if isinstance(seat, IsolatedSeat):
                seat.drop()

    def end(self) -> None:
        """End all agent processes."""
        self._nursery.end()
        if self._broker is not None:
            self._broker.close()


def _checked_reply(answer: Answer, late: str) -> dict[str, Any]:
    """Return the reply. Raises Fault if there is none (`late`: the message), or if it reports a fault."""
    if isinstance(answer, AgentTimeout):
        raise Fault("timeout", late)
    if isinstance(answer, ProcessEnded):
        raise Fault("error", str(answer))
    if "fault" in answer:
        kind, message = answer["fault"], str(answer.get("message"))[:1000]
        kinds: tuple[FaultKind, ...] = get_args(FaultKind)
        raise Fault(kind if kind in kinds else "error", message)
    return answer
