"""`from arena import evaluate, match`: the commands from Python, in a script and where an event loop runs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pandas
import pytest
from support.command_line import PROJECT

from arena import Evaluation, evaluate, match
from arena.store import rows
from arena.workers.progress import RunProgress
from teamsets.errors import BadInput

TWO = ("random", "poke-env:RandomPlayer")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    db = tmp_path_factory.mktemp("api") / "arena.duckdb"
    return evaluate(*TWO, format="gen1randombattle", battles=4, workers=1, db=db, progress=False)


def test_an_evaluation_has_its_results_as_frames(found: Evaluation) -> None:
    assert found.status == "finished"
    assert set(found.ranking["agent"]) == set(TWO)
    assert {"format", "elo", "low", "high", "games"} <= set(found.ranking.columns)
    assert found.cross[["agent", "opponent", "battles"]].values.tolist() == [
        ["poke-env:RandomPlayer", "random", 4],
        ["random", "poke-env:RandomPlayer", 4],
    ]
    assert found.battles["battle_id"].tolist() == [1, 2, 3, 4]
    assert set(found.battles["winner"].dropna()) <= set(TWO)
    assert isinstance(found.faults, pandas.DataFrame) and found.faults.empty
    assert "random" in repr(found) and "<table" in found._repr_html_()


@pytest.mark.parametrize("name", ["r.html", "r.md", "r.json"])
def test_an_evaluation_writes_its_report(found: Evaluation, tmp_path: Path, name: str) -> None:
    path = found.report(tmp_path / name)
    assert found.run_id in path.read_text()


def test_a_report_of_another_kind_is_refused(found: Evaluation, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"\.html, \.md or \.json"):
        found.report(tmp_path / "r.pdf")


def test_in_a_running_event_loop_a_match_is_played_and_progress_is_told(tmp_path: Path) -> None:
    """As in a notebook's cell, where asyncio.run raises RuntimeError."""
    told: list[RunProgress] = []

    async def cell():
        db = tmp_path / "arena.duckdb"
        return match(*TWO, format="gen1randombattle", battles=2, workers=1, db=db, progress=told.append)

    result = asyncio.run(cell())
    assert result.numbers.pairs == 1 and 0 <= (result.score or 0) <= 1
    assert (result.llr, result.decision) == (None, None)
    assert told and told[-1].total == 2
    assert result._repr_html_().startswith("<pre>Results of random against poke-env:RandomPlayer: 1 pair")
    assert not [thread for thread in threading.enumerate() if thread.name == "arena"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"minutes": float("nan")}, "minutes is nan: must be more than 0"),
        ({"think_limit": float("inf")}, "think_limit is inf"),
        ({"battles": 0}, "battles is 0"),
        ({"venue": "moon"}, "must be 'simulator', 'server' or 'engine'"),
        ({"resume": True}, "a resumed run keeps its agents"),
        ({"format": "gen1randombatle"}, "did you mean gen1randombattle"),
        ({"battles": 2, "budget": 4}, "give only one"),
    ],
)
def test_what_cannot_be_used_is_refused_before_a_run_begins(tmp_path: Path, wrong: dict, words: str) -> None:
    with pytest.raises(BadInput, match=re.escape(words)):
        evaluate(*TWO, db=tmp_path / "arena.duckdb", progress=False, **wrong)
    with pytest.raises(BadInput, match="a match is between two"):
        match("random", db=tmp_path / "arena.duckdb")


@pytest.mark.slow
def test_a_time_limit_is_the_status_and_the_run_can_be_resumed(tmp_path: Path) -> None:
    words = {"db": tmp_path / "arena.duckdb", "workers": 1, "progress": False}
    cut = evaluate(*TWO, format="gen1randombattle", battles=2, minutes=1e-9, **words)
    assert (cut.status, len(cut.battles)) == ("time limit", 0)
    whole = evaluate(resume=True, **words)
    assert (whole.run_id, whole.status, len(whole.battles)) == (cut.run_id, "finished", 2)


def test_an_interrupted_cell_ends_the_run_as_stopped(tmp_path: Path) -> None:
    """The interrupt comes to the main thread, whose event loop runs, while the run plays in its own thread."""
    db = tmp_path / "arena.duckdb"
    sent = threading.Event()

    def interrupt(progress: RunProgress) -> None:
        if not sent.is_set():
            sent.set()
            os.kill(os.getpid(), signal.SIGINT)

    async def cell() -> None:
        evaluate(*TWO, format="gen1randombattle", battles=2000, workers=1, db=db, progress=interrupt)

    loop = asyncio.new_event_loop()  # as a notebook's: asyncio.run would take the signal for itself
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background may ignore it
    try:
        with contextlib.closing(loop), pytest.raises(KeyboardInterrupt):
            loop.run_until_complete(cell())
    finally:
        signal.signal(signal.SIGINT, before)
    assert rows("SELECT status FROM runs", db) == [("stopped",)]
    assert not [thread for thread in threading.enumerate() if thread.name == "arena"]


def test_the_package_is_light_until_a_function_is_used() -> None:
    code = "import sys, arena; sys.exit(any(name in sys.modules for name in ('pandas', 'poke_env', 'arena.run.api')))"
    assert subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=False).returncode == 0


@pytest.mark.slow
def test_the_documents_code_runs(tmp_path: Path) -> None:
    text = (PROJECT / "docs" / "python.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    assert "evaluate(" in code and "match(" in code
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PROJECT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "heuristic:max-damage" in done.stdout and "LLR:" in done.stdout
    assert (tmp_path / "report.html").stat().st_size > 10_000
