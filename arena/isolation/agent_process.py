"""The worker's end of an agent process: one request at a time, its answer or failure, and the scheduling of turns."""

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

from teamsets.errors import ArenaError

#: The longest line that an agent process may write, in bytes: a choice with its diagnostics, which are bounded as well.
MAX_LINE = 512 * 1024
#: A process that has answered so often in a row within so many seconds does not wait for its turn: it takes next to nothing
#: from an agent limited by time, and the cores have something to do while one process wakes another.
QUICK_ANSWERS, QUICK_SECONDS = 8, 0.01
_KEPT_OUTPUT = 4000  # bytes of what an agent prints, of which its last line may be told


class ProcessEnded(ArenaError):
    """An agent process has ended, or has broken the rules of its channel and was ended. The message says how."""


class AgentTimeout(ArenaError):
    """An agent process has not answered in time, and was ended."""


class Turns:
    """Lets one agent process of a worker compute at a time, so that an agent limited by time has a core as without
    isolation."""

    def __init__(self) -> None:
        self._taken = False
        self._waiting: deque[Callable[[], None]] = deque()

    def take(self, begin: Callable[[], None]) -> None:
        """Call `begin` as soon as the turn is free. The caller releases it with `give`."""
        if self._taken:
            self._waiting.append(begin)
        else:
            self._taken = True
            begin()

    def give(self) -> None:
        """Release the turn; the next waiting process gets it."""
        if self._waiting:
            self._waiting.popleft()()
        else:
            self._taken = False


#: What a question leads to: the line that answers it, as JSON, or why there is none.
Answer = dict[str, Any] | ProcessEnded | AgentTimeout


class AgentProcess(asyncio.Protocol):
    """One agent process: asked one thing at a time. Nothing that it writes is trusted, and nothing of it is executed.

    key: its agent's spec and its seat. kill_process: ends the process of a number.
    """

    def __init__(self, key: tuple[str, str], turns: Turns, kill_process: Callable[[int], None]) -> None:
        self.key = key
        self.pid = 0
        self._turns, self._kill_process = turns, kill_process
        self._transport: asyncio.Transport | None = None
        self._parts: list[bytes] = []
        self._size = 0  # of the parts
        self._answered: Callable[[Answer], None] | None = None  # set while a question is open
        self._until = 0.0
        self._asked_at = 0.0
        self._later = False  # it has said that its answer comes later
        self._has_turn = False
        self._quick_answers = 0  # in a row
        self._printed = bytearray()
        self.output: tuple[asyncio.ReadTransport, int] | None = None  # the pipe of what it prints, and its descriptor
        self._breach = ""
        self.ended = ""  # how, once it has

    def ask(self, begin: Callable[[], bytes | None], seconds: float, answered: Callable[[Answer], None]) -> None:
        """Asks when it is this process's turn.

        begin: called then; returns the question's line, or None when the question is not wanted any more. seconds: how
        long the answer may take from then on; after that the process is ended. answered: called once with the answer;
        must not raise.
        """
        if self._quick_answers >= QUICK_ANSWERS:
            self._begin(begin, seconds, answered)
        else:
            self._turns.take(lambda: self._begin(begin, seconds, answered, has_turn=True))

    def _begin(
        self,
        begin: Callable[[], bytes | None],
        seconds: float,
        answered: Callable[[Answer], None],
        has_turn: bool = False,
    ) -> None:
        self._has_turn = has_turn
        line = begin()
        if line is None:
            self._give_turn()
        elif self.ended:
            self._give_turn()
            answered(ProcessEnded(self.ended))
        else:
            assert self._transport is not None
            self._asked_at = time.monotonic()
            self._later = False
            self.listen(seconds, answered)
            self._transport.write(line + b"\n")

    def listen(self, seconds: float, answered: Callable[[Answer], None]) -> None:
        """Changes how long the open question may still take, and who gets its answer."""
        self._until = time.monotonic() + seconds
        self._answered = answered

    async def answer(self, line: bytes, seconds: float) -> dict[str, Any]:
        """As `ask`, for a coroutine. Raises ProcessEnded or AgentTimeout."""
        return await _received(lambda answered: self.ask(lambda: line, seconds, answered))

    async def open_answer(self, seconds: float) -> dict[str, Any]:
        """The answer to the open question; see `listen`. Raises ProcessEnded or AgentTimeout."""
        return await _received(lambda answered: self.listen(seconds, answered))

    def look(self, now: float) -> None:
        """Ends the process if its answer is overdue. now: monotonic seconds."""
        if self._answered is not None and now >= self._until:
            self._settle(AgentTimeout("silent"))
            self.kill()

    def _settle(self, answer: Answer) -> None:
        """Pass the answer to the waiting callback."""
        self._give_turn()
        answered, self._answered = self._answered, None
        if answered is not None:
            answered(answer)

    def _give_turn(self) -> None:
        if self._has_turn:
            self._has_turn = False
            self._turns.give()

    def kill(self) -> None:
        """Ends it at once, with the process group that it leads."""
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
            self._break(f"wrote more than {MAX_LINE:,} bytes in one line into its channel")

    def _line_received(self, line: bytes) -> None:
        if self._breach:
            return
        try:
            answer = orjson.loads(line) if len(line) <= MAX_LINE else None
        except orjson.JSONDecodeError:
            answer = None
        if not isinstance(answer, dict) or self._answered is None:
            self._break("wrote an invalid answer into its channel")
        elif answer.get("later") is True and not self._later:
            self._later = True
            self._give_turn()
        else:
            if not self._later:
                quick = time.monotonic() - self._asked_at < QUICK_SECONDS
                self._quick_answers = self._quick_answers + 1 if quick else 0
            self._settle(answer)

    def _break(self, words: str) -> None:
        self._breach = self._breach or words
        self._parts.clear()
        self._size = 0
        self.kill()

    def connection_lost(self, exc: Exception | None) -> None:
        self.kill()  # it may have closed the channel only; the nursery says how it ended

    def output_received(self, data: bytes) -> None:
        """What the agent has printed."""
        self._printed = (self._printed + data)[-_KEPT_OUTPUT:]

    def process_ended(self, code: int) -> None:
        """The nursery has reaped it."""
        if self.output is not None:
            transport, descriptor = self.output
            if not transport.is_closing():  # else all of it was read, and the descriptor may be another file's by now
                with contextlib.suppress(OSError):  # the last of it may not have been read yet
                    self.output_received(os.read(descriptor, 1 << 16))
            transport.close()
        how = self._breach or f"ended its process {_how(code)}"
        last = self._printed.decode(errors="replace").strip().split("\n")[-1][:300]
        self.ended = how + (f": {last}" if last else "")
        self._settle(ProcessEnded(self.ended))
        if self._transport is not None:
            self._transport.abort()


async def _received(ask: Callable[[Callable[[Answer], None]], None]) -> dict[str, Any]:
    """The answer that `ask` hands to the function given to it. Raises ProcessEnded or AgentTimeout."""
    received: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
    ask(lambda answer: None if received.done() else received.set_result(answer))
    answer = await received
    if isinstance(answer, Exception):
        raise answer
    return answer


def _how(code: int) -> str:
    return f"with exit code {code}" if code >= 0 else f"by {signal.Signals(-code).name}"
