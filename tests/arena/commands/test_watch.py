"""`arena watch`: a stored battle in the terminal, stepped through or printed whole."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from rich.console import Console
from support.command_line import Said

from arena.commands import watch as watching
from arena.report.story import stories
from arena.report.story_text import head, hp_bar, turn
from arena.store import rows

Arena = Callable[..., Said]


@pytest.fixture(scope="module")
def battle_id(played: Path) -> int:
    """A battle of generation 9 that was played out."""
    ((found,),) = rows("SELECT min(battle_id) FROM battles WHERE format = 'gen9ou' AND reason = 'win'", played)
    return int(found)


@pytest.fixture(scope="module")
def told(played: Path, battle_id: int) -> dict[str, Any]:
    return stories(played, [battle_id])[0]


def test_without_a_terminal_every_turn_is_printed(arena: Arena, played: Path, told: dict[str, Any]) -> None:
    said = arena("watch", told["id"], "--db", played)
    assert (said.code, said.err) == (0, "")
    assert re.findall(r"^Turn (\d+) of", said.out, re.MULTILINE) == [str(n + 1) for n in range(told["length"])]
    assert said.out.count(told["result"]) == 2
    for seat in ("p1", "p2"):
        assert said.out.count(f"{seat} chooses: ") >= told["length"]
        assert f"{seat} {told['seats'][seat]['agent']}" in said.out
    shortest = min((words for _, words, *_ in told["seats"]["p1"]["choices"]), key=len)  # long ones are broken
    assert shortest in said.out
    assert "\x1b" not in said.out


def test_turn_says_where_to_begin(arena: Arena, played: Path, told: dict[str, Any]) -> None:
    said = arena("watch", told["id"], "--db", played, "--turn", 3, "--all", "--delay", 0)
    assert (said.code, said.err) == (0, "")
    assert re.findall(r"^Turn (\d+) of", said.out, re.MULTILINE) == [str(n) for n in range(3, told["length"] + 1)]


def test_what_is_not_there_is_one_line_and_exit_code_2(
    arena: Arena, played: Path, tmp_path: Path, battle_id: int
) -> None:
    missing = arena("watch", 987654, "--db", played)
    turnless = arena("watch", battle_id, "--db", played, "--turn", 4000)
    nowhere = arena("watch", 1, "--db", tmp_path / "none.duckdb")
    assert (missing.code, turnless.code, nowhere.code) == (2, 2, 2)
    for said, words in (
        (missing, "battle 987654: not in"),
        (turnless, "has turns 0 to"),
        (nowhere, "no such file"),
    ):
        assert said.err.startswith("arena: ") and said.err.count("\n") == 1
        assert words in said.err


@pytest.mark.parametrize(
    ("share", "bar"),
    [
        (1, "[##########] 100%"),
        (0.62, "[######----] 62%"),
        (0.999, "[#########-] 99%"),
        (0.004, "[#---------] <1%"),
        (0, "[----------] 0%"),
    ],
)
def test_an_hp_bar_is_full_only_when_all_is_left_and_empty_only_when_nothing_is(share: float, bar: str) -> None:
    assert hp_bar(share) == bar


def _stepped(monkeypatch: pytest.MonkeyPatch, told: dict[str, Any], keys: list[str], height: int = 60) -> list[str]:
    """The pages shown while these keys are pressed, one after the other; then the input ends."""
    pressed: Iterator[str] = iter(keys)
    console = Console(
        file=io.StringIO(), force_terminal=True, width=120, height=height, color_system=None, highlight=False
    )

    def getchar() -> str:
        key = next(pressed, None)
        if key is None:
            raise EOFError
        return key

    monkeypatch.setattr(click, "getchar", getchar)
    watching._step(console, told, 0, None)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().split("\x1b[2J\x1b[H")[1:]


def _shown(pages: list[str]) -> list[str]:
    return [re.findall(r"^(Start|Turn \d+) ?", page, re.MULTILINE)[0] for page in pages]


def test_keys_step_through_the_turns(monkeypatch: pytest.MonkeyPatch, told: dict[str, Any]) -> None:
    last = f"Turn {told['length']}"
    keys = ["\r", " ", "n", "\x1b[C", "p", "\x1b[D", "x", "\x1b[F", "n", "\x1b[H", "p"]
    ways = ["Turn 1", "Turn 2", "Turn 3", "Turn 4", "Turn 3", "Turn 2", "Turn 2", last, last, "Start", "Start"]
    assert _shown(_stepped(monkeypatch, told, keys)) == ["Start", *ways]
    assert _shown(_stepped(monkeypatch, told, ["n", "q", "n"])) == ["Start", "Turn 1"]


def test_a_page_never_outgrows_the_terminal_and_scrolls(monkeypatch: pytest.MonkeyPatch, told: dict[str, Any]) -> None:
    pages = _stepped(monkeypatch, told, ["n", "\x1b[B", "j", "k", "\x1b[A", "k"], height=12)
    assert all(len(page.split("\n")) <= 12 for page in pages)
    tops = [page.split("\n")[0].strip() for page in pages[1:]]
    assert tops[0].startswith("Turn 1") and tops[1] != tops[0]
    assert tops == [tops[0], tops[1], tops[2], tops[1], tops[0], tops[0]]
    assert "more lines" in pages[1]


def test_the_delay_goes_on_by_itself(monkeypatch: pytest.MonkeyPatch, told: dict[str, Any]) -> None:
    slept: list[float] = []
    monkeypatch.setattr(watching.time, "sleep", slept.append)
    console = Console(file=io.StringIO(), force_terminal=True, width=120, height=60, color_system=None)
    watching._step(console, told, 0, 0.5)
    assert slept == [0.5] * told["length"]


def _plain(part: Any, width: int) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None, highlight=False)
    console.print(part)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_values_stand_beside_the_choices_and_control_codes_are_made_harmless(told: dict[str, Any]) -> None:
    decision = {"seat": "p1", "choice": 1, "legal": [0, 1, 2], "ms": 1.5}
    decision |= {"tables": {"values": [-0.5, 1.0, None]}, "texts": [["plan", "\x1b[2Jsweep [red]late"]]}
    changed = {**told["turns"][1], "decisions": [decision]}
    seats = {**told["seats"], "p1": {**told["seats"]["p1"], "agent": "evil\x1b[31m"}}
    changed_story = {**told, "seats": seats, "turns": [told["turns"][0], changed, *told["turns"][2:]]}
    names = [name for _, name in seats["p1"]["choices"]]
    text = _plain(turn(changed_story, 1, 150), 150) + _plain(head(changed_story), 150)
    assert "\x1b" not in text and "plan: �[2Jsweep [red]late" in text
    lines = [re.sub(r"\s+", " ", line).strip() for line in text.split("\n")]
    assert any(line.startswith(f"{names[0][:10]}") and line.endswith("-0.5 --") for line in lines), text
    assert any(line.startswith(f"> {names[1][:10]}") and line.endswith("1 #####") for line in lines), text
    assert "p2 made no choice in this turn" in text


def test_a_battle_without_logs_says_so(told: dict[str, Any]) -> None:
    empty = {**told, "turns": [], "end": None, "result": "Aborted before the end.", "detail": "the host died"}
    text = _plain(head(empty), 100)
    assert "Aborted before the end." in text and "the host died" in text and "This battle has no log" in text
