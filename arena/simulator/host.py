"""The Python end of host.mjs: one Node process, spoken to in lines of JSON, many battles at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from arena.child import ChildProcess
from arena.venue import VenueFailed
from teamsets.errors import ArenaError
from teamsets.showdown import node, package

_SCRIPT = Path(__file__).with_name("host.mjs")
#: Node's own limit on its heap. A host's battles need far less; a leak should end the host, not the machine.
_HEAP_MEGABYTES = 1024

#: A host that owes an answer for so long hangs. Its slowest answer (a battle begun on a cold start) takes a few seconds.
_SILENCE_SECONDS = 60.0
_LOOK_SECONDS = 2.0

Message = dict[str, Any]


class HostDied(VenueFailed):
    """The Node process ended while battles were in it. Nobody's loss: they are played again."""


class Host(ChildProcess):
    """A running host. Make it with `Host.launch()`; use it as an async context manager.

    Messages for a battle are handed to the function given to `open`, in order, on the event loop. What those functions
    send is gathered and written once per chunk received: a write for each battle would cost more than the battle.
    """

    def __init__(self) -> None:
        super().__init__()
        self._listeners: dict[int, Callable[[Message], None]] = {}
        self._outgoing: list[bytes] = []
        self._flushing = False
        self._next_id = 0
        self._owes = False  # something was asked since it last said anything
        self._silent = 0  # how many looks in a row found it owing and silent
        self.dead = asyncio.get_running_loop().create_future()

    @classmethod
    async def launch(cls, *, stock: bool = False) -> Host:
        """Starts a Node process. stock: with Showdown's code untouched (to compare with). Raises MissingTool."""
        arguments = [node(), f"--max-old-space-size={_HEAP_MEGABYTES}", str(_SCRIPT), str(package())]
        if stock:
            arguments.append("stock")
        # A group of its own: Ctrl-C in the terminal is for the arena, which ends its hosts when their battles are done.
        loop = asyncio.get_running_loop()
        _, host = await loop.subprocess_exec(cls, *arguments, start_new_session=True)
        loop.call_later(_LOOK_SECONDS, host._look)
        return host

    async def __aenter__(self) -> Host:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def open(self, listener: Callable[[Message], None]) -> int:
        """A new battle id, whose messages go to `listener`. Each is a dict as host.mjs documents it."""
        self._next_id += 1
        self._listeners[self._next_id] = listener
        return self._next_id

    def forget(self, battle: int) -> None:
        """No more messages of this battle are wanted."""
        self._listeners.pop(battle, None)

    def send(self, order: Message) -> None:
        """Queues an order. It is written at the end of the current turn of the event loop."""
        if self.dead.done():
            return  # every listener has been told already
        self._outgoing.append(orjson.dumps(order))
        self._owes = self._owes or order["op"] != "stop"
        if not self._flushing:
            self._flushing = True
            asyncio.get_running_loop().call_soon(self._flush)

    async def ask(self, order: Message) -> Message:
        """Sends one order and waits for its one answer. Raises HostDied, or ArenaError with the host's refusal."""
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

        def settle(message: Message) -> None:
            if not answer.done():
                answer.set_result(message)

        battle = self.open(settle)
        self.send({**order, "id": battle})
        try:
            message = await answer
        finally:
            self.forget(battle)
        if "died" in message:
            raise HostDied(message["died"])
        if "refused" in message or "crash" in message:
            raise ArenaError(str(message.get("refused") or message["crash"].split("\n")[0]))
        return message

    async def close(self) -> None:
        """Ends the process: politely by closing its input, by force after two seconds."""
        self._flush()
        await self.end_within(2, self.dead)

    def _flush(self) -> None:
        self._flushing = False
        if self._outgoing:
            self.write_line(b"\n".join(self._outgoing))
        self._outgoing.clear()

    def _look(self) -> None:
        """Ends a host that owes an answer and is silent: it hangs, and its battles would wait for ever."""
        if self.dead.done():
            return
        # Looks are counted, not seconds: an agent that holds the loop for long delays the looks as well.
        self._silent = self._silent + 1 if self._owes else 0
        if self._silent * _LOOK_SECONDS > _SILENCE_SECONDS:
            self.kill()
        asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._look)

    def line_received(self, line: bytes) -> None:
        self._owes = False
        self._silent = 0
        try:
            message = orjson.loads(line)
        except orjson.JSONDecodeError:  # not our script: a program that only passes for node, say
            self._errors += b"\nit answered '" + line[:100] + b"': check `node --version` and ARENA_NODE"
            self.kill()
            return
        listener = self._listeners.get(message["id"])
        if listener is not None:
            listener(message)

    def process_exited(self) -> None:
        if self.dead.done():
            return
        words = self.last_words()
        reason = f"the simulator's host ended with status {self.status}" + (f": {words}" if words else "")
        self.dead.set_result(reason)
        listeners, self._listeners = self._listeners, {}
        for battle, listener in listeners.items():
            listener({"id": battle, "died": reason})
