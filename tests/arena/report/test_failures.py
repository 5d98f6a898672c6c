"""A match in which an agent lost by its own failure says so: whose it was, how often and why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_line import Said


@pytest.mark.slow
def test_a_match_names_who_failed_and_how(arena: Callable[..., Said], tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    played = ("--format", "gen1randombattle", "--battles", 2, "--db", db)
    said = arena("match", "bad_agents:RaisesWhenMade", "random", *played)
    assert said.code == 0
    (note,) = [line for line in said.out.splitlines() if "failure of its own" in line]
    assert note.startswith(
        "Note: bad_agents:RaisesWhenMade lost 2 of 2 battles by a failure of its own: error: ValueError: no such checkpoint"
    )
    assert note.endswith(f"--db {db} shows them)")
    assert "failure of its own" not in arena("match", "random", "poke-env:RandomPlayer", *played).out
