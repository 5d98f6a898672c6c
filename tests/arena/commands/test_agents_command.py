"""`arena agents list`: readable at 80 columns, and what is missing is said once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_line import Said

from agents import known_specs
from arena.commands import agents as command

Arena = Callable[..., Said]


@pytest.fixture
def listed(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> str:
    """The list at 80 columns, where neither foul-play nor metamon is installed."""
    for name in ("ARENA_FOUL_PLAY", "ARENA_METAMON"):
        monkeypatch.delenv(name, raising=False)
    arena("agents", "show", "random")  # sets COLUMNS
    monkeypatch.setattr(command, "Console", lambda: type("Narrow", (), {"width": 80}))
    return arena("agents", "list").out


def test_every_agent_stands_on_a_line_of_its_own_and_no_line_is_too_long(listed: str) -> None:
    lines = listed.splitlines()
    for spec in known_specs():
        assert f"  {spec}" in lines
    assert max(map(len, lines[:-1])) <= 80
    assert not re.search("[│┃┏]", listed)


def test_families_have_a_heading_each(listed: str) -> None:
    headings = [line for line in listed.splitlines() if line and not line.startswith((" ", "`"))]
    assert headings[0] == "single agents"
    assert "heuristic" in headings and "poke-env" in headings
    assert headings[-1] == command.NOT_READY
    assert len(headings) == len(set(headings))


def test_what_a_family_lacks_is_said_once_with_what_fixes_it(listed: str) -> None:
    missing = " ".join(listed.partition(command.NOT_READY)[2].split())
    assert missing.count("metamon:") == 3
    assert missing.count("ARENA_METAMON") == 1
    assert "`arena agents setup foul-play`" in missing


def test_as_json_each_agent_has_its_family_and_what_it_lacks(arena: Arena) -> None:
    found = {each["agent"]: each for each in json.loads(arena("agents", "list", "--json").out)}
    assert found.keys() == known_specs().keys()
    assert found["random"] == {
        "agent": "random",
        "about": "A uniformly random legal choice, as poke-env's RandomPlayer.",
        "missing": "",
        "available": True,
    }
    assert not found["external"]["available"] and "command" in found["external"]["missing"]


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (("evalute",), "no command 'evalute': did you mean evaluate?"),
        (("agents", "lst"), "no command 'lst': did you mean list?"),
        (("teams", "validat"), "no command 'validat': did you mean validate?"),
        (("xyz",), "no command 'xyz': the commands are evaluate, match,"),
        (("evaluate", "--formt", "gen1ou"), "Did you mean '--format'?"),
        (("evaluate", "random", "heuristic:max-damage", "--format", "gen1uo"), "did you mean gen1ou?"),
    ],
)
def test_a_mistyped_word_is_answered_with_what_it_looks_like(
    arena: Arena, words: tuple[str, ...], fix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # whose arena.duckdb no other test has
    said = arena(*words)
    assert said.code == 2
    assert fix in said.err and "Traceback" not in said.err
