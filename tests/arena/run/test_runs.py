"""The lifecycle of a run: whatever ends it, its finished battles are in the database and its end is recorded."""

from __future__ import annotations

import ast
import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.command_line import PROJECT
from support.records import record

from arena.fixture import FixtureTeam
from arena.run.lifecycle import RunLifecycle, mark_stopped_on_error, new_run, run_lifecycle
from arena.store import BadDatabase, Store, open_store, rows
from arena.store.database import BeingPlayed
from arena.store.schema import FINISHED, RUNNING, STOPPED, TIME_LIMIT
from teamsets.errors import BadInput


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "arena.duckdb"


def statuses(db: Path) -> list[str]:
    return [status for (status,) in rows("SELECT status FROM runs ORDER BY run_id", db)]


@asynccontextmanager
async def started_run(store: Store, **intervals: float) -> AsyncIterator[RunLifecycle]:
    """A run without its provenance: to ask git and Node for their versions takes longer than all that is tested here."""
    run_id = store.new_run_id()
    store.begin_run(run_id, "evaluate", {"agents": ["a", "b"]}, None, {}, [], {})
    async with run_lifecycle(store, run_id, **intervals) as lifecycle:
        yield lifecycle


@pytest.mark.parametrize("status", [FINISHED, STOPPED, TIME_LIMIT])
def test_the_end_is_recorded_with_all_battles_and_teams(db: Path, status: str) -> None:
    async def play(store: Store) -> None:
        async with started_run(store) as lifecycle:
            lifecycle.keep(record(1))
            lifecycle.keep_teams("gen1ou", "visitors", [FixtureTeam("t1", "Theirs", "packed")])
            lifecycle.keep_teams("gen1ou", "visitors", [FixtureTeam("t1", "Theirs", "packed")])
            lifecycle.status = status

    with open_store(db) as store:
        asyncio.run(play(store))
    assert statuses(db) == [status]
    assert rows("SELECT run_id FROM battles", db) == rows("SELECT run_id FROM runs", db)
    assert rows("SELECT team_id, team_set FROM teams", db) == [("t1", "visitors")]
    assert rows("SELECT ended IS NOT NULL FROM runs", db) == [(True,)]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, asyncio.CancelledError])
def test_an_error_while_playing_ends_the_run_as_stopped_and_keeps_its_battles(
    db: Path, error: type[BaseException]
) -> None:
    async def play(store: Store) -> None:
        async with started_run(store) as lifecycle:
            lifecycle.keep(record(1))
            raise error

    with open_store(db) as store, pytest.raises(error):
        asyncio.run(play(store))
    assert statuses(db) == [STOPPED]
    assert rows("SELECT count(*) FROM battles", db) == [(1,)]


def test_the_last_battles_are_ingested_while_the_body_waits_for_something_else(db: Path) -> None:
    async def play(store: Store) -> None:
        async with started_run(store) as lifecycle:
            lifecycle.keep(record(1))
            await asyncio.wrap_future(lifecycle.all_played())
            assert not store.journal.pending()
            lifecycle.status = FINISHED

    with open_store(db) as store:
        asyncio.run(play(store))
    assert statuses(db) == [FINISHED]
    assert rows("SELECT count(*) FROM battles", db) == [(1,)]


def test_what_hinders_the_last_ingestion_is_raised_at_the_end(db: Path) -> None:
    class Full(Store):
        full = False

        def ingest_journal(self, patience: float | None = None) -> None:
            if self.full:
                raise BadDatabase("the disk is full")
            super().ingest_journal(patience)

    async def play(store: Full) -> None:
        async with started_run(store) as lifecycle:
            lifecycle.keep(record(1))
            store.full = True
            assert isinstance(lifecycle.all_played().exception(), BadDatabase)
            lifecycle.status = FINISHED

    with open_store(db), pytest.raises(BadDatabase, match="the disk is full"):
        asyncio.run(play(Full(db)))
    assert statuses(db) == [RUNNING]
    with open_store(db):
        assert rows("SELECT count(*) FROM battles", db) == [(1,)]


def test_a_damaged_line_leaves_the_run_to_be_resumed(db: Path) -> None:
    async def play(store: Store) -> None:
        async with started_run(store) as lifecycle:
            store.add(b'{"run": "x", ')
            lifecycle.status = FINISHED

    with open_store(db) as store:
        asyncio.run(play(store))
    assert statuses(db) == [STOPPED]


