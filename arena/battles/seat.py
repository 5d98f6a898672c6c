"""A seat: one side of one battle. It handles the protocol, the clock and all failures of its agent."""

from __future__ import annotations

import asyncio
import inspect
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import orjson

from agents import Agent, Choice, SeatBattle, new_battle
from arena.battles.diagnostics import DiagnosticsBudget
from arena.battles.guard import SeatClock, StepGuard, TimeUp
from arena.record import DecisionRow

#: Number of illegal choices in a row at which an agent loses. More than one, so that a random agent can choose again; few,
#: so that a deterministic agent does not loop.
MAX_ILLEGAL_ANSWERS = 3
#: Number of legal choices that the message about illegal ones names.
_LEGAL_SHOWN = 10
#: How many choices in a row the simulator may reject although its request allows them (hidden trapping abilities).
MAX_REJECTIONS = 10
#: Time limit for creating an agent, in seconds: the first one of a class may load a model.
CREATION_SECONDS = 300.0

FaultKind = Literal["timeout", "illegal", "error"]


class Fault(Exception):
    """An agent's failure. kind: its type; the message describes it."""

    def __init__(self, kind: FaultKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass
class Decision:
    """One choice by one seat: the legal choices as stored, the choice, its time in milliseconds, the diagnostics."""

    turn: int
    legal: list[str]
    choice: str
    think_ms: float
    diagnostics: dict[str, Any] | None = None


@dataclass
class Seat:
    """One side of one battle.

    role: "p1" or "p2". clock: its time for one decision.
    reads_battle: whether `battle` is updated from the log (the agent's attribute, read once).
    log: every protocol line that this side received, including requests (`|request|JSON`), as over a websocket.
    """

    role: str
    agent: Agent
    battle: SeatBattle
    clock: SeatClock
    reads_battle: bool = True
    log: list[str] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    request: dict[str, Any] | None = None
    agent_started: bool = False
    illegal_answers: int = 0
    _entries: Entries = field(default_factory=dict)
    rejected_choices: int = 0
    used_seconds: float = 0.0  # seconds of the current decision that passed before `decide`
    diagnostics_budget: DiagnosticsBudget = field(default_factory=DiagnosticsBudget)

    def receive(self, view: dict[str, Any]) -> bool:
        """Process what the host sent for this side. Returns True if the agent must choose."""
        text = view["log"]
        lines = text.split("\n") if text else []
        self.log += lines
        if self.reads_battle:
            self.battle.feed(lines)
        else:
            self._follow_turns(text)
        request = view.get("ask")
        if request is None:
            return False
        self.log.append(complete_request(request, self._entries))
        self.request = request
        self.illegal_answers = 0
        self.rejected_choices = self.rejected_choices + 1 if "error" in view else 0
        if self.rejected_choices and self.decisions:
            self.decisions.pop()  # a choice that the simulator rejected (usually "trapped") is no decision
        if self.reads_battle:
            self.battle.ask(request)
        else:
            self.battle.list_choices(request)
        return True

    def _follow_turns(self, text: str) -> None:
        line = ("\n" + text).rpartition("\n|turn|")
        if line[1]:
            self.battle.turn = int(line[2].partition("\n")[0])

    def decide(self) -> Choice | Awaitable[Choice]:
        """Return the agent's choice for the current request, or an awaitable if `act` is a coroutine. Raises Fault."""
        self.check_refusals()
        self.clock.start(self.used_seconds)
        later, answer = self.run_step(self._start_and_ask)
        return self._decide_later(answer) if later else self._finish_decision(*answer)

    def check_refusals(self) -> None:
        if self.rejected_choices >= MAX_REJECTIONS:
            raise Fault("illegal", f"the simulator refused its choice {self.rejected_choices} times in a row")

    async def _decide_later(self, answer: Any) -> Choice:
        choice = await self._await_answer(answer)
        while choice is None:
            later, answer = self.run_step(self.ask_agent)
            choice = await self._await_answer(answer) if later else self._accept_or_retry(*answer)
        return self.record_decision(choice)

    async def _await_answer(self, answer: Awaitable[Any]) -> Choice | None:
        try:
            result = await self.clock.wait_for(answer)
        except TimeUp:
            raise self._timeout_fault() from None
        except BaseException as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise  # the battle is over; otherwise the agent's own code was cancelled
            raise _fault_of(error, self.clock) from None
        self.check_time()
        return self._accept_or_retry(*self.run_step(self.parse_answer, result))

    def _finish_decision(self, choice: Choice | None, shown: str) -> Choice:
        choice = self._accept_or_retry(choice, shown)
        while choice is None:
            later, answer = self.run_step(self.ask_agent)
            if later:
                raise Fault("illegal", "answered at once first and with a coroutine then")
            choice = self._accept_or_retry(*answer)
        return self.record_decision(choice)

    def run_step(self, function: Any, *arguments: Any) -> Any:
        """Run one step of the agent's code under the clock. Raises Fault for its failures."""
        try:
            return self.clock.call(function, *arguments)
        except TimeUp:
            raise self._timeout_fault() from None
        except BaseException as error:  # sys.exit() too: it would end the worker with all its battles
            raise _fault_of(error, self.clock) from None

    def _start_and_ask(self) -> tuple[bool, Any]:
        if not self.agent_started:
            self.agent_started = True
            self.agent.start(self.battle)
        return self.ask_agent()

    def ask_agent(self) -> tuple[bool, Any]:
        """Return (True, awaitable), or (False, result of `parse_answer`).

        Parsing may run the agent's code, so both happen in one guarded step: a step costs more than the choice of a quick
        agent.
        """
        assert self.request is not None
        if self.request.get("teamPreview"):
            answer = self.agent.team_preview(self.battle)
            answer = self.battle.legal[0] if answer is None else answer
        else:
            answer = self.agent.act(self.battle)
        return (True, answer) if inspect.isawaitable(answer) else (False, self.parse_answer(answer))

    def _accept_or_retry(self, choice: Choice | None, shown: str) -> Choice | None:
        """Return the choice, or None to ask the agent again. Raises Fault after MAX_ILLEGAL_ANSWERS or a timeout.

        The arguments are what `parse_answer` returns.
        """
        self.check_time()
        if choice is None:
            self.illegal_answers += 1
            if self.illegal_answers >= MAX_ILLEGAL_ANSWERS:
                legal = _describe_legal(self.battle.legal_labels())
                raise Fault("illegal", f"answered {shown}, {self.illegal_answers} times in a row; legal: {legal}")
        return choice

    def check_time(self) -> None:
        if self.clock.is_over:
            raise self._timeout_fault()

    def parse_answer(self, answer: Any) -> tuple[Choice | None, str]:
        """Return the legal choice that an answer means, or None and the answer as text, with a reason if there is one.

        Runs the agent's code.
        """
        assert self.request is not None
        if answer is None and self.request.get("teamPreview"):
            return self.battle.legal[0], ""
        try:
            choice = self.battle.read_answer(answer, self.request)
            why = "" if choice is not None else self.battle.explain_refusal(answer, self.request)
        except Exception:  # an object of the agent that cannot be read as a choice
            choice, why = None, ""
        return choice, "" if choice is not None else _describe_answer(answer) + (f" ({why})" if why else "")

    def record_decision(self, choice: Choice) -> Choice:
        think_ms = self.clock.elapsed * 1000
        legal = self.battle.legal_labels()
        self.decisions.append(Decision(self.battle.turn, legal, choice.label, think_ms, self.read_diagnostics()))
        return choice

    def read_diagnostics(self) -> dict[str, Any] | None:
        """Return the agent's diagnostics of this decision. Failures to read them never lose the battle."""
        kind: Any = type(self.agent)
        if _has_plain_diagnostics(kind) and self.agent.diagnostics is None:
            return None
        try:
            kept: dict[str, Any] | None = self.clock.call_untimed(self._pop_diagnostics)
            return kept
        except TimeUp:
            reason = f"they took longer than {self.clock.untimed_limit:g} s to read"
            return self.diagnostics_budget.drop(reason, for_good=True)
        except BaseException as error:  # RecursionError, MemoryError, whatever a __repr__ raises
            return self.diagnostics_budget.drop(f"they could not be read: {type_name(error)}")

    def _pop_diagnostics(self) -> Any:
        diagnostics, self.agent.diagnostics = self.agent.diagnostics, None
        return self.diagnostics_budget.accept(diagnostics)

    def rows(self, index: int) -> list[DecisionRow]:
        """Return its decisions as stored in a battle record. index: 0 for p1, 1 for p2."""
        return [
            (index, number, d.turn, d.legal, d.choice, d.think_ms, d.diagnostics)
            for number, d in enumerate(self.decisions)
        ]

    def finish(self) -> None:
        """Call the agent's `finish`, and release it; its exceptions no longer change the result."""
        if self.agent_started:
            try:
                self.clock.start()
                self.clock.call(self.agent.finish, self.battle)
            except BaseException:
                self.battle.parse_warnings += 1
        if type(self.agent) is not Agent:
            self.clock.last_step(self._release)

    def _release(self) -> None:
        self.agent = Agent()  # under a limit: it may be the last reference, and its finalizer is the agent's code

    def _timeout_fault(self) -> Fault:
        return Fault("timeout", f"no choice within {self.clock.limit:g} s")


#: A side's Pokémon as they were in its last request, by ident: each entry, and its text.
Entries = dict[str, tuple[dict[str, Any], orjson.Fragment]]


def complete_request(request: dict[str, Any], entries: Entries) -> str:
    """Insert the entries that the host omitted because they are unchanged. Returns the request's line in the side's log.

    entries: kept from request to request.
    """
    side = request["side"]
    team, texts = side["pokemon"], []
    for slot, entry in enumerate(team):
        if isinstance(entry, str):
            team[slot], text = entries[entry]
        else:
            text = orjson.Fragment(orjson.dumps(entry))
            entries[entry["ident"]] = entry, text
        texts.append(text)
    return "|request|" + orjson.dumps({**request, "side": {**side, "pokemon": texts}}).decode()


@lru_cache(maxsize=256)
def _has_plain_diagnostics(kind: Any) -> bool:
    """Return whether to read the diagnostics of an agent of this class runs none of its code, so that no guard is needed."""
    if type(kind) is not type or inspect.getattr_static(kind, "diagnostics") is not None:
        return False
    methods = (inspect.getattr_static(kind, name, None) for name in ("__getattribute__", "__getattr__"))
    return tuple(methods) == (object.__getattribute__, None)


def _describe_answer(answer: Any) -> str:
    """Format an answer for a message; agents may return any object."""
    try:
        return repr(answer if answer is None else str(answer)[:80])
    except Exception:
        return f"an object of type {type_name(answer)}"


def _describe_legal(labels: list[str]) -> str:
    """Format legal choices for a message: all, or _LEGAL_SHOWN from the whole list, and how many more there are."""
    if len(labels) <= _LEGAL_SHOWN:
        return ", ".join(labels)
    shown = [labels[number * len(labels) // _LEGAL_SHOWN] for number in range(_LEGAL_SHOWN)]
    return f"{', '.join(shown)} and {len(labels) - _LEGAL_SHOWN} more"


def _fault_of(error: BaseException, clock: SeatClock) -> Fault:
    """Return the Fault for an exception in an agent's code: type, message, and innermost line.

    The message is formatted under the clock, because it may run the agent's code.
    """
    kind, location = type_name(error), ""
    trace = error.__traceback__
    while trace is not None:
        location = f" at {trace.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno}"
        trace = trace.tb_next
    try:
        message = clock.call_untimed(_message_of, error)
    except TimeUp:
        message = f": (its words took longer than {clock.untimed_limit:g} s)"
    except BaseException:
        message = ": (its words could not be read)"
    return Fault("error", f"{kind}{message}{location}")


def _message_of(error: BaseException) -> str:
    message = str.__str__(str(error))
    return f": {message}"[:300] if message else ""


def type_name(value: Any) -> str:
    """Return the name of a value's type without running code of a metaclass."""
    name: str = type.__dict__["__name__"].__get__(type(value))
    return name[:100]


def make_agent(guard: StepGuard, seat_id: int, make: Callable[[], Agent]) -> Agent:
    """Create an agent for a seat. Raises Fault. Its time limit is longer than a decision's: it may load a model."""
    return _run_creation(guard, seat_id, make)


def _run_creation(guard: StepGuard, seat_id: int, function: Callable[[], Any]) -> Any:
    clock = SeatClock(guard, seat_id, CREATION_SECONDS)
    try:
        return clock.call(function)
    except TimeUp:
        raise Fault("timeout", f"was not ready within {CREATION_SECONDS:g} s") from None
    except BaseException as error:
        raise _fault_of(error, clock) from None


def new_seat(
    role: str,
    agent: Agent,
    guard: StepGuard,
    seat_id: int,
    *,
    tag: str,
    format_id: str,
    gen: int,
    seed: int,
    think_limit: float,
    kind: type[Seat] | None = None,
) -> Seat:
    """Create a seat with its agent, a generator seeded by `seed`, and an empty battle. Raises Fault.

    kind: the class of the seat, Seat by default.
    """
    rng = random.Random(seed)

    def prepare() -> bool:
        agent.rng = rng
        return bool(agent.reads_battle)

    reads_battle = _run_creation(guard, seat_id, prepare)
    battle = new_battle(tag, role, role, gen, format_id, rng)
    return (kind or Seat)(role, agent, battle, SeatClock(guard, seat_id, think_limit), reads_battle=reads_battle)
