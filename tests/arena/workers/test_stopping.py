"""Ctrl-C and the time limit: whatever the moment and the number of signals, a run ends with the status that it should."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_line import Said, run_arena, start_arena, wait

from arena.report.counts import SourceOfBattles
from arena.report.runs import describe_run, notes
from arena.run.tournament import EvaluateSettings, prepare, resume
from arena.store import BadDatabase, Store, open_store, rows

Arena = Callable[..., Said]
#: Agents whose battles take so long that a run of 400 is never over before it is stopped.
SLOW = ("bad_agents:Slow?ms=6", "bad_agents:Patient")
LONG = ("--format", "gen1randombattle", "--battles", 400, "--workers", 1, "--think-limit", 60)


def _stored(db: Path) -> int:
    """Battles in the database by now; 0 while the run has it open."""
    try:
        return int(rows("SELECT count(*) FROM battles", db)[0][0]) if db.exists() else 0
    except BadDatabase:
        return 0


def _interrupted(process: subprocess.Popen[str], *, times: int | None) -> tuple[str, str]:
    """Sends SIGINT so many times (None: until the process has ended), 20 ms apart."""
    sent = 0
    while process.poll() is None and (times is None or sent < times):
        process.send_signal(signal.SIGINT)
        sent += 1
        try:
            process.wait(timeout=0.02)
        except subprocess.TimeoutExpired:
            continue
    return process.communicate(timeout=120)


def assert_stopped(process: subprocess.Popen[str], said: tuple[str, str], db: Path) -> None:
    """Exit code 130, no traceback, finished battles kept, one line that says how to continue."""
    out, err = said
    assert (process.returncode, err) == (130, ""), said
    ((run, status, ended),) = rows("SELECT run_id, status, ended IS NOT NULL FROM runs", db)
    assert (status, ended) == ("stopped", True)
    assert out.count(f"To resume: arena evaluate --resume {run} --db {db}") == 1


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 2, None], ids=["once", "twice", "until it has ended"])
def test_any_number_of_ctrl_c_stops_a_run_cleanly(times: int | None, tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    process = start_arena("evaluate", *SLOW, *LONG, "--db", db)
    wait(lambda: _stored(db) or process.poll() is not None)
    kept = _stored(db)
    assert_stopped(process, _interrupted(process, times=times), db)
    assert kept <= _stored(db) < 400


@pytest.mark.slow
def test_ctrl_c_before_the_first_battle_stops_the_run_too(tmp_path: Path) -> None:
    """From the moment at which the run is noted in the database."""
    db = tmp_path / "arena.duckdb"
    process = start_arena("evaluate", *SLOW, *LONG, "--db", db)

    def noted() -> bool:
        try:
            return db.exists() and bool(rows("SELECT 1 FROM runs", db))
        except BadDatabase:
            return False

    wait(lambda: noted() or process.poll() is not None)
    out, err = _interrupted(process, times=None)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert rows("SELECT status FROM runs", db) == [("stopped",)]
    resumed = run_arena("evaluate", "--resume", "--minutes", 0.001, "--db", db)
    assert (resumed.code, resumed.err) == (0, ""), out


@pytest.mark.slow
def test_a_run_that_reaches_its_time_limit_says_so_and_can_be_resumed(arena: Arena, tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    words = ("evaluate", "random", "poke-env:RandomPlayer", "--format", "gen1randombattle", "--battles", 300)
    said = arena(*words, "--minutes", 0.0001, "--workers", 1, "--db", db)
    assert (said.code, said.err) == (0, "")
    ((run, status, kept),) = rows(
        "SELECT run_id, status, count(battle_id) FROM runs LEFT JOIN battles USING (run_id) GROUP BY ALL", db
    )
    assert status == "time limit" and kept < 300
    assert f"Time limit of 0.0001 minutes reached: {kept} of 300 battles" in said.out
    assert f"arena evaluate --resume {run} --db {db}" in said.out
    assert "stopped" not in said.out.lower()
    assert notes(describe_run(db, run, [SourceOfBattles(run, kept, 0)]), [])[0] == (
        f"Time limit of 0.0001 minutes reached: {kept} of 300 battles; "
        f"`arena evaluate --resume {run} --db {db}` continues it."
    )

    again = arena("evaluate", "--resume", "--minutes", 0.0002, "--workers", 1, "--db", db)
    assert (again.code, again.err) == (0, "")
    assert "Time limit of 0.0002 minutes reached: " in again.out
    assert rows("SELECT status FROM runs", db) == [("time limit",)]


@pytest.fixture
def noted(tmp_path: Path) -> tuple[Store, str]:
    """A store with one run in which nothing was played yet."""
    db = tmp_path / "arena.duckdb"
    with open_store(db) as store:
        settings = EvaluateSettings(
            agents=("random", "poke-env:RandomPlayer"), formats=("gen1randombattle",), minutes=2.0
        )
        return store, prepare(store, settings).run_id


@pytest.mark.parametrize("status", ["stopped", "time limit", "running", "finished"])
def test_a_run_of_any_status_is_resumed_with_the_time_limit_that_is_given(
    noted: tuple[Store, str], status: str
) -> None:
    """ "stopped" is what older databases have for a run that reached its time limit."""
    store, run_id = noted
    store.end_run(run_id, status)
    assert resume(store, None, 7.0).settings.minutes == 7.0
    ((now, minutes),) = rows("SELECT status, (config->>'minutes')::DOUBLE FROM runs", store.path)
    assert (now, minutes) == ("running", 7.0)


def test_a_run_that_has_ended_keeps_its_status(noted: tuple[Store, str]) -> None:
    store, run_id = noted
    store.end_run(run_id, "finished")
    store.end_run(run_id, "stopped")
    assert rows("SELECT status FROM runs", store.path) == [("finished",)]


def test_a_resume_that_is_refused_leaves_the_run_as_it_was(
    noted: tuple[Store, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, run_id = noted
    store.end_run(run_id, "stopped")
    monkeypatch.setattr("arena.run.tournament.resolve_all", lambda specs, resolver: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        resume(store, run_id, None)
    assert rows("SELECT status FROM runs", store.path) == [("stopped",)]


def test_a_run_whose_preparation_fails_ends_as_stopped(noted: tuple[Store, str]) -> None:
    store, _ = noted

    class Interrupted(Store):
        def reuse_battles(self, run_id: str) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare(
            Interrupted(store.path),
            EvaluateSettings(agents=("random", "poke-env:RandomPlayer"), formats=("gen1randombattle",)),
        )
    assert rows("SELECT status FROM runs ORDER BY run_id", store.path) == [("running",), ("stopped",)]
