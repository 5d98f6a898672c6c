"""Seconds that each phase of an attempt takes, also if the process is killed during a phase.

During a phase a thread writes the elapsed time to the file CLOCK every second. At its end the time is stored in the database
and the file is deleted. A file left by a killed process is read by the next one.
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

from teamsets.atomic import write_atomic
from training.experiments.curriculum.store import CurriculumStore

CLOCK = "clock.json"


@dataclass
class StageCosts:
    """What else a phase cost; set by the caller before the phase ends."""

    battles: int = 0
    decisions: int = 0
    steps: int = 0


class StageClock:
    """The clock of a curriculum's folder, whose lock this process holds."""

    def __init__(self, folder: Path, store: CurriculumStore) -> None:
        self._path, self._book = folder / CLOCK, store
        if self._path.exists():
            interrupted = json.loads(self._path.read_text())
            store.spend(**interrupted)
            self._path.unlink()

    @contextmanager
    def running(self, stage: int, attempt: int, phase: str) -> Iterator[StageCosts]:
        """Record the time of the block for a phase, also if it raises."""
        session, began, over, spent = uuid.uuid4().hex[:12], time.monotonic(), threading.Event(), StageCosts()

        def write() -> None:
            while not over.wait(1.0):
                row = {"stage": stage, "attempt": attempt, "phase": phase, "session": session}
                write_atomic(self._path, json.dumps({**row, "seconds": time.monotonic() - began}))

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
