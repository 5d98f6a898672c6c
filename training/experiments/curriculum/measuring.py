"""Progress of a plan's speed measurements: updated in place on a terminal, a line at intervals in a log."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.status import Status

from arena.report.live import LINE_EVERY_SECONDS, format_seconds
from arena.workers.progress import RunProgress


class Measuring:
    """`with Measuring(console, kinds) as shown: ...`. kinds: number of kinds of battles to measure."""

    def __init__(self, console: Console, kinds: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._console, self._kinds, self._clock = console, kinds, clock
        self._began, self._next_line = clock(), 0.0
        self._done, self._now, self._what = 0, 0, ""
        self._status = Status("", console=console) if console.is_terminal else None

    def __enter__(self) -> Measuring:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def begin(self, what: str, kinds: int) -> None:
        """Show the next kinds, which are played together."""
        self._done, self._now, self._what = self._done + self._now, kinds, what
        self._say("", at_once=True)

    def battles(self, progress: RunProgress) -> None:
        """Show the progress of their battles."""
        self._say(f" · {progress.done} of {progress.total} battles")

    def learning(self, steps: int) -> None:
        """Show that training steps are measured, which have their own progress line."""
        self._done, self._now = self._done + self._now, 0
        self._console.print(f"measuring {steps} training steps")
        if self._status is not None:
            self._status.stop()

    def _say(self, more: str, *, at_once: bool = False) -> None:
        first, last = self._done + 1, self._done + self._now
        which = f"{first}" if first == last else f"{first}–{last}"
        elapsed = format_seconds(self._clock() - self._began)
        line = f"measuring {which} of {self._kinds}: {self._what}{more} · {elapsed}"
        if self._status is not None:
            self._status.update(line)
        elif at_once or self._clock() >= self._next_line:
            self._next_line = self._clock() + LINE_EVERY_SECONDS
            self._console.print(line, soft_wrap=True, markup=False, highlight=False)
