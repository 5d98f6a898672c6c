"""`arena report --pgn`: the battles of a run as games, which give the run's own ratings when they are read again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_line import Said
from support.made_store import MadeStore

from arena.report.result_tables import read_results
from arena.report.summary import summarize

Arena = Callable[..., Said]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    made = MadeStore(tmp_path / "arena.duckdb")
    made.run("r", ["a:A", 'b "B"\\', "c:C"], anchor="a:A")
    for first, second in (("a:A", 'b "B"\\'), ("a:A", "c:C"), ('b "B"\\', "c:C")):
        for results, count in (("WW", 3), ("WL", 4), ("LT", 2), ("LA", 1), ("EW", 1)):
            made.pair("r", first, second, results, count=count)
    return made.write()


def test_the_games_give_the_ratings_of_the_run(arena: Arena, made: Path, tmp_path: Path) -> None:
    assert arena("report", "r", "--pgn", tmp_path / "games.pgn", "--db", made).code == 0
    table = read_results(tmp_path / "games.pgn")
    summary = summarize(made, "r")["formats"][0]
    counted = {(cell["agent"], cell["opponent"]): cell for cell in summary["cross"]}
    assert sum(table.meetings.values()) == summary["battles"]
    for (a, b, score), battles in table.meetings.items():
        key = {1.0: "wins", 0.0: "losses", 0.5: "ties"}[score]
        assert counted[a, b][key] == battles  # type: ignore[literal-required]
    rated = json.loads(arena("rate", tmp_path / "games.pgn", "--anchor", "a:A", "--json").out)
    ours = {row["agent"]: row["elo"] for row in summary["ranking"]}
    assert {row["agent"]: row["elo"] for row in rated["ranking"]} == pytest.approx(ours, abs=0.11)


def test_every_game_ends_with_its_result(arena: Arena, made: Path) -> None:
    text = arena("report", "r", "--pgn", "-", "--format", "gen1ou", "--db", made).out
    assert re.findall(r'\[Result "(.*)"\]', text) == re.findall(r"^(1-0|0-1|1/2-1/2)$", text, re.MULTILINE)
    assert '[White "b \\"B\\"\\\\"]' in text


@pytest.mark.slow
def test_several_formats_are_several_files(arena: Arena, played: Path) -> None:
    run = next(run for run in _runs(arena, played) if len(summarize(played, run)["formats"]) > 1)
    said = arena("report", run, "--pgn", "-", "--db", played)
    assert said.code == 2 and "choose one with --format" in said.err
    assert "[Event" in arena("report", run, "--pgn", "-", "--format", "gen9ou", "--db", played).out
    said = arena("report", run, "--format", "gen4ou", "--db", played)
    assert said.code == 2 and "has no battle of it; there are: gen1ou, gen9ou" in said.err


def _runs(arena: Arena, db: Path) -> list[str]:
    return [row["run_id"] for row in json.loads(arena("sql", "SELECT run_id FROM runs", "--json", "--db", db).out)]
