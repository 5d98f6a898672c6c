"""The worker's side of an agent process: one request at a time, its reply or failure, and the scheduling of turns."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import orjson

from arena.battles.clock import RunClock
from teamsets.errors import ArenaError

#: Maximum length of a line from an agent process, in bytes: a choice with its diagnostics, which are bounded, too.
MAX_LINE = 512 * 1024
#: A process that has replied this often in a row within so many seconds does not wait for its turn: it takes hardly any time
#: from an agent limited by time, and keeps the cores busy while one process wakes another.
QUICK_ANSWERS, QUICK_SECONDS = 8, 0.01
_KEPT_OUTPUT = 4000  # kept bytes of an agent's output; its last line may be reported


class ProcessEnded(ArenaError):
    """An agent process ended, or violated its protocol and was killed. The message contains the details."""


class AgentTimeout(ArenaError):
    """An agent process did not reply in time, and was killed."""


class Turns:
    """Lets one agent process of a worker compute at a time, so that an agent limited by time has a full core, as without
    isolation."""

    def __init__(self) -> None:
        self._busy = False
        self._waiting: deque[Callable[[], None]] = deque()

    def acquire(self, begin: Callable[[], None]) -> None:
        """Call `begin` as soon as the turn is free. The caller releases it with `release`."""
        if self._busy:
            self._waiting.append(begin)
        else:
            self._busy = True
            begin()

    def release(self) -> None:
        """Release the turn; the next waiting process gets it."""
        if self._waiting:
            self._waiting.popleft()()
        else:
            self._busy = False


#: The result of a request: the reply line as JSON, or why there is none.
Answer = dict[str, Any] | ProcessEnded | AgentTimeout


class AgentProcess(asyncio.Protocol):
    """One agent process. It handles one request at a time; its output is neither trusted nor executed.

    key: its agent's spec and its seat. kill_process: kills a process by its id. clock: the run's time.
    """

    def __init__(
        self,
        key: tuple[str, str],
        turns: Turns,
        kill_process: Callable[[int], None],
        clock: RunClock | None = None,
    ) -> None:
        self.key = key
        self._clock = clock or RunClock()
        self.pid = 0
        self._turns, self._kill_process = turns, kill_process
        self._transport: asyncio.Transport | None = None
        self._parts: list[bytes] = []
        self._size = 0  # of the parts
        self._on_answer: Callable[[Answer], None] | None = None  # set while a request is open
        self._until = 0.0
        self._requested_at = 0.0
        self._reply_announced = False  # it has announced a later reply
        self._has_turn = False
        self._quick_answers = 0  # in a row
        self._printed = bytearray()
        self.output: tuple[asyncio.ReadTransport, int] | None = None  # the pipe of its output, and its descriptor
        self._breach = ""
        self.ended = ""  # how it ended, once it has

    def ask(self, begin: Callable[[], bytes | None], seconds: float, on_answer: Callable[[Answer], None]) -> None:
        """Send a request at this process's turn.

        begin: called then; returns the request's line, or None if it is no longer needed. seconds: time limit for the
        reply from then on; after it the process is killed. on_answer: called once with the reply; must not raise.
        """
        if self._quick_answers >= QUICK_ANSWERS:
            self._begin(begin, seconds, on_answer)
        else:
            self._turns.acquire(lambda: self._begin(begin, seconds, on_answer, has_turn=True))

    def _begin(
        self,
        begin: Callable[[], bytes | None],
        seconds: float,
        on_answer: Callable[[Answer], None],
        has_turn: bool = False,
    ) -> None:
        self._has_turn = has_turn
        line = begin()
        if line is None:
            self._give_turn()
        elif self.ended:
            self._give_turn()
            on_answer(ProcessEnded(self.ended))
        else:
            assert self._transport is not None
            self._requested_at = time.monotonic()
            self._reply_announced = False
            self.listen(seconds, on_answer)
            self._transport.write(line + b"\n")

    def listen(self, seconds: float, on_answer: Callable[[Answer], None]) -> None:
        """Change the time limit of the open request, and the callback of its reply."""
        self._until = self._clock.now() + seconds
        self._on_answer = on_answer

    async def answer(self, line: bytes, seconds: float) -> dict[str, Any]:
        """Like `ask`, as a coroutine. Raises ProcessEnded or AgentTimeout."""
        return await _await_answer(lambda on_answer: self.ask(lambda: line, seconds, on_answer))

    async def open_answer(self, seconds: float) -> dict[str, Any]:
        """Return the reply to the open request; see `listen`. Raises ProcessEnded or AgentTimeout."""
        return await _await_answer(lambda on_answer: self.listen(seconds, on_answer))

    def check_deadline(self) -> None:
        """Kill the process if its reply is overdue."""
        if self._on_answer is not None and self._clock.is_past(self._until):
            self._deliver_answer(AgentTimeout("silent"))
            self.kill()

    def _deliver_answer(self, answer: Answer) -> None:
        """Pass the answer to the waiting callback."""
        self._give_turn()
        on_answer, self._on_answer = self._on_answer, None
        if on_answer is not None:
            on_answer(answer)

    def _give_turn(self) -> None:
        if self._has_turn:
            self._has_turn = False
            self._turns.release()

    def kill(self) -> None:
        """Kill it with its process group."""
        self._kill_process(self.pid)

    # asyncio's side of the protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *ends, rest = data.split(b"\n")
        for end in ends:
            line = b"".join([*self._parts, end])
            self._parts.clear()
            self._size = 0
            self._line_received(line)
        self._parts.append(rest)
        self._size += len(rest)
        if self._size > MAX_LINE:
            self._kill_for_breach(f"wrote more than {MAX_LINE:,} bytes in one line into its channel")

    def _line_received(self, line: bytes) -> None:
        if self._breach:
            return
        try:
            answer = orjson.loads(line) if len(line) <= MAX_LINE else None
        except orjson.JSONDecodeError:
            answer = None
        if not isinstance(answer, dict) or self._on_answer is None:
            self._kill_for_breach("wrote an invalid answer into its channel")
        elif answer.get("later") is True and not self._reply_announced:
            self._reply_announced = True
            self._give_turn()
        else:
            if not self._reply_announced:
                quick = time.monotonic() - self._requested_at < QUICK_SECONDS
                self._quick_answers = self._quick_answers + 1 if quick else 0
            self._deliver_answer(answer)

    def _kill_for_breach(self, message: str) -> None:
        self._breach = self._breach or message
        self._parts.clear()
        self._size = 0
        self.kill()

    def connection_lost(self, exc: Exception | None) -> None:
        self.kill()  # it may have closed only the channel; the nursery reports how it ended

    def output_received(self, data: bytes) -> None:
        """Process the agent's output."""
        self._printed = (self._printed + data)[-_KEPT_OUTPUT:]

    def process_ended(self, code: int) -> None:
        """Handle the end of the process, which the nursery has reaped."""
        if self.output is not None:
            transport, descriptor = self.output
            if not transport.is_closing():  # else all of it was read, and the descriptor may be another file's by now
                with contextlib.suppress(OSError):  # its last output may not have been read yet
                    self.output_received(os.read(descriptor, 1 << 16))
            transport.close()
        how = self._breach or f"ended its process {_describe_exit(code)}"
        last = self._printed.decode(errors="replace").strip().split("\n")[-1][:300]
        self.ended = how + (f": {last}" if last else "")
        self._deliver_answer(ProcessEnded(self.ended))
        if self._transport is not None:
            self._transport.abort()


async def _await_answer(ask: Callable[[Callable[[Answer], None]], None]) -> dict[str, Any]:
    """Return the reply that `ask` passes to its callback. Raises ProcessEnded or AgentTimeout."""
    received: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
    ask(lambda answer: None if received.done() else received.set_result(answer))
    answer = await received
    if isinstance(answer, Exception):
        raise answer
    return answer


def _describe_exit(code: int) -> str:
    return f"with exit code {code}" if code >= 0 else f"by {signal.Signals(-code).name}"
