"""The journal: finished battles, one line of JSON each, appended to a file as soon as they arrive.

It lies beside the database as `FILE.journal` and, once closed for ingestion, `FILE.journal.N`. A line counts when its
newline is there: a process killed while writing leaves at most a torn last line, which is cut off. An appended line survives
the end of the process at once. It survives a power cut as soon as its segment is closed. Lines that the database refuses are
kept in `FILE.journal.bad`.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from pathlib import Path

from teamsets.atomic import sync


class Journal:
    """Appends lines; lists the closed segments that the database has not ingested yet. Thread-safe."""

    def __init__(self, database: Path) -> None:
        self.path = Path(f"{database}.journal")
        self.bad = Path(f"{database}.journal.bad")
        self._file = -1
        # The run's loop appends while a thread takes in: a descriptor closed between the two would be somebody else's.
        self._lock = threading.Lock()

    def append(self, line: bytes) -> None:
        """Adds one line (without its newline). It survives the death of this process from here on. Raises OSError."""
        with self._lock:
            if self._file < 0:
                _cut_torn_line(self.path)
                self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            data = memoryview(line + b"\n")
            end = os.fstat(self._file).st_size
            try:
                while data:
                    data = data[os.write(self._file, data) :]
            except OSError:  # a full disk: half a line would spoil the next one
                with contextlib.suppress(OSError):
                    os.ftruncate(self._file, end)
                raise

    def segments(self) -> list[Path]:
        """Closes the current segment, if it holds anything, and lists all that wait, oldest first.

        They are synced to disk: they survive a power cut. Raises OSError.
        """
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1
            waiting = self._waiting()
            closed = None
            _cut_torn_line(self.path)
            if self._holds_lines():
                closed = self._next(waiting)
                self.path.rename(closed)
        if closed is not None:  # outside of the lock: appending does not wait for the disk
            sync(closed)
            sync(closed.parent)
            waiting.append(closed)
        return waiting

    def pending(self) -> bool:
        """Returns whether there are battles that the database has not ingested."""
        return bool(self._waiting()) or self._holds_lines()

    def set_aside(self, lines: list[bytes]) -> None:
        """Keeps lines that the database refuses in `FILE.journal.bad`, each once, for inspection."""
        known = set(self.set_aside_lines())
        with open(self.bad, "ab") as file:
            for line in dict.fromkeys(lines):
                if line not in known:
                    file.write(line + b"\n")
            file.flush()
            os.fsync(file.fileno())
        sync(self.bad.parent)

    def set_aside_lines(self) -> list[bytes]:
        """The lines of `FILE.journal.bad`."""
        try:
            return self.bad.read_bytes().split(b"\n")[:-1]
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _holds_lines(self) -> bool:
        return self.path.exists() and self.path.stat().st_size > 0

    def _waiting(self) -> list[Path]:
        # No glob: a database's name may hold its signs, as in x[1].duckdb.
        number = re.compile(re.escape(self.path.name) + r"\.([0-9]+)")
        try:
            names = [name for name in os.listdir(self.path.parent) if number.fullmatch(name)]
        except (FileNotFoundError, NotADirectoryError):  # whoever opens the database names the folder
            return []
        return [self.path.with_name(name) for name in sorted(names, key=lambda name: int(name.rpartition(".")[2]))]

    def _next(self, waiting: list[Path]) -> Path:
        """The name of the next segment, under which there is nothing: a segment is never renamed over another."""
        number = 1 + int(waiting[-1].suffix[1:]) if waiting else 1
        while os.path.lexists(f"{self.path}.{number}"):
            number += 1
        return Path(f"{self.path}.{number}")


def _cut_torn_line(path: Path) -> None:
    if not path.exists():
        return
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
