"""`arena report`: the terminal, files written in one stroke, and one clear line when something is wrong."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from support.command_line import Said
from support.made_store import MadeStore

from arena.report.markdown import plain, points
from arena.report.summary import summarize
from arena.report.tables import print_results, print_summary

Arena = Callable[..., Said]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three agents on two team sets; one of them has failed."""
    made = MadeStore(tmp_path_factory.mktemp("made") / "made.duckdb")
    made.run("old", ["a", "b"], started="2026-01-01 00:00:00+00")
    made.pair("old", "a", "b", "WW")
    made.run("new", ["a", "b", "c:long-name"], seed=11)
    for team_set in ("far", "near"):
        made.pair("new", "a", "b", "WL", count=4, team_set=team_set)
        made.pair("new", "a", "c:long-name", "WW", count=3, team_set=team_set)
        made.pair("new", "b", "c:long-name", "WL", count=3, team_set=team_set)
    made.pair("new", "b", "a", "EW", detail="KeyError: 'x' | y")
    return made.write()


@pytest.fixture(scope="module")
def summary(made: Path) -> dict[str, Any]:
    return summarize(made, "new")


def test_the_terminal_shows_ranking_findings_tables_and_faults(arena: Arena, made: Path) -> None:
    said = arena("report", "--db", made)
    assert (said.code, said.err) == (0, "")
    places = [
        said.out.index(words)
        for words in (
            "gen1ou: 42 battles; Elo with 95% intervals, anchor a = 1000",
            "• a is best in gen1ou: 1000, the anchor, ",
            "• Lost by an own failure: b 1 of 30 battles.",
            "gen1ou: win rate in % of row against column, battles below",
            "gen1ou: win rate in % by team set, with 95% intervals (/battles)",
            "Faults (the agent lost these battles",
            "KeyError: 'x' | y",
            "Note: gen1ou: the median pairing has",
        )
    ]
    assert places == sorted(places)
    assert "├" in said.out and "●" in said.out


def test_another_run_is_named(arena: Arena, made: Path) -> None:
    assert "gen1ou: 2 battles;" in arena("report", "old", "--db", made).out


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_any_terminal_is_wide_enough(summary: dict[str, Any], width: int) -> None:
    file = io.StringIO()
    print_summary(Console(file=file, width=width, force_terminal=True, color_system=None), summary)
    tables = [line for line in file.getvalue().split("\n") if line[:1] in "┏┃┡│└"]
    assert tables and max(map(len, tables)) <= width
    assert ("●" in file.getvalue()) == (width >= 120) and ("GXE" in file.getvalue()) == (width >= 80)


def test_evaluate_ends_with_the_same_words(summary: dict[str, Any], made: Path) -> None:
    ends, shown = (Console(file=io.StringIO(), width=200) for _ in range(2))
    print_results(ends, made, "new")
    print_summary(shown, summary)
    assert isinstance(ends.file, io.StringIO) and isinstance(shown.file, io.StringIO)
    assert ends.file.getvalue() == shown.file.getvalue()


def test_files_are_written_together(arena: Arena, made: Path, tmp_path: Path) -> None:
    paths = {kind: tmp_path / f"report.{kind}" for kind in ("html", "markdown", "json")}
    words = [word for kind, path in paths.items() for word in (f"--{kind}", path)]
    said = arena("report", "--db", made, *words, "--anchor", "b", "--battles", 0)
    assert (said.code, said.out) == (0, "")
    summary = json.loads(paths["json"].read_text(encoding="utf-8"))
    assert (summary["version"], summary["run"]["id"], summary["formats"][0]["anchor"]) == (1, "new", "b")
    assert paths["html"].read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []
    assert paths["html"].stat().st_mode & 0o444 == made.stat().st_mode & 0o444, "others may read it, as any new file"


def test_markdown_and_json_go_to_the_terminal_when_asked(arena: Arena, made: Path) -> None:
    text = arena("report", "--db", made, "--markdown", "-").out
    assert text.startswith("# Battle arena: run new\n")
    assert "| 1 | a | 1000 | " in text and "KeyError: 'x' \\| y" in text
    assert "arena evaluate a b c:long-name --format gen1ou --teams far --battles 2 --seed 11" in text
    for table in (block for block in text.split("\n\n") if block.startswith("|")):
        assert len({len(line.replace("\\|", "").split("|")) for line in table.split("\n")}) == 1, table
    assert json.loads(arena("report", "--db", made, "--json", "-").out)["findings"]


def test_a_file_that_is_there_stays_whole_when_writing_fails(
    arena: Arena, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.json"
    path.write_text("before")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    said = arena("report", "--db", made, "--json", path)
    monkeypatch.undo()
    assert said.code == 2 and said.err.strip() == f"arena: {path}: No space left on device: give another file"
    assert path.read_text() == "before"
    assert sorted(each.name for each in tmp_path.iterdir() if each.name.startswith(".")) == []


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["nope"], "run 'nope': not in .*; the latest runs are new, old"),
        (["--anchor", "nobody"], "anchor 'nobody': has no battles in this run; choose one of a, b, c:long-name"),
        (["--html", "/nowhere/x.html"], "/nowhere/x.html: No such file or directory: give a file in a writable folder"),
        (["--json", "/proc/x.json"], "/proc/x.json: "),
    ],
)
def test_bad_input_is_one_clear_line(arena: Arena, made: Path, words: list[str], problem: str) -> None:
    said = arena("report", *words, "--db", made)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("arena: ") and said.err.count("\n") == 1
    with pytest.raises(AssertionError, match=problem):
        raise AssertionError(said.err)


@pytest.mark.parametrize("count", ["-1", "some", "1.5"])
def test_a_bad_number_of_battles_is_refused(arena: Arena, made: Path, count: str) -> None:
    said = arena("report", "--battles", count, "--db", made)
    assert said.code == 2 and f"{count}: give a number of battles, or all" in said.err


def test_a_database_without_runs_or_without_being_is_one_line(arena: Arena, tmp_path: Path) -> None:
    assert "no such file" in arena("report", "--db", tmp_path / "none.duckdb").err
    empty = MadeStore(tmp_path / "empty.duckdb").write()
    said = arena("report", "--db", empty)
    assert said.code == 2 and "contains no run" in said.err


def test_markdown_takes_nothing_for_markup() -> None:
    assert plain("a|b_c*d`e\nf [x](y) [1, 2]") == "a\\|b\\_c\\*d\\`e f \\[x](y) [1, 2]"


def test_code_in_a_sentence_keeps_its_spaces() -> None:
    assert points(["`a+b` is better than `c`  by 3 | x."]) == "- `a+b` is better than `c` by 3 \\| x."
