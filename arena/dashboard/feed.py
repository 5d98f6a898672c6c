"""What all open pages share: the state of database and run folders as parts of JSON, read no more often than it may cost.

Nothing is read while no page is open. The database is read when it has changed, and the pause after a reading is
PAUSE times the processor time that it took, so that pages take at most 2% of one core however large the database is. Of
the last three readings the cheapest counts: a process's first ones also import what they need, ten times the work of a
small database, and the page would stand still for 25 seconds after them.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from pathlib import Path
from typing import Any

import duckdb
import orjson

from arena.dashboard import tournaments
from arena.dashboard.training_runs import TrainingRuns
from arena.extensions import extensions
from arena.live_status import is_being_written, read_status
from arena.store import connect
from teamsets.errors import BadInput

#: Seconds between two looks, and the least between two readings of the database.
LOOK_SECONDS, READ_SECONDS = 3.0, 3.0
#: The pause after a reading, in times of the processor time that it took.
PAUSE = 50
#: How long a reading waits for the run's writer, in seconds.
PATIENCE = 3.0

Parts = dict[str, bytes]


class _Database:
    """One run and the list of runs, as last read. run_id: None for the latest."""

    def __init__(self, path: Path, run_id: str | None) -> None:
        self.path, self.run_id = path, run_id
        self.parts: Parts = {}
        self.problem: str | None = None
        self._seen: object = None
        self._next = 0.0
        self._worked = deque([0.0] * 3, maxlen=3)

    def update(self, playing: bool, status: dict[str, Any] | None) -> None:
        """Reads the database if it has changed since and enough time has passed."""
        seen = (_stamp(self.path), playing, (status or {}).get("run"))
        if seen == self._seen or time.monotonic() < self._next:
            return
        # Not the clock: waiting for the run's writer, or for a core, costs the run nothing.
        began = time.process_time()
        try:
            self.parts = self._read(playing, status)
            self._seen, self.problem = seen, None
        except (BadInput, duckdb.Error) as error:  # what was read before stays on the page
            self.problem = str(error)
        self._worked.append(time.process_time() - began)
        self._next = time.monotonic() + max(READ_SECONDS, PAUSE * min(self._worked))

    def _read(self, playing: bool, status: dict[str, Any] | None) -> Parts:
        connection = connect(self.path, read_only=True, patience=PATIENCE)
        try:
            latest = connection.execute("SELECT run_id FROM runs WHERE status = 'running' ORDER BY started").fetchall()
            now_played = (status or {}).get("run") or (latest[-1][0] if latest and playing else None)
            listed = tournaments.runs(connection, {now_played: "running"} if now_played else {})
            shown = self.run_id or now_played or (listed[0]["id"] if listed else None)
            parts: dict[str, Any] = {"runs": listed}
            parts["run"] = None if shown is None else tournaments.describe(connection, shown)
            # Extensions open the database themselves: while this connection is open, that costs them nothing.
            for extension in extensions():
                section = None if extension.live is None else extension.live(self.path)
                if section is not None:
                    said = {"title": section.title, "html": section.body, "style": section.style}
                    parts[f"section {extension.name}"] = said
        finally:
            connection.close()
        return {name: orjson.dumps(value) for name, value in parts.items()}


class Feed:
    """Gives the parts of the page: "live", "runs", "run", "section …" (of extensions), "training …" (a run each)."""

    def __init__(self, db: Path, folders: tuple[Path, ...]) -> None:
        self.db = db
        self._training = TrainingRuns(folders)
        self._databases: dict[str | None, _Database] = {}
        self._training_parts: Parts = {}
        self._lock = asyncio.Lock()
        self._looked = -LOOK_SECONDS

    async def parts(self, run_id: str | None) -> Parts:
        """All parts for a page that shows a run (None: the one in progress, else the latest)."""
        async with self._lock:
            return await asyncio.to_thread(self._parts, run_id)

    def _parts(self, run_id: str | None) -> Parts:
        now = time.monotonic()
        status = read_status(self.db)
        playing = status is not None or is_being_written(self.db)
        database = self._databases.setdefault(run_id, _Database(self.db, run_id))
        database.update(playing, status)
        if len(self._databases) > 8:
            self._databases.pop(next(key for key in self._databases if key != run_id))
        if now - self._looked >= LOOK_SECONDS / 2:  # several pages look at about the same time
            self._looked = now
            self._training_parts = {f"training {name}": part for name, part in self._training.read().items()}
        live = {"database": str(self.db), "playing": playing, "status": status, "problem": database.problem}
        return {"live": orjson.dumps(live), **database.parts, **self._training_parts}


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
