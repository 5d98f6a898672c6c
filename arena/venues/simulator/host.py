"""The Python side of host.mjs: one Node process that runs many battles at once. Messages are lines of JSON."""

from __future__ import annotations

import asyncio
from pathlib import Path

import orjson

from arena.processes.child import Message, MessageProcess, SilenceCounter
from arena.venue import VenueFailed
from teamsets.errors import ArenaError
from teamsets.showdown import node, package

_SCRIPT = Path(__file__).with_name("host.mjs")
#: Node's own limit on its heap. A host's battles need far less; a leak should end the host, not the machine.
_HEAP_MEGABYTES = 1024
#: The part of the heap for new objects. Node's own choice, 1 to 16 MB, costs some 7% more CPU time, all of it for garbage.
_NEW_MEGABYTES = 32

#: A host that owes a reply for longer hangs. Its slowest reply (to the first start of a battle) takes a few seconds.
SILENCE_SECONDS = 60.0
#: Seconds between two checks whether it is silent.
CHECK_SECONDS = 2.0


class HostDied(VenueFailed):
    """The Node process ended while it ran battles. They count for neither agent and are played again."""


class Host(MessageProcess):
    """A running host. Create it with `Host.launch()`; use it as an async context manager.

    Messages of a battle are passed to the function given to `open`, in order, on the event loop. What those functions send
    is written once per received chunk: one write per battle would cost more than the battle.
    """

    Died = HostDied

    def __init__(self, silence_seconds: float = SILENCE_SECONDS, check_seconds: float = CHECK_SECONDS) -> None:
        super().__init__()
        self._silence_seconds, self._check_seconds = silence_seconds, check_seconds
        self._outgoing: list[bytes] = []
        self._flushing = False
        self._owes = False  # a message was sent since the last one received
        self._active = False  # since the last check
        self._silence_counter = SilenceCounter()

    @classmethod
    async def launch(
        cls,
        *,
        stock: bool = False,
        silence_seconds: float = SILENCE_SECONDS,
        check_seconds: float = CHECK_SECONDS,
    ) -> Host:
        """Start a Node process. stock: with Showdown's unmodified code, for comparisons. Raises MissingTool.

        silence_seconds: it is killed when it owes a reply for longer. check_seconds: between two checks of that.
        """
        heap = [f"--max-old-space-size={_HEAP_MEGABYTES}"]
        heap += [f"--{bound}-semi-space-size={_NEW_MEGABYTES}" for bound in ("min", "max")]
        arguments = [node(), *heap, str(_SCRIPT), str(package())]
        if stock:
            arguments.append("stock")
        # Its own process group: Ctrl-C in the terminal reaches the arena, which ends its hosts after their battles.
        loop = asyncio.get_running_loop()
        _, host = await loop.subprocess_exec(
            lambda: cls(silence_seconds, check_seconds), *arguments, start_new_session=True
        )
        loop.call_later(check_seconds, host._check_silence)
        return host

    async def __aenter__(self) -> Host:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def send(self, message: Message) -> None:
        """Queue a message, as host.mjs documents it. It is written at the end of the current iteration of the event loop."""
        if self.dead.done():
            return  # every listener was notified
        self._outgoing.append(orjson.dumps(message))
        self._owes = self._owes or message["op"] != "stop"
        if not self._flushing:
            self._flushing = True
            asyncio.get_running_loop().call_soon(self._flush)

    async def ask(self, message: Message, number: int | None = None) -> Message:
        """Send a message and return its reply. Raises HostDied, or ArenaError with the host's error message."""
        reply = await super().ask(message, number)
        if "refused" in reply or "crash" in reply:
            raise ArenaError(str(reply.get("refused") or reply["crash"].split("\n")[0]))
        return reply

    async def close(self) -> None:
        """End the process: close its input, and kill it after two seconds."""
        self._flush()
        await self.end_within(2, self.dead)

    def _flush(self) -> None:
        self._flushing = False
        if self._outgoing:
            self.write_line(b"\n".join(self._outgoing))
        self._outgoing.clear()

    def _check_silence(self) -> None:
        """Kill a host that owes a reply and is silent: it hangs, and its battles would never end."""
        if self.dead.done():
            return
        seconds = self._check_seconds
        if self._silence_counter.check(self._active or not self._owes, seconds) > self._silence_seconds:
            self.kill()
        self._active = False
        asyncio.get_running_loop().call_later(seconds, self._check_silence)

    def line_received(self, line: bytes) -> None:
        self._owes = False
        self._active = True
        try:
            message = orjson.loads(line)
        except orjson.JSONDecodeError:  # not our script, e.g. another program under the name node
            self._errors += b"\nit answered '" + line[:100] + b"': check `node --version` and ARENA_NODE"
            self.kill()
            return
        self.deliver(message)

    def process_exited(self) -> None:
        if self.dead.done():
            return
        error = self.last_error_line()
        reason = f"the simulator's host ended with status {self.status}" + (f": {error}" if error else "")
        self.report_death(reason)


async def drawn_team(host: Host, format_id: str, seed: str) -> str:
    """The packed team that a format generates from a seed, as the host gives it to a player with that seed."""
    drawn = await host.ask({"op": "team", "format": format_id, "seed": seed})
    return str(drawn["team"])
