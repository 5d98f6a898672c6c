"""Whole runs with --isolate: the same battles, its place in the settings, and who is told that it would be wise."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from support.command_line import Said, run_arena
from support.tournaments import first_difference, tournament

from agents import resolve
from arena.store import rows
from arena.venues.isolation.describing import isolated_sources, origins, sharing_note
from teamsets.errors import BadInput

#: Synchronous and asynchronous, built-in and not, agents that poke-env plays for, one that ignores the battle.
AGENTS = ("random", "heuristic:expert", "poke-env:SimpleHeuristicsPlayer", "own_players:Last", "bad_agents:Patient")
OF_DOUBLES = ("random", "poke-env:SimpleHeuristicsPlayer", "heuristic:expert", "heuristic:max-damage")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("format_id", "venue"),
    [("gen1ou", "simulator"), ("gen9ou", "simulator"), ("gen9ou", "server"), ("gen9doublesou", "simulator")],
)
def test_isolated_battles_are_the_same_to_the_last_line(tmp_path: Path, format_id: str, venue: str) -> None:
    """With team preview (gen 9) and without, on both venues, and of two slots."""
    shared, isolated = tmp_path / "shared.duckdb", tmp_path / "isolated.duckdb"
    agents = OF_DOUBLES if "doubles" in format_id else AGENTS
    for db, isolate in ((shared, False), (isolated, True)):
        tournament(db, *agents, formats=(format_id,), max_turns=15, think_limit=60.0, venue=venue, isolate=isolate)
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
    assert "2 battles of earlier runs with the same agents, teams and rules are reused" in again.out


@pytest.mark.slow
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


@pytest.mark.slow
def test_code_that_runs_when_an_agent_is_imported_changes_a_shared_run_and_not_an_isolated_one(tmp_path: Path) -> None:
    won = "sum(CASE winner WHEN 'p1' THEN p1 WHEN 'p2' THEN p2 END = 'attacks_when_imported:Winner')"
    wins = {}
    for isolate in (False, True):
        db = tmp_path / f"{isolate}.duckdb"
        words = ("--format", "gen1randombattle", "--battles", 2, "--workers", 1, "--max-turns", 15, "--db", db)
        more = ["--isolate"] if isolate else []
        assert run_arena("evaluate", "attacks_when_imported:Winner", "attackers:Honest", *words, *more).code == 0
        ((wins[isolate],),) = rows(f"SELECT {won} FROM battles", db)
    assert wins[False] == 2  # it plays badly, and wins whatever happens
    assert not wins[True]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("nowhere_at_all:Agent", "there is no family or module 'nowhere_at_all'"),
        ("attackers:Honest?depth=1", "unknown option 'depth'"),
        ("ends_when_imported:Agent", "importing them ended their process: farewell"),
    ],
)
def test_what_cannot_be_imported_is_refused_in_one_line(spec: str, words: str) -> None:
    with pytest.raises(BadInput, match=re.escape(words)):
        isolated_sources((spec, "random"), ("gen1ou",))


def test_an_agent_is_described_without_being_imported_here() -> None:
    sys.modules.pop("attackers", None)
    found = isolated_sources(("attackers:Honest", "random"), ("gen1ou",))
    assert "attackers" not in sys.modules
    assert found["random"].make().name == "random"
    assert found["attackers:Honest"].about == "Always its first legal choice; has poke-env follow the battle."
    assert found["attackers:Honest"].fingerprint == resolve("attackers:Honest").fingerprint
