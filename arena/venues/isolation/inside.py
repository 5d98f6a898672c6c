"""Runs in an agent process: one agent in one seat, one battle after another.

In, a line of JSON each: {"make": SETTINGS} for a new battle, {"decide": [view]} and {"finish": [view]} with what the seat
has seen since the last time, as `Seat.receive` takes it. Out, for each one line: {"made": true}, {"choice", "diagnostics"},
{"over": parse_warnings}, or {"fault", "message"}; {"later": true} before the choice of an agent whose `act` is a coroutine.

The agent can overwrite all of this, so the worker does not trust it (seat.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import inspect
import socket
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from agents import Choice
from arena.battles.clock import RunClock
from arena.battles.guard import StepGuard
from arena.battles.seat import Fault, Seat, make_agent, new_seat
from arena.battles.session import agent_of_spec, prepared_agent

_JSON = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS


@dataclass(frozen=True)
class SeatSettings:
    """The settings that an agent process receives before a battle. seed: of the seat's generator."""

    spec: str
    role: str
    tag: str
    format_id: str
    gen: int
    seed: int
    think_limit: float

    def order(self) -> bytes:
        """Return the line that creates the seat."""
        return orjson.dumps({"make": asdict(self)})


class InsideSeat(Seat):
    """A seat in an agent process. It keeps only what the next choice needs; the worker keeps the record."""

    @functools.cached_property
    def _has_plain_diagnostics(self) -> bool:
        """Whether the agent's diagnostics are a plain attribute, so that reading them runs none of its code."""
        return inspect.getattr_static(type(self.agent), "diagnostics", None) is None

    def receive(self, view: dict[str, Any]) -> bool:
        self.log.clear()
        return super().receive(view)

    def record_decision(self, choice: Choice) -> Choice:
        self.decisions.clear()
        return super().record_decision(choice)

    def read_diagnostics(self) -> dict[str, Any] | None:
        return (
            None
            if self._has_plain_diagnostics and vars(self.agent).get("diagnostics") is None
            else super().read_diagnostics()
        )


class Inside:
    """The agent's side of the channel, with blocking reads. ended: done when the worker has closed its side.

    It does not use asyncio's transports: many agent processes take turns, and the code that one runs at its turn is no
    longer in the CPU cache.
    """

    def __init__(self, channel: socket.socket, clock: RunClock) -> None:
        self._loop = asyncio.get_running_loop()
        self.ended = self._loop.create_future()
        self._channel = channel
        self._guard = StepGuard(clock=clock)
        self._seat: Seat | None = None
        self._parts: list[bytes] = []
        self._deciding: asyncio.Task[None] | None = None
        self._loop.add_reader(channel, self._receive)

    def _receive(self) -> None:
        try:
            self._read()
        except BaseException as error:  # a bug of the arena: end with a traceback
            if not self.ended.done():
                self.ended.set_exception(error)

    def _read(self) -> None:
        try:
            data = self._channel.recv(1 << 18)
        except ConnectionResetError:
            data = b""
        if not data:
            self._loop.remove_reader(self._channel)
            if not self.ended.done():
                self.ended.set_result(None)
            return
        *ends, rest = data.split(b"\n")
        for end in ends:
            line = b"".join([*self._parts, end])
            self._parts.clear()
            self._execute(orjson.loads(line))
        if rest:
            self._parts.append(rest)

    def _execute(self, order: dict[str, Any]) -> None:
        try:
            if "decide" in order:
                self._decide(order["decide"])
            elif "make" in order:
                self._make(SeatSettings(**order["make"]))
                self._send({"made": True})
            else:
                self._finish(order["finish"])
        except Fault as fault:
            self._fail(fault)

    def _make(self, settings: SeatSettings) -> None:
        create = functools.partial(prepared_agent, agent_of_spec, settings.spec, settings.format_id)
        agent = make_agent(self._guard, 0, create)
        self._seat = new_seat(
            settings.role,
            agent,
            self._guard,
            0,
            tag=settings.tag,
            format_id=settings.format_id,
            gen=settings.gen,
            seed=settings.seed,
            think_limit=settings.think_limit,
            kind=InsideSeat,
        )

    def _decide(self, views: list[dict[str, Any]]) -> None:
        assert self._seat is not None
        for view in views:
            self._seat.receive(view)
        choice = self._seat.decide()
        if isinstance(choice, Choice):
            self._send_choice(choice)
        else:
            self._send({"later": True})
            self._deciding = asyncio.ensure_future(self._decide_later(choice))

    async def _decide_later(self, awaitable: Any) -> None:
        try:
            self._send_choice(await awaitable)
        except Fault as fault:
            self._fail(fault)

    def _send_choice(self, choice: Choice) -> None:
        assert self._seat is not None
        self._send({"choice": choice.label, "diagnostics": self._seat.decisions[-1].diagnostics})

    def _finish(self, views: list[dict[str, Any]]) -> None:
        assert self._seat is not None
        for view in views:
            self._seat.receive(view)
        self._seat.finish()
        self._send({"over": self._seat.battle.parse_warnings})
        self._seat = None

    def _fail(self, fault: Fault) -> None:
        message = str(fault).encode("utf-8", "backslashreplace").decode()  # lone surrogates are not valid JSON
        self._send({"fault": fault.kind, "message": message})

    def _send(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError):  # `_receive` handles the end of input
            self._channel.sendall(orjson.dumps(message, default=repr, option=_JSON) + b"\n")


def run(channel: int, clock: RunClock) -> None:
    """Play until the channel is closed. channel: the descriptor of a socket. clock: the run's time."""
    gc.set_threshold(20_000, 20, 20)  # as in a worker
    asyncio.run(_serve(socket.socket(fileno=channel), clock))


async def _serve(channel: socket.socket, clock: RunClock) -> None:
    await Inside(channel, clock).ended
