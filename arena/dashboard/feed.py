"""What all open pages share: the state of database and run folders as parts of JSON, read no more often than it may cost.

Nothing is read while no page is open. The database is read when it has changed, once for all pages, whichever runs they
show, and the pause after a reading is PAUSE times the processor time that it took, so that all pages together take at most
2% of one core however large the database is. Of the last three readings the cheapest counts: a process's first ones also
import what they need, ten times the work of a small database, and the page would stand still for 25 seconds after them.
A page that asks for a run which no other page shows is answered at once; the pause of that reading is added to the others'.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import duckdb
import orjson

from arena.dashboard import tournaments
from arena.dashboard.training_runs import TrainingRuns, printable
from arena.extensions import extensions
from arena.report.ladder import live_ladder
from arena.run.live_status import is_being_written, read_status
from arena.store import connect
from teamsets.errors import BadInput

#: Seconds between two looks, and the least between two readings of the database.
LOOK_SECONDS, READ_SECONDS = 3.0, 3.0
#: The pause after a reading, in times of the processor time that it took.
PAUSE = 50
#: How long a reading waits for the run's writer, in seconds.
PATIENCE = 3.0

#: A run that no page has asked for in so many seconds is no longer read.
_FORGET_SECONDS = 10 * LOOK_SECONDS
#: A page that asks for another run waits like all others while the pause is longer than this.
_MOST_PAUSE = 60.0

Parts = dict[str, bytes]


class DatabaseParts:
    """The list of runs and the runs that pages show, as last read. now, processor_time: clocks, in seconds."""

    def __init__(
        self,
        path: Path,
        *,
        now: Callable[[], float] = time.monotonic,
        processor_time: Callable[[], float] = time.process_time,
    ) -> None:
        self.path, self._now, self._processor_time = path, now, processor_time
        self.problem: str | None = None
        self._shared: Parts = {}
        self._runs: dict[str | None, bytes] = {}
        self._last_request: dict[str | None, float] = {}  # when a page last asked for a run
        self._seen: object = None
        self._next = 0.0
        self._worked = deque([0.0] * 3, maxlen=3)

    def parts(self, run_id: str | None) -> Parts:
        """What was last read for a page that shows a run (None: the one in progress, else the latest)."""
        run = self._runs.get(run_id)
        return self._shared if run is None else {**self._shared, "run": run}

    def update(self, run_id: str | None, playing: bool, status: dict[str, Any] | None) -> None:
        """Read the runs of all pages if the database has changed and enough time has passed; a new page's run at once."""
        now = self._now()
        is_new = run_id not in self._last_request
        self._last_request[run_id] = now
        seen = (_stamp(self.path), playing, (status or {}).get("run"))
        if seen != self._seen and now >= self._next:
            self._last_request = {run: at for run, at in self._last_request.items() if now - at < _FORGET_SECONDS}
            self._runs = {run: data for run, data in self._runs.items() if run in self._last_request}
            wanted = list(self._last_request)
        elif is_new and self._next - now < _MOST_PAUSE:
            wanted = [run_id]
        elif is_new:
            self._seen = None  # read with the others, at the end of the pause
            return
        else:
            return
        # Not the clock: waiting for the run's writer, or for a core, costs the run nothing.
        began = self._processor_time()
        try:
            problems = self.read(wanted, playing, status)
            self.problem = "; ".join(problems) or None
            if wanted != [run_id] or len(self._last_request) == 1:
                self._seen = seen
        except (BadInput, duckdb.Error, orjson.JSONDecodeError) as error:  # what was read before stays on the page
            self.problem = str(error)
            self._seen = None
        self._worked.append(self._processor_time() - began)
        self._next = max(now, self._next) + max(READ_SECONDS, PAUSE * min(self._worked))

    def read(self, wanted: Iterable[str | None], playing: bool, status: dict[str, Any] | None) -> list[str]:
        """Read the list of runs, the wanted ones, and the sections; return what could not be read."""
        problems: list[str] = []
        connection = connect(self.path, read_only=True, patience=PATIENCE)
        try:
            latest = connection.execute("SELECT run_id FROM runs WHERE status = 'running' ORDER BY started").fetchall()
            now_played = (status or {}).get("run") or (latest[-1][0] if latest and playing else None)
            listed = tournaments.runs(connection, {now_played: "running"} if now_played else {})
            shared: dict[str, Any] = {"runs": listed}
            for run_id in wanted:
                shown = run_id or now_played or (listed[0]["id"] if listed else None)
                found = None if shown is None else tournaments.describe(connection, shown)
                self._runs[run_id] = orjson.dumps(found)
            # Extensions open the database themselves: while this connection is open, that costs them nothing.
            sections = {"ladder": live_ladder} | {
                each.name: each.live for each in extensions() if each.live is not None
            }
            for name, live in sections.items():
                try:
                    section = live(self.path)
                except Exception as error:  # code of others: the page has everything else
                    problems.append(f"the section '{name}' is left out: {type(error).__name__}: {error}")
                    continue
                if section is not None:
                    content = {"title": section.title, "html": section.body, "style": section.style}
                    shared[f"section {name}"] = content
        finally:
            connection.close()
        self._shared = {name: orjson.dumps(value) for name, value in shared.items()}
        return problems


class Feed:
    """Gives the parts of the page: "live", "runs", "run", "section …" (of extensions), "training …" (a run each)."""

    def __init__(self, db: Path, folders: tuple[Path, ...]) -> None:
        self.db = db
        self._training = TrainingRuns(folders)
        self._database = DatabaseParts(db)
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
        self._database.update(run_id, playing, status)
        if now - self._looked >= LOOK_SECONDS / 2:  # several pages look at about the same time
            self._looked = now
            self._training_parts = {f"training {name}": part for name, part in self._training.read().items()}
        problem = self._database.problem and printable(self._database.problem)
        live = {"database": printable(self.db), "playing": playing, "status": status, "problem": problem}
        return {"live": orjson.dumps(live), **self._database.parts(run_id), **self._training_parts}


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
