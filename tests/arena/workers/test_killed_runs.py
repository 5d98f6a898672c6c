"""Runs that are killed, stopped, or lose their simulator: every battle is played once and comes out the same."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.command_line import processes, run_arena, start_arena, wait
from support.tournaments import table, tournament

from arena.store import BadDatabase, rows

AGENTS = ("bad_agents:Slow?ms=6", "bad_agents:Patient", "poke-env:RandomPlayer")
BATTLES, SEED = 16, 5
TOTAL = 3 * BATTLES
KILLS = 5
#: What must come out the same, however often the run was killed.
OUTCOME = "key, p1, p2, winner, reason, fault, turns, input_log"
WORDS = ("--format", "gen1randombattle", "--battles", BATTLES, "--seed", SEED, "--workers", 2, "--think-limit", 60)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found through /proc"),
]


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    """The final table of the run that nobody disturbs, played by a single worker."""
    db = tmp_path_factory.mktemp("undisturbed") / "arena.duckdb"
    tournament(db, *AGENTS, battles=BATTLES, seed=SEED, workers=1, think_limit=60.0)
    return table(db, OUTCOME)


def _kept(db: Path) -> int:
    """How many battles are kept by now, in the database, in its journal, or (while they are taken in) in both."""
    keys = set()
    for journal in db.parent.glob(f"{db.name}.journal*"):
        with contextlib.suppress(FileNotFoundError):
            whole_lines = journal.read_bytes().split(b"\n")[:-1]
            keys |= {orjson.loads(line)["key"] for line in whole_lines}
    with contextlib.suppress(BadDatabase):
        keys |= {key for (key,) in rows("SELECT key FROM battles", db)}
    return len(keys)


def _wait_for_battles(process: subprocess.Popen[str], db: Path, number: int) -> None:
    """Until the run has kept more than `number` battles; it must still be playing then."""
    wait(lambda: _kept(db) > number or process.poll() is not None)
    assert process.poll() is None, process.communicate()


@pytest.fixture
def mark() -> Iterator[str]:
    """A word in the environment by which a run's processes are found again; none of them may be left over."""
    mark = uuid.uuid4().hex
    yield mark
    left = processes(mark)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left


def _killed(process: subprocess.Popen[str], number: signal.Signals = signal.SIGKILL) -> tuple[str, str]:
    process.send_signal(number)
    return process.communicate(timeout=240)


def test_a_run_killed_at_random_moments_and_resumed_comes_out_as_an_undisturbed_one(
    undisturbed: list[tuple[Any, ...]], mark: str, tmp_path: Path
) -> None:
    db, rng = tmp_path / "arena.duckdb", random.Random(SEED)
    process = start_arena("evaluate", *AGENTS, *WORDS, "--db", db, MARK=mark)
    for kill in range(KILLS):
        # Somewhere in its own stretch of the run, so that it is never finished before the last kill.
        target = int(TOTAL * (kill + rng.random()) / (KILLS + 1))
        _wait_for_battles(process, db, target)
        time.sleep(rng.uniform(0, 0.1))
        _killed(process)
        wait(lambda: not processes(mark))
        if rng.random() < 0.5:  # a line torn in the middle, as a killed process may leave it
            with open(f"{db}.journal", "ab") as journal:
                journal.write(b'{"run": "torn')
        process = start_arena("evaluate", "--resume", "--workers", 2, "--db", db, MARK=mark)
    out, err = process.communicate(timeout=240)
    assert (process.returncode, err) == (0, ""), out
    assert rows("SELECT count(*), count(DISTINCT key), count(DISTINCT run_id) FROM battles", db) == [(TOTAL, TOTAL, 1)]
    assert table(db, OUTCOME) == undisturbed
    assert rows("SELECT status FROM runs", db) == [("finished",)]
    decided = "SELECT count(*), count(DISTINCT (battle_id, seat, index)) FROM decisions"
    ((decisions, distinct),) = rows(decided, db)
    assert decisions == distinct > 0


