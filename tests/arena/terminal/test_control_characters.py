"""Escape sequences in an agent's words are shown as text, whatever prints them."""

from __future__ import annotations

import ast
import io
import json
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.live import Live
from rich.table import Table
from rich.text import Text
from support.command_line import PROJECT, run_arena
from support.hostile import hostile_copy

from arena.cli import cli
from arena.store import connect
from arena.terminal.commands import print_json
from arena.terminal.console import Console
from arena.terminal.output import plain_output, shown

#: Clears the screen, retitles the window, rings, returns to the line's start, colours in 8 bits, and reverses the text.
EVIL = "\x1b[2J\x1b]0;owned\x07\r\x9b31m\u202e"
TEXT = r"\x1b[2J\x1b]0;owned\x07\x0d\x9b31m\u202e"
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


def test_control_characters_are_shown_as_text() -> None:
    assert shown(EVIL) == TEXT
    assert shown("Pokémon:\t→ 东\n") == "Pokémon:\t→ 东\n"


def test_json_with_control_characters_stays_json(capsys: pytest.CaptureFixture[str]) -> None:
    value = {EVIL: [f"Pokémon\x7f{EVIL}"]}
    with plain_output():
        print_json(value)
    printed = capsys.readouterr().out
    assert json.loads(printed) == value
    assert not _CONTROLS.search(printed) and "Pokémon" in printed


@pytest.mark.parametrize("terminal", [False, True])
def test_a_console_keeps_its_own_styles_and_shows_those_in_texts(terminal: bool) -> None:
    out = io.StringIO()
    console = Console(file=out, width=200, force_terminal=terminal, color_system="standard" if terminal else None)
    console.print(EVIL, markup=False, highlight=False)
    table = Table(EVIL)
    table.add_row(Text(EVIL, style="bold"))
    table.add_row(EVIL)
    console.print(table)
    assert (out.getvalue().count(TEXT), out.getvalue().count(TEXT[:6])) == (
        3,
        4,
    )  # rich itself leaves bells out of a Text
    left = _CONTROLS.sub("", re.sub("\x1b\\[[0-9;]*m", "", out.getvalue()))
    assert left == re.sub("\x1b\\[[0-9;]*m", "", out.getvalue()) and "\x1b[31m" not in out.getvalue()


def test_what_is_printed_is_shown_as_text_and_a_console_writes_below(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = {name: io.StringIO() for name in ("stdout", "stderr")}
    for name, stream in streams.items():
        monkeypatch.setattr(sys, name, stream)
    with plain_output(), plain_output():
        print(EVIL)
        print(EVIL, file=sys.stderr)
        Console(force_terminal=True, color_system="standard").print("fine", style="red")
        assert not sys.stdout.isatty()
    assert (
        streams["stdout"].getvalue() == f"{TEXT}\n\x1b[31mfine\x1b[0m\n" and streams["stderr"].getvalue() == f"{TEXT}\n"
    )
    assert sys.stdout is streams["stdout"]


def test_a_live_display_moves_the_cursor_and_what_is_printed_meanwhile_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    with plain_output(), Live(console=Console(force_terminal=True, width=80), auto_refresh=False) as live:
        live.update("first", refresh=True)
        print(EVIL)
        live.update("second", refresh=True)
    drawn = out.getvalue()
    assert "\x1b[2K" in drawn and r"\x1b[2K" not in drawn and "second" in drawn
    assert r"\x9b31m" in drawn and not re.search("\x1b\\[2J|[\x07\x9b\u202e]", drawn)


def test_every_console_is_ours() -> None:
    """Consoles are made by one class: another would let escape sequences through."""
    for package in ("agents", "arena", "training", "teamsets"):
        for path in (PROJECT / package).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if "Console" not in text:
                continue
            tree = ast.parse(text)
            imported = {
                alias.name
                for node in ast.walk(tree)
                if isinstance(node, ast.ImportFrom) and node.module == "rich.console"
                for alias in node.names
            }
            called = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
            assert not ("Console" in imported and "Console" in called), path


@pytest.mark.slow
def test_the_words_of_an_agent_are_text_in_every_command(played: Path, tmp_path: Path) -> None:
    db, run_id = hostile_copy(played, tmp_path)
    with connect(db, read_only=False) as connection:
        for column in ("p1", "p2"):
            connection.execute(f"UPDATE battles SET {column} = {column} || ? WHERE run_id = ?", [EVIL, run_id])
        connection.execute("UPDATE agents SET agent = agent || ?, about = ? WHERE run_id = ?", [EVIL, EVIL, run_id])
        connection.execute("UPDATE battles SET detail = ? WHERE detail IS NOT NULL", [EVIL])
        connection.execute("UPDATE teams SET name = ?", [EVIL])
        (faulty,) = connection.execute("SELECT battle_id FROM battles WHERE detail IS NOT NULL").fetchone() or ("",)
    target = tmp_path / "report.md"
    for words in (
        ["report", run_id],
        ["report", run_id, "--markdown", "-"],
        ["report", run_id, "--markdown", str(target)],
        ["sql", "SELECT p1, detail FROM battles"],
        ["sql", "SELECT p1, detail FROM battles", "--csv"],
        ["sql", "SELECT p1, detail FROM battles", "--json"],
        ["watch", str(faulty)],
    ):
        found = CliRunner().invoke(cli, [*words, "--db", str(db)])
        assert not _CONTROLS.search(found.output) and (TEXT[:6] in found.output or "-" not in words), words
    assert target.exists() and not _CONTROLS.search(target.read_text())


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--isolate",)])
def test_an_agent_that_fails_with_escape_sequences_does_not_reach_the_terminal(
    tmp_path: Path, more: tuple[str, ...]
) -> None:
    (tmp_path / "evil.py").write_text(
        "from agents import Agent\n"
        f"EVIL = {EVIL!r}\n"
        "class A(Agent):\n"
        "    __doc__ = EVIL\n"
        "    def act(self, battle):\n"
        "        self.diagnostics = {'words': EVIL}\n"
        "        raise RuntimeError(EVIL)\n"
    )
    words = ("evaluate", "evil:A", "random", "--format", "gen1randombattle", "--battles", 2, *more)
    said = run_arena(*words, cwd=tmp_path)
    assert said.code == 0 and TEXT[:10] in said.out + said.err
    assert not _CONTROLS.search(said.out + said.err)
