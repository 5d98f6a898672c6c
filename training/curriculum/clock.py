"""What each phase of an attempt costs in seconds, also where the process is killed in its middle.

While a phase goes on, a thread writes every second how long it has taken into CLOCK. When the phase ends, the seconds go
into the store and the file goes away; a file that is left was of a killed process, and the next one takes it in.
"""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from training.curriculum.book import Book
from training.files import write_whole

CLOCK = "clock.json"


@dataclass
class Spent:
    """What a phase did besides taking time; set by those who know, before it ends."""

    battles: int = 0
    decisions: int = 0
    steps: int = 0


class Clock:
    """Of one curriculum's folder, which this process holds."""

    def __init__(self, folder: Path, book: Book) -> None:
        self._path, self._book = folder / CLOCK, book
        if self._path.exists():
            left = json.loads(self._path.read_text())
            book.spend(**left)
            self._path.unlink()

    @contextmanager
    def running(self, stage: int, attempt: int, phase: str) -> Iterator[Spent]:
        """Counts the block's time for a phase. After an error, too: what was spent is spent."""
        session, began, over, spent = uuid.uuid4().hex[:12], time.monotonic(), threading.Event(), Spent()

        def write() -> None:
            while not over.wait(1.0):
                told = {"stage": stage, "attempt": attempt, "phase": phase, "session": session}
                write_whole(self._path, json.dumps({**told, "seconds": time.monotonic() - began}))

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        try:
            yield spent
        finally:
            over.set()
            writer.join()
            seconds = time.monotonic() - began
            self._book.spend(stage, attempt, phase, session, seconds, **vars(spent))
            self._path.unlink(missing_ok=True)
