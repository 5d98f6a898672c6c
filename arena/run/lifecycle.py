"""The lifecycle of a run: recorded in the store, played, and its end recorded, whatever ends it.

Everything that plays goes through these steps, each a context manager:

    with open_store(db) as store:                                       # arena/store: the lock, the schema, the journal
        with new_run(store, kind, config, sources, pools) as run_id:    # a new run; the body prepares it
            ...
        async with run_lifecycle(store, run_id) as lifecycle:            # the body plays it
            lifecycle.stop_with(stop)
            lifecycle.keep(record)
            lifecycle.status = FINISHED

`arena.run.tournament.play_into` is all of it in one call. A run that a kill leaves "running" loses no finished battle: they
are in its journal, which the next `open_store` ingests.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from typing import Any

import duckdb

from agents import AgentSource
from arena.fixture import FixtureTeam
from arena.provenance import git_state, versions
from arena.record import BattleRecord
from arena.store import STOPPED, BadDatabase, Store

#: How often the journal is flushed to disk and ingested while a run is played, in seconds. A flush begins so early that a
#: power cut loses no more than two seconds, on a busy machine too. Opening and closing the database is half of an
#: ingestion's cost.
FLUSH_SECONDS, INGEST_SECONDS = 1.7, 4.0


@contextmanager
def new_run(
    store: Store,
    kind: str,
    config: Mapping[str, Any],
    sources: Iterable[AgentSource],
    pools: Mapping[tuple[str, str], Iterable[FixtureTeam]],
) -> Iterator[str]:
    """Records a new run and yields its id; marks the run as stopped if the body raises.

    kind: what started it ("evaluate", "serve", …). config: JSON-able, with the keys that reports read: agents, formats,
    pools. pools: (format, team set) -> teams.
    """
    run_id = store.new_run_id()
    store.begin_run(run_id, kind, dict(config), git_state(), versions(), sources, pools)
    with mark_stopped_on_error(store, run_id):
        yield run_id


@contextmanager
def mark_stopped_on_error(store: Store, run_id: str) -> Iterator[None]:
    """Marks a run as stopped if the body raises, Ctrl-C included. A run whose end is recorded already keeps its status."""
    try:
        yield
    except BaseException:
        with suppress(BadDatabase, duckdb.Error):  # the error being raised says more, e.g. a full disk
            store.end_run(run_id, STOPPED)
        raise


class RunLifecycle:
    """A run while it is played. status: what its end is recorded as; STOPPED until the body sets another.

    flush_seconds, ingest_seconds: how often the journal is flushed to disk and ingested.
    """

    def __init__(
        self,
        store: Store,
        run_id: str,
        *,
        flush_seconds: float = FLUSH_SECONDS,
        ingest_seconds: float = INGEST_SECONDS,
    ) -> None:
        self.store, self.run_id = store, run_id
        self.status = STOPPED
        steps = ((flush_seconds, store.try_flush), (ingest_seconds, store.try_ingest_journal))
        self._tasks = [asyncio.ensure_future(_repeat_in_threads(seconds, step)) for seconds, step in steps]
        self._signals = ExitStack()
        self._teams: dict[tuple[str, str], dict[str, FixtureTeam]] = {}
        self._open = ExitStack()  # the database, from the last ingestion until the end is recorded
        self._last: Future[None] | None = None

    def keep(self, record: BattleRecord) -> None:
        """Stores a finished battle in the journal: from here on no kill loses it."""
        self.store.add(record.to_line(self.run_id))

    def keep_teams(self, format_id: str, team_set: str, teams: Iterable[FixtureTeam]) -> None:
        """Stores teams that were not known when the run began, at its end."""
        self._teams.setdefault((format_id, team_set), {}).update({team.id: team for team in teams})

    def repeat(self, seconds: float, function: Callable[[], None]) -> None:
        """Calls a function periodically, `seconds` apart, while the run is played."""
        self._tasks.append(asyncio.ensure_future(_repeat_every(seconds, function)))

    def stop_with(self, stop: Callable[[], None]) -> None:
        """From now until the run's end is recorded, each SIGINT and SIGTERM calls `stop` on the loop and does nothing else.

        What the first and what the second signal mean is up to `stop`.
        """
        self._signals.enter_context(_signals_to(stop))

    def all_played(self) -> Future[None]:
        """Begins to ingest what is left in the journal, in a thread: for a body that has played its last battle and waits
        for something else, such as the end of its workers. Without this call `end` does it."""
        if self._last is None:
            thread = ThreadPoolExecutor(1, "arena-last-battles")
            self._last = thread.submit(self._ingest_last)
            thread.shutdown(wait=False)
        return self._last

    def _ingest_last(self) -> None:
        self._open.enter_context(self.store.kept_open())
        self.store.ingest_journal()

    async def end(self) -> None:
        """Ingests what is left in the journal and records the end."""
        with self._signals, self._open:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self.all_played().result()
            if self._teams:
                self.store.add_teams({pool: teams.values() for pool, teams in self._teams.items()})
            # A battle whose line was damaged is missing: the run is not at its end, and can be resumed for it.
            self.store.end_run(self.run_id, STOPPED if self.store.bad_lines else self.status)


@asynccontextmanager
async def run_lifecycle(
    store: Store, run_id: str, *, flush_seconds: float = FLUSH_SECONDS, ingest_seconds: float = INGEST_SECONDS
) -> AsyncIterator[RunLifecycle]:
    """Context of a recorded run's battles: ingests the journal meanwhile, and records the end however the body ends.

    flush_seconds, ingest_seconds: see `RunLifecycle`.
    """
    lifecycle = RunLifecycle(store, run_id, flush_seconds=flush_seconds, ingest_seconds=ingest_seconds)
    try:
        yield lifecycle
    finally:
        await lifecycle.end()


@contextmanager
def _signals_to(stop: Callable[[], None]) -> Iterator[None]:
    """SIGINT and SIGTERM call `stop` on the running loop, however often they come, until this is left.

    Python gives signals to the main thread only; a run in another thread (a notebook's) is stopped by cancelling its task.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    # Not the loop's own handlers: once removed, they leave Python's, and the next Ctrl-C would cut the end of a run off.
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


async def _repeat_every(seconds: float, function: Callable[[], None]) -> None:
    while True:
        await asyncio.sleep(seconds)
        function()


async def _repeat_in_threads(seconds: float, step: Callable[[], object]) -> None:
    """Call `step` periodically in a thread, the beginnings `seconds` apart; an earlier call is never overlapped."""
    loop = asyncio.get_running_loop()
    due = loop.time()
    while True:
        due = max(due + seconds, loop.time())
        await asyncio.sleep(due - loop.time())
        # Shielded: a transaction in progress when the run ends is waited for, never cut off.
        moving = asyncio.ensure_future(asyncio.to_thread(step))
        try:
            await asyncio.shield(moving)
        except asyncio.CancelledError:
            await moving
            raise
