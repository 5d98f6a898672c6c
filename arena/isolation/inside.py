"""Inside an agent process: one agent in one seat of one battle, and then the next of the same agent in the same seat.

In, a line of JSON each: {"make": SETTINGS} for a new battle, {"decide": [view]} and {"finish": [view]} with what the seat
has seen since the last time, as `Seat.see` takes it. Out, for each one line: {"made": true}, {"choice", "thought"},
{"over": oddities}, or {"fault", "words"}; before the choice of an agent that thinks asynchronously {"later": true}.

All of this may be overwritten by the agent: the worker believes nothing of it (seat.py).
"""

from __future__ import annotations

import asyncio
import gc
import socket
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from agents import Choice
from arena.showdown.guard import StepGuard
from arena.showdown.seat import Fault, Seat, make_agent, new_seat
from arena.showdown.table import source_of

_JSON = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS


@dataclass(frozen=True)
class SeatSettings:
    """All that an agent process learns of a battle before it begins. seed: of the seat's own generator."""

    spec: str
    role: str
    tag: str
    format_id: str
    gen: int
    seed: int
    think_limit: float

    def order(self) -> bytes:
        """The line that makes the seat."""
        return orjson.dumps({"make": asdict(self)})


class Inside(asyncio.Protocol):
    """The agent's end of the channel. ended: done when the worker has closed its end."""

    def __init__(self) -> None:
        self.ended = asyncio.get_running_loop().create_future()
        self._guard = StepGuard()
        self._seat: Seat | None = None
        self._parts: list[bytes] = []
        self._thinking: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(None)

    def data_received(self, data: bytes) -> None:
        *ends, rest = data.split(b"\n")
        for end in ends:
            line = b"".join([*self._parts, end])
            self._parts.clear()
            self._obey(orjson.loads(line))
        if rest:
            self._parts.append(rest)

    def _obey(self, order: dict[str, Any]) -> None:
        try:
            if "decide" in order:
                self._decide(order["decide"])
            elif "make" in order:
                self._make(SeatSettings(**order["make"]))
                self._say({"made": True})
            else:
                self._finish(order["finish"])
        except Fault as fault:
            self._fail(fault)

    def _make(self, told: SeatSettings) -> None:
        agent = make_agent(self._guard, 0, lambda: source_of(told.spec).make())
        self._seat = new_seat(
            told.role,
            agent,
            self._guard,
            0,
            tag=told.tag,
            format_id=told.format_id,
            gen=told.gen,
            seed=told.seed,
            think_limit=told.think_limit,
        )

    def _decide(self, views: list[dict[str, Any]]) -> None:
        assert self._seat is not None
        for view in views:
            self._seat.see(view)
        choice = self._seat.decide()
        if isinstance(choice, Choice):
            self._answer(choice)
        else:
            self._say({"later": True})
            self._thinking = asyncio.ensure_future(self._decide_later(choice))

    async def _decide_later(self, awaitable: Any) -> None:
        try:
            self._answer(await awaitable)
        except Fault as fault:
            self._fail(fault)

    def _answer(self, choice: Choice) -> None:
        assert self._seat is not None
        self._say({"choice": choice.words, "thought": self._seat.decisions[-1].thought})

    def _finish(self, views: list[dict[str, Any]]) -> None:
        assert self._seat is not None
        for view in views:
            self._seat.see(view)
        self._seat.finish()
        self._say({"over": self._seat.battle.oddities})
        self._seat = None

    def _fail(self, fault: Fault) -> None:
        words = str(fault).encode("utf-8", "backslashreplace").decode()  # halves of surrogate pairs are no JSON
        self._say({"fault": fault.kind, "words": words})

    def _say(self, message: dict[str, Any]) -> None:
        self._transport.write(orjson.dumps(message, default=repr, option=_JSON) + b"\n")


def run(channel: int) -> None:
    """Plays until the channel's other end is closed. channel: the descriptor of a socket."""
    gc.set_threshold(20_000, 20, 20)  # as in a worker
    asyncio.run(_serve(socket.socket(fileno=channel)))


async def _serve(channel: socket.socket) -> None:
    channel.setblocking(False)
    _, inside = await asyncio.get_running_loop().create_unix_connection(Inside, sock=channel)
    await inside.ended
