"""A child process that exchanges lines over its pipes: the common part of a host and a worker."""

from __future__ import annotations

import asyncio
import signal
from abc import ABC, abstractmethod

_KEPT_ERRORS = 4000  # bytes of stderr: enough for a traceback


class ChildProcess(asyncio.SubprocessProtocol, ABC):
    """The parent's end of a child process; `loop.subprocess_exec(cls, ...)` makes one.

    A subclass says what to do with a line (`line_received`) and with the child's death (asyncio's `process_exited` or,
    when all its output has been read, `connection_lost`).
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []  # of a line whose end has not come yet
        self._errors = bytearray()
        self._stdin: asyncio.WriteTransport | None = None
        self._transport: asyncio.SubprocessTransport | None = None

    @abstractmethod
    def line_received(self, line: bytes) -> None:
        """A line of the child's stdout, without its newline."""

    @property
    def pid(self) -> int:
        return self._child.get_pid()

    @property
    def status(self) -> int | None:
        """Its exit status; negative: the signal that ended it; None while it lives."""
        return self._child.get_returncode()

    def last_words(self) -> str:
        """The last line that it wrote to stderr."""
        return self._errors.decode(errors="replace").strip().split("\n")[-1][:300]

    def write_line(self, line: bytes) -> None:
        """Queues a line (without its newline) for its stdin; nothing once that is closed."""
        if self._stdin is not None and not self._stdin.is_closing():
            self._stdin.write(line + b"\n")

    def end_input(self) -> None:
        """Closes its stdin, at which it should end."""
        if self._stdin is not None:
            self._stdin.close()

    def kill(self) -> None:
        """Ends it at once."""
        if self.status is None:
            self._child.send_signal(signal.SIGKILL)

    async def end_within(self, seconds: float, dead: asyncio.Future[str]) -> None:
        """Ends it: by closing its input, and by SIGKILL if it is not `dead` after so long."""
        self.end_input()
        try:
            await asyncio.wait_for(asyncio.shield(dead), seconds)
        except TimeoutError:
            self.kill()
            await dead

    @property
    def _child(self) -> asyncio.SubprocessTransport:
        assert self._transport is not None, "asyncio connects a child before anybody can use it"
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
