"""The journal: finished battles, one line of JSON each, on disk the moment they arrive.

It lies beside the database as `FILE.journal` and, once closed to be taken in, `FILE.journal.N`. A line counts when its
newline is there: a process killed while writing leaves at most a torn last line, which is cut off.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path


class Journal:
    """Appends lines; hands out the closed segments that the database has still to take in. Threads may share it."""

    def __init__(self, database: Path) -> None:
        self.path = Path(f"{database}.journal")
        self._file = -1
        # The run's loop appends while a thread takes in: a descriptor closed between the two would be somebody else's.
        self._lock = threading.Lock()

    def append(self, line: bytes) -> None:
        """Adds one line (without its newline). It survives the death of this process from here on."""
        with self._lock:
            if self._file < 0:
                self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            data = memoryview(line + b"\n")
            while data:
                data = data[os.write(self._file, data) :]

    def segments(self) -> list[Path]:
        """Closes the current segment, if it holds anything, and lists all that wait, oldest first."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1
            waiting = self._waiting()
            if self.path.exists():
                _cut_torn_line(self.path)
                if self.path.stat().st_size:
                    number = 1 + max((int(p.suffix[1:]) for p in waiting), default=0)
                    waiting.append(self.path.rename(f"{self.path}.{number}"))
            return waiting

    def pending(self) -> bool:
        """True when there are battles that the database has not taken in."""
        return bool(self._waiting()) or (self.path.exists() and self.path.stat().st_size > 0)

    def _waiting(self) -> list[Path]:
        found = self.path.parent.glob(f"{self.path.name}.*")
        return sorted((p for p in found if p.suffix[1:].isdigit()), key=lambda p: int(p.suffix[1:]))


def _cut_torn_line(path: Path) -> None:
    with open(path, "rb+") as file:
        size = end = file.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - 65536)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end != size:
            file.truncate(end)