def test_every_signal_reaches_the_run_until_its_end_is_recorded(db: Path) -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    received: list[str] = []

    class Ending(Store):
        def end_run(self, run_id: str, status: str) -> None:
            os.kill(os.getpid(), signal.SIGINT)  # would be a KeyboardInterrupt, and the end unrecorded
            super().end_run(run_id, status)

    async def play(store: Store) -> None:
        twice = asyncio.Event()

        def stop() -> None:
            received.append("stop")
            if len(received) == 2:
                twice.set()

        async with started_run(store) as lifecycle:
            lifecycle.stop_with(stop)
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGTERM)
            await twice.wait()
            lifecycle.status = FINISHED

    with open_store(db):
        asyncio.run(play(Ending(db)))
    assert statuses(db) == [FINISHED]
    assert received[:2] == ["stop", "stop"]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_what_is_repeated_ends_with_the_run(db: Path) -> None:
    called: list[int] = []

    async def play(store: Store) -> int:
        three = asyncio.Event()

        def count() -> None:
            called.append(1)
            if len(called) == 3:
                three.set()

        async with started_run(store) as lifecycle:
            lifecycle.repeat(0.0, count)
            await three.wait()
        ended = len(called)
        for _ in range(5):
            await asyncio.sleep(0)
        return ended

    with open_store(db) as store:
        assert asyncio.run(play(store)) == len(called)


def test_a_running_run_flushes_its_battles_to_disk_also_while_it_ingests_some(db: Path) -> None:
    """A flush that waited for an ingestion would come later than a power cut may."""
    flushed, segments = threading.Semaphore(0), []

    async def play() -> None:
        loop, enough = asyncio.get_running_loop(), asyncio.Event()

        class Slow(Store):
            def try_flush(self) -> bool:
                done = super().try_flush()
                segments.append(len(list(db.parent.glob(f"{db.name}.journal.*"))))
                loop.call_soon_threadsafe(lifecycle.keep, record(len(segments)))
                flushed.release()
                return done

            def try_ingest_journal(self) -> bool:
                for _ in range(3):
                    assert flushed.acquire(timeout=60)
                loop.call_soon_threadsafe(enough.set)
                return super().try_ingest_journal()

        async with started_run(Slow(db), flush_seconds=0.0, ingest_seconds=0.0) as lifecycle:
            lifecycle.keep(record(0))
            await enough.wait()

    with open_store(db):
        asyncio.run(play())
    assert segments[:3] == [1, 2, 3], "what is flushed waits as a segment"
    assert rows("SELECT count(*) > 2 FROM battles", db) == [(True,)]


def test_an_error_before_the_first_battle_ends_the_run_as_stopped(db: Path) -> None:
    with open_store(db) as store:
        with pytest.raises(ZeroDivisionError), new_run(store, "evaluate", {}, [], {}):
            raise ZeroDivisionError
        with new_run(store, "evaluate", {}, [], {}) as second:
            pass
        assert statuses(db) == [STOPPED, RUNNING]
        with pytest.raises(KeyboardInterrupt), mark_stopped_on_error(store, second):
            raise KeyboardInterrupt
    assert statuses(db) == [STOPPED, STOPPED]


def test_an_error_is_not_hidden_by_an_end_that_cannot_be_recorded(db: Path) -> None:
    class Full(Store):
        def end_run(self, run_id: str, status: str) -> None:
            raise BadDatabase("the disk is full")

    with open_store(db), pytest.raises(ZeroDivisionError), mark_stopped_on_error(Full(db), "some run"):
        raise ZeroDivisionError


def test_there_is_one_writer_at_a_time(db: Path) -> None:
    with open_store(db), pytest.raises(BeingPlayed), open_store(db):
        raise AssertionError("two writers")
    with open_store(db):
        pass


def test_a_refused_run_leaves_no_lock_without_a_database(db: Path) -> None:
    with pytest.raises(BadInput), open_store(db):
        raise BadInput("refused")
    assert not list(db.parent.iterdir())
    with open_store(db):
        pass
    with pytest.raises(BadInput), open_store(db):
        raise BadInput("refused")
    assert sorted(each.name for each in db.parent.iterdir()) == [db.name, f"{db.name}.lock"]


#: Who may take the lock or make a Store without `open_store`: the store itself, a report that looks whether somebody plays,
#: and best responses and the curricula's own tables, which are no runs.
WITH_A_LOCK_OF_THEIR_OWN = {
    "arena/report/runs.py",
    "arena/store/best_responses.py",
    "training/experiments/curriculum/store.py",
}


def test_everybody_else_opens_the_store_with_open_store() -> None:
    found = set()
    for room in ("arena", "training", "scripts"):
        for path in (PROJECT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                name = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
                if name in ("writer_lock", "Store", "begin_run", "new_run_id", "add_signal_handler"):
                    found.add(str(path.relative_to(PROJECT)))
    assert found - WITH_A_LOCK_OF_THEIR_OWN == {"arena/store/writer.py", "arena/run/lifecycle.py"}