def test_a_simulator_killed_in_mid_battle_is_nobodys_loss(
    undisturbed: list[tuple[Any, ...]], mark: str, tmp_path: Path
) -> None:
    db = tmp_path / "arena.duckdb"
    process = start_arena("evaluate", *AGENTS, *WORDS, "--db", db, MARK=mark)
    for target in (TOTAL // 6, TOTAL // 2):
        _wait_for_battles(process, db, target)
        hosts = wait(lambda: processes(mark, "host.mjs"))
        for host in hosts:
            os.kill(host, signal.SIGKILL)
    out, err = process.communicate(timeout=240)
    assert (process.returncode, err) == (0, ""), out
    assert table(db, OUTCOME) == undisturbed


def test_ctrl_c_stops_a_run_that_says_how_to_go_on(
    undisturbed: list[tuple[Any, ...]], mark: str, tmp_path: Path
) -> None:
    db = tmp_path / "arena.duckdb"
    process = start_arena("evaluate", *AGENTS, *WORDS, "--db", db, MARK=mark)
    _wait_for_battles(process, db, TOTAL // 6)
    out, err = _killed(process, signal.SIGINT)
    assert (process.returncode, err) == (130, "")
    ((run, status, kept),) = rows(
        "SELECT run_id, status, count(*) FROM runs JOIN battles USING (run_id) GROUP BY ALL", db
    )
    assert f"arena evaluate --resume {run} --db {db}" in out
    assert status == "stopped"
    assert TOTAL // 6 < kept < TOTAL
    assert f"Stopped with {TOTAL - kept} battles left" in out

    resumed = run_arena("evaluate", "--resume", run, "--db", db)
    assert (resumed.code, resumed.err) == (0, "")
    assert f"{kept} battles are finished already." in resumed.out
    assert table(db, OUTCOME) == undisturbed


#: More than are in the air at once, so that some end long before others.
MANY = 80


def test_a_query_in_a_loop_never_fails_while_a_run_goes_on(mark: str, tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    process = start_arena(
        "evaluate", "bad_agents:Slow?ms=10", AGENTS[1], *WORDS, "--battles", MANY, "--db", db, MARK=mark
    )
    _wait_for_battles(process, db, 0)
    counts = []
    while process.poll() is None:
        said = run_arena("sql", "SELECT count(*) AS n FROM battles", "--csv", "--db", db)
        assert (said.code, said.err) == (0, ""), said
        counts.append(int(said.out.split()[1]))
    out, err = process.communicate(timeout=240)
    assert (process.returncode, err) == (0, ""), out
    assert counts == sorted(counts)
    assert len(set(counts)) > 1
    assert rows("SELECT count(*) FROM battles", db) == [(MANY,)]


def test_a_run_on_the_server_venue_survives_its_servers_and_itself(
    undisturbed: list[tuple[Any, ...]], mark: str, tmp_path: Path
) -> None:
    """A killed server, then a killed arena: no battle is lost, and all are those of the simulator venue."""
    db = tmp_path / "arena.duckdb"
    words = [4 if word == BATTLES else word for word in WORDS]
    process = start_arena("evaluate", *AGENTS, *words, "--venue", "server", "--db", db, MARK=mark)
    _wait_for_battles(process, db, 1)
    os.kill(processes(mark, "start.mjs")[0], signal.SIGKILL)
    _wait_for_battles(process, db, 4)
    assert len(wait(lambda: (found := processes(mark, "start.mjs"))[1:] and found)) == 2
    _killed(process)
    wait(lambda: not processes(mark))
    assert run_arena("evaluate", "--resume", "--db", db, MARK=mark).code == 0
    found = table(db, OUTCOME)
    keys = {row[0] for row in found}
    assert len(found) == 3 * 4
    assert found == [row for row in undisturbed if row[0] in keys]
