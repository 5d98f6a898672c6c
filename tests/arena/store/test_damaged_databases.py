"""A database that is damaged, or no file: the commands that read it end, with one line, and show the rest."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.command_line import run_arena
from support.damage import DAMAGES, command_ends_in_order, damaged

from arena.cli import cli
from arena.record import compressed
from arena.report.story import stories
from arena.store import connect, rows

_OTHERS = sorted(DAMAGES.keys() - {"pipe", "truncated"})


@pytest.mark.parametrize("how", ["pipe", "truncated", *(pytest.param(how, marks=pytest.mark.slow) for how in _OTHERS)])
def test_a_damaged_database_is_one_line(played: Path, tmp_path: Path, how: str) -> None:
    db = tmp_path / "a.duckdb"
    shutil.copy(played, db)
    with damaged(db, how):
        for words in (["report"], ["sql", "SELECT 1"], ["watch", "1"]):
            command_ends_in_order(cli, [*words, "--db", str(db)])


@pytest.mark.slow
def test_a_pipe_as_database_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.duckdb")
    said = run_arena("sql", "SELECT 1", "--db", tmp_path / "a.duckdb", timeout=60)
    assert said.code == 2 and said.err.endswith("a.duckdb: is a named pipe: name a file with --db FILE\n")


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("agents", "show", "policy:{}"), marks=pytest.mark.torch),
        ("teams", "validate", "gen1ou", "{}"),
        ("sql", "SELECT 1", "--db", "{}"),
    ],
)
def test_a_path_of_300_characters_is_one_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    said = run_arena(*(word.format("x" * 300) for word in words), cwd=tmp_path, timeout=60)
    assert said.code == 2 and said.err.count("\n") <= 4 and "Traceback" not in said.err, said.err


def test_a_battle_whose_log_is_damaged_is_shown_as_damaged_and_the_report_is_made(played: Path, tmp_path: Path) -> None:
    db, page = tmp_path / "a.duckdb", tmp_path / "report.html"
    shutil.copy(played, db)
    ids = [battle_id for (battle_id,) in rows("SELECT battle_id FROM battles ORDER BY battle_id LIMIT 4", db)]
    logs = [b"no zstd", compressed(["|request|{", "|turn|x"])]
    with connect(db, read_only=False) as connection:
        for battle_id, log in zip(ids, logs, strict=False):
            connection.execute("UPDATE battles SET p1_log = ? WHERE battle_id = ?", [log, battle_id])
    told = {story["id"]: story for story in stories(db, ids)}
    for battle_id in ids[: len(logs)]:
        assert told[battle_id]["result"].endswith("Its stored log is damaged and cannot be shown.")
        assert told[battle_id]["turns"] == []
        shown = CliRunner().invoke(cli, ["watch", str(battle_id), "--db", str(db)])
        assert shown.exit_code == 0 and "damaged" in shown.output
    assert told[ids[2]]["turns"]
    assert CliRunner().invoke(cli, ["report", "--html", str(page), "--db", str(db)]).exit_code == 0 and page.exists()
    command_ends_in_order(cli, ["replay", str(ids[0]), "--db", str(db)])
