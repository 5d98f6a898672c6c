"""A child process that exchanges lines over its pipes: the common part of the simulator's host, a server and a worker.

`MessageProcess` adds numbered messages, replies and the end of the process; `SilenceCounter` measures silence.
"""

from __future__ import annotations

import asyncio
import itertools
import signal
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from teamsets.errors import last_error

Message = dict[str, Any]

_KEPT_ERRORS = 4000  # bytes of stderr: enough for a traceback


class ChildProcess(asyncio.SubprocessProtocol, ABC):
    """The parent's side of a child process; `loop.subprocess_exec(cls, ...)` creates one.

    A subclass handles a line (`line_received`) and the child's death (asyncio's `process_exited` or, after all its output
    has been read, `connection_lost`).
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []  # of an incomplete line
        self._errors = bytearray()
        self._stdin: asyncio.WriteTransport | None = None
        self._transport: asyncio.SubprocessTransport | None = None

    @abstractmethod
    def line_received(self, line: bytes) -> None:
        """Handle a line of the child's stdout, without its newline."""

    @property
    def pid(self) -> int:
        return self._child.get_pid()

    @property
    def status(self) -> int | None:
        """Exit status; negative: the signal that ended it; None while it runs."""
        return self._child.get_returncode()

    def last_error_line(self) -> str:
        """Return the error that it wrote to stderr at last."""
        return last_error(self._errors.decode(errors="replace"))

    def write_line(self, line: bytes) -> None:
        """Queue a line (without its newline) for its stdin, unless that is closed."""
        if self._stdin is not None and not self._stdin.is_closing():
            self._stdin.write(line + b"\n")

    def end_input(self) -> None:
        """Close its stdin, after which it should end."""
        if self._stdin is not None:
            self._stdin.close()

    def kill(self) -> None:
        """Kill it."""
        if self.status is None:
            self._child.send_signal(signal.SIGKILL)

    async def end_within(self, seconds: float, dead: asyncio.Future[str]) -> None:
        """Close its input, and send SIGKILL if it is not `dead` after so many seconds."""
        self.end_input()
        try:
            await asyncio.wait_for(asyncio.shield(dead), seconds)
        except TimeoutError:
            self.kill()
            await dead

    @property
    def _child(self) -> asyncio.SubprocessTransport:
        assert self._transport is not None, "asyncio connects a child before it can be used"
        return self._transport

    # asyncio's side of the protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport
        stdin = transport.get_pipe_transport(0)
        assert isinstance(stdin, asyncio.WriteTransport)
        self._stdin = stdin

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._errors = (self._errors + data)[-_KEPT_ERRORS:]
            return
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._parts.append(end)
            line = b"".join(self._parts)
            self._parts.clear()
            self.line_received(line)
        # Joined once, at the line's end: joining at every chunk would take time quadratic in the line's length.
        self._parts.append(rest)


class Listeners:
    """Who receives messages: the "id" of a message names its listener."""

    def __init__(self) -> None:
        super().__init__()
        self._listeners: dict[int, Callable[[Message], None]] = {}
        self._ids = itertools.count(1)

    def open(self, listener: Callable[[Message], None]) -> int:
        """Register a listener. Returns its number, for `forget` and as the id of messages."""
        number = next(self._ids)
        self._listeners[number] = listener
        return number

    def forget(self, number: int) -> None:
        """Remove a listener."""
        self._listeners.pop(number, None)

    def deliver(self, message: Message) -> None:
        """Pass a message to its listener, if it has one."""
        listener = self._listeners.get(message["id"])
        if listener is not None:
            listener(message)


class MessageProcess(Listeners, ChildProcess):
    """A child process that exchanges JSON messages. The "id" of a message names the listener that receives it.

    dead: set to the reason when the process has ended; each listener then receives {"id": its number, "died": reason}.
    """

    #: Raised by `ask` when the process has ended; the argument is the reason.
    Died: ClassVar[type[Exception]]

    def __init__(self) -> None:
        super().__init__()
        self.dead: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @abstractmethod
    def send(self, message: Message) -> None:
        """Queue a message for the process; do nothing once it has ended."""

    async def ask(self, message: Message, number: int | None = None) -> Message:
        """Send a message and return its reply. Raises `Died`. number: its id; None: a new one."""
        if self.dead.done():
            raise self.Died(self.dead.result())
        reply: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

        def settle(received: Message) -> None:
            if not reply.done():
                reply.set_result(received)

        number = next(self._ids) if number is None else number
        self._listeners[number] = settle
        self.send({**message, "id": number})
        try:
            received = await reply
        finally:
            self._listeners.pop(number, None)
        if "died" in received:
            raise self.Died(received["died"])
        return received

    def report_death(self, reason: str) -> None:
        """Set `dead`, and tell all listeners."""
        self.dead.set_result(reason)
        listeners, self._listeners = self._listeners, {}
        for number, listener in listeners.items():
            listener({"id": number, "died": reason})


class SilenceCounter:
    """Measures silence by counting checks, not by a clock: an agent that blocks the event loop delays the checks, too."""

    def __init__(self) -> None:
        self._silent_checks = 0

    def check(self, active: bool, interval: float) -> float:
        """Count a check. Returns the seconds of silence. active: since the last check; interval: seconds between checks."""
        self._silent_checks = 0 if active else self._silent_checks + 1
        return self._silent_checks * interval
