"""Shared by all tests: the command line in this process or as a program, small tournaments, and a played database."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from arena import cli
from arena.evaluate import EvaluateSettings, play, prepare
from arena.schedule import Plan
from arena.showdown.simulator import Rules
from arena.store import Store, rows, writer_lock

TESTS = Path(__file__).parent
PROJECT = TESTS.parent
#: Where the agents of the tests lie, for the worker processes.
AGENT_FOLDERS = [str(TESTS / "faults"), str(TESTS / "agents")]
#: The console script `arena`, whatever the folder it was installed to.
ARENA = [sys.executable, "-c", "from arena.cli import main; main()"]


@pytest.fixture(autouse=True, scope="session")
def _surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of the suite's own, and the tests' agents within reach of every process that is started."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("PYTHONPATH", os.pathsep.join([*AGENT_FOLDERS, os.environ.get("PYTHONPATH", "")]))
        for folder in AGENT_FOLDERS:
            patch.syspath_prepend(folder)
        yield


@dataclass(frozen=True)
class Said:
    """What a command wrote, and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture
def arena(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Runs the command line in this process: `arena("sql", "SELECT 1", "--db", path)`."""

    def run(*words: Any) -> Said:
        monkeypatch.setattr(sys, "argv", ["arena", *map(str, words)])
        monkeypatch.setenv("COLUMNS", "200")
        capsys.readouterr()
        code = 0
        try:
            cli.main()
        except SystemExit as exit:
            code = exit.code if isinstance(exit.code, int) else 0 if exit.code is None else 1
        out, err = capsys.readouterr()
        return Said(code, out, err)

    return run


def start_arena(*words: Any, cwd: Path | None = None, **environment: str) -> subprocess.Popen[str]:
    """The command line as a process of its own."""
    return subprocess.Popen(
        [*ARENA, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**os.environ, **environment},
    )


def run_arena(*words: Any, cwd: Path | None = None, timeout: float = 240, **environment: str) -> Said:
    """The command line as a process of its own, to its end."""
    with start_arena(*words, cwd=cwd, **environment) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        finally:
            process.kill()
    return Said(process.returncode, out, err)


@dataclass(frozen=True)
class ChosenPairings(Plan):
    """A plan in which only some agents meet."""

    chosen: list[tuple[str, str]] = field(default_factory=list)

    @property
    def pairings(self) -> list[tuple[str, str]]:
        return self.chosen


def tournament(
    db: Path,
    *agents: str,
    formats: tuple[str, ...] = ("gen1randombattle",),
    battles: int = 2,
    workers: int = 2,
    seed: int = 0,
    think_limit: float = 10.0,
    max_turns: int = 1000,
    pairings: list[tuple[str, str]] | None = None,
    **more: Any,
) -> str:
    """Plays through the real coordinator and its worker processes; returns the run's id.

    pairings: only these, instead of every agent against every other.
    """
    rules = Rules(think_limit, max_turns)
    settings = EvaluateSettings(agents, formats, battles=battles, seed=seed, rules=rules, **more)
    with writer_lock(db):
        store = Store(db)
        run = prepare(store, settings)
        if pairings is not None:
            plan = ChosenPairings(run.plan.agents, run.plan.pools, battles, seed, pairings)
            run = replace(run, plan=plan)
        asyncio.run(play(run, store, workers=workers))
    return run.run_id


#: Everything that must be the same when a battle is played again.
RESULT = "key, winner, reason, fault, turns, input_log, p1_log, p2_log"


def table(db: Path, columns: str = RESULT, where: str = "true") -> list[tuple[Any, ...]]:
    """The battles of a database in the order of their keys."""
    return rows(f"SELECT {columns} FROM battles WHERE {where} ORDER BY key", db)


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small database of really played battles, not to be changed: poke-env's players, a faulty agent, three formats."""
    db = tmp_path_factory.mktemp("played") / "arena.duckdb"
    agents = ("random", "poke-env:RandomPlayer", "poke-env:MaxBasePowerPlayer", "poke-env:SimpleHeuristicsPlayer")
    tournament(db, *agents, formats=("gen1ou", "gen9randombattle"), battles=2, think_limit=60.0)
    tournament(db, "random", "bad_agents:Raises", formats=("gen1randombattle",), battles=2, think_limit=60.0)
    tournament(db, "random", "poke-env:RandomPlayer", formats=("gen1randombattle",), max_turns=15, think_limit=60.0)
    return db
