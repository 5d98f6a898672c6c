"""The server's ratings in the report: from the table, over all runs of an agent, as a chart and a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.made_store import MadeStore
from support.read_page import Read

from arena.dashboard.feed import live_ladder
from arena.report import html
from arena.report.summary import summarize
from arena.store import connect, rows

_ME, _OTHER = "heuristic:expert", "user:ash@127.0.0.1:1"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    made = MadeStore(tmp_path / "arena.duckdb")
    for run in ("one", "two"):
        made.run(run, [_ME])
        made.pair(run, _ME, _OTHER, "WL", count=2)
    path = made.write()
    with connect(path, read_only=False) as connection:
        for battle, (before, after) in enumerate([(1000, 1040), (1040, 1021), (1021, 1050), (1050, 1033)], 1):
            connection.execute(
                "INSERT INTO ladder_ratings (battle_id, server, elo_before, elo_after, gxe, glicko, deviation) "
                "VALUES (?, 'ladder.example', ?, ?, ?, ?, ?)",
                [
                    battle,
                    before,
                    after,
                    None if battle < 4 else 55.5,
                    None if battle < 4 else 1523.4,
                    None if battle < 4 else 60.0,
                ],
            )
    return path


def test_all_rated_battles_of_the_agent_are_one_history(db: Path) -> None:
    (history,) = summarize(db, "one")["ladder"]
    assert (history["agent"], history["server"], history["format"]) == (_ME, "ladder.example", "gen1ou")
    assert [point["elo_after"] for point in history["ratings"]] == [1040, 1021, 1050, 1033]
    assert [point["run"] for point in history["ratings"]] == ["one"] * 4
    assert summarize(db, "two")["ladder"] == []


def test_the_page_shows_it_and_says_where_it_stands(db: Path) -> None:
    summary = summarize(db, "one")
    sentence = (
        "Ladder of ladder.example, gen1ou: heuristic:expert has Elo 1033 after 4 rated battles (from 1000), GXE 55.5, "
        "Glicko-1 1523 ± 60."
    )
    assert sentence in summary["findings"]
    read = Read(html.render(summary, db, battles=0))
    assert "ladder" in read.ids() and sentence in read.words
    assert sum(value == "dot line0" for _, name, value in read.attributes if name == "class") == 5


def test_the_dashboard_has_the_section_where_there_are_ratings(db: Path, tmp_path: Path) -> None:
    section = live_ladder(db)
    assert section is not None and "1033" in section.body
    empty = MadeStore(tmp_path / "empty.duckdb")
    empty.run("r", [_ME])
    assert live_ladder(empty.write()) is None
    assert rows("SELECT count(*) FROM ladder_ratings", tmp_path / "empty.duckdb") == [(0,)]
