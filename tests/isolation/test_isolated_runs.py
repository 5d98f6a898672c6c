"""Whole runs with --isolate: the same battles, its place in the settings, and who is told that it would be wise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from arena_helpers import Said, first_difference, tournament

from arena.isolation.origins import origins, sharing_note
from arena.store import rows

#: Synchronous and asynchronous, built-in and not, agents that poke-env plays for, one that ignores the battle.
AGENTS = ("random", "heuristic:expert", "poke-env:SimpleHeuristicsPlayer", "own_players:Last", "bad_agents:Patient")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("format_id", "venue"), [("gen1ou", "simulator"), ("gen9ou", "simulator"), ("gen9ou", "server")]
)
def test_isolated_battles_are_the_same_to_the_last_line(tmp_path: Path, format_id: str, venue: str) -> None:
    """With team preview (gen 9) and without, on both venues."""
    shared, isolated = tmp_path / "shared.duckdb", tmp_path / "isolated.duckdb"
    for db, isolate in ((shared, False), (isolated, True)):
        tournament(db, *AGENTS, formats=(format_id,), max_turns=15, think_limit=60.0, venue=venue, isolate=isolate)
    assert not first_difference(shared, isolated)
    assert rows("SELECT DISTINCT fault FROM battles", isolated) == [(None,)]


@pytest.mark.slow
def test_a_run_keeps_that_it_is_isolated_and_counts_for_others(arena: Callable[..., Said], tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    words = ("--format", "gen1randombattle", "--battles", 2, "--workers", 1, "--max-turns", 5, "--db", db)
    assert arena("evaluate", "random", "attackers:Honest", "--isolate", *words).code == 0
    ((config,),) = rows("SELECT config FROM runs", db)
    assert orjson.loads(config)["isolate"] is True
    again = arena("evaluate", "random", "attackers:Honest", *words)
    assert "2 battles of earlier runs with the same agents, teams and rules count as well" in again.out


def test_agents_of_different_origins_that_share_processes_are_named_in_one_line(
    arena: Callable[..., Said], tmp_path: Path
) -> None:
    db = tmp_path / "arena.duckdb"
    words = ("--format", "gen1randombattle", "--battles", 1, "--workers", 1, "--max-turns", 2, "--db", db)
    said = arena("evaluate", "attackers:Honest", "bad_agents:Uniform", *words)
    assert "Note: attackers:Honest, bad_agents:Uniform come from different packages" in said.out
    assert "--isolate gives each a process of its own" in said.out


def test_the_origin_of_an_agent_is_its_package() -> None:
    assert origins("random") == origins("heuristic:expert") == origins("poke-env:RandomPlayer") == set()
    assert origins("mybot.players:Best?risk=1") == {"mybot"}
    assert origins("coached?learner=mybot:A&coach=yours:B%3Frisk=1") == {"mybot", "yours"}
    assert not sharing_note(("mybot:A", "mybot:B", "random"))
    assert "and 1 more" in sharing_note(("mybot:A", "yours:B", "theirs:C"))
