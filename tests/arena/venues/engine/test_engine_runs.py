"""Runs with --venue engine: what is stored, what is said, and how a difference from Showdown ends them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba")

from support.command_line import Said
from support.tournaments import table, tournament

import arena.venues.engine.availability as availability
from arena.record import unpacked
from arena.run.tournament import EvaluateSettings, prepare
from arena.store import connect, open_store, rows
from arena.venues.simulator.reproduction import PackedLogs, with_logs

Arena = Callable[..., Said]
_RESULT = "key, p1, p2, winner, reason, turns, input_log"
_DECISIONS = "SELECT key, seat, index, turn, legal, choice FROM decisions JOIN battles USING (battle_id) ORDER BY ALL"


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same run on both venues. One of its agents needs the state of a battle; one of its formats has no engine."""
    agents = ("random", "array_agents:LastAction", "poke-env:RandomPlayer")
    found = {}
    for venue in ("engine", "simulator"):
        found[venue] = tmp_path_factory.mktemp(venue) / "arena.duckdb"
        more: dict[str, Any] = {"venue": venue, "verify_every": 2, "think_limit": 60.0}
        tournament(found[venue], *agents, formats=("gen1randombattle", "gen2randombattle"), battles=4, **more)
    return found


@pytest.mark.slow
def test_a_run_has_the_same_battles_on_both_venues(databases: dict[str, Path]) -> None:
    engine, simulator = databases["engine"], databases["simulator"]
    assert table(engine, _RESULT) == table(simulator, _RESULT)
    assert rows(_DECISIONS, engine) == rows(_DECISIONS, simulator)
    played = rows("SELECT format, venue, count(*) FROM battles GROUP BY ALL ORDER BY ALL", engine)
    assert played == [
        ("gen1randombattle", "engine", 4),
        ("gen1randombattle", "simulator", 8),
        ("gen2randombattle", "simulator", 12),
    ]
    assert rows("SELECT DISTINCT venue FROM battles", simulator) == [("simulator",)]


@pytest.mark.slow
def test_logs_are_made_where_they_are_read(databases: dict[str, Path], arena: Arena) -> None:
    query = "SELECT battle_id, input_log, p1_log, p2_log, key FROM battles WHERE key IN (SELECT unnest(?)) ORDER BY key"
    keys = [key for (key,) in rows("SELECT key FROM battles WHERE venue = 'engine'", databases["engine"])]
    stored = rows(query, databases["engine"], [keys])
    expected = rows(query, databases["simulator"], [keys])
    assert all(PackedLogs(*row[:4]).without_logs for row in stored)
    for full, other in zip(with_logs([PackedLogs(*row[:4]) for row in stored]), expected, strict=True):
        assert [unpacked(log) for log in full[2:]] == [unpacked(log) for log in other[2:4]]
    (one, twin) = stored[0][0], expected[0][0]
    for words in (("watch", "--all"), ("replay", "--narrate")):
        said, other = (
            arena(words[0], battle, *words[1:], "--db", databases[venue])
            for venue, battle in (("engine", one), ("simulator", twin))
        )
        assert (said.code, said.err) == (0, "")
        lines, others = (re.sub(r" +|[\d.]+ ms", " ", text.out).splitlines()[2:-1] for text in (said, other))
        assert lines == others and len(lines) > 20
    assert "identical" in said.out.splitlines()[-1] and "decisions" in said.out.splitlines()[-1]


@pytest.mark.slow
def test_training_data_of_battles_without_logs(databases: dict[str, Path]) -> None:
    from training.data.from_store import selected, sides

    condition = "format = 'gen1randombattle' AND agent IN ('random', 'array_agents:LastAction')"
    found = {}
    for venue, db in databases.items():
        chosen = selected(db, condition)
        found[venue] = sorted(
            (side.about["pair"], side.seat, side.about["agent"], unpacked(side.log)) for side in sides(db, chosen)
        )
    assert found["engine"] == found["simulator"] and len(found["engine"]) == 16


@pytest.mark.slow
def test_stored_battles_are_verified_on_the_other_simulator(
    databases: dict[str, Path], arena: Arena, tmp_path: Path
) -> None:
    said = arena("verify", "--db", databases["engine"])
    assert said == Said(
        0,
        "12 battles replayed (4 on Showdown, 8 on the engine): all are equal\n"
        "12 battles not checked: the engine does not play gen2randombattle\n",
        "",
    )
    assert arena("verify", "nothing", "--db", databases["engine"]).err.startswith("arena: run 'nothing': not in ")
    db = Path(shutil.copy(databases["engine"], tmp_path / "tampered.duckdb"))
    (run,) = rows("SELECT run_id FROM runs", db)[0]
    with connect(db, read_only=False) as connection:
        for venue, change in (("engine", "legal = legal[2:]"), ("simulator", "turn = 99")):
            where = f"SELECT min(battle_id) FROM battles WHERE venue = '{venue}' AND format = 'gen1randombattle'"
            connection.execute(
                f"UPDATE decisions SET {change} WHERE battle_id = ({where}) AND seat = 'p2' AND index = 3"
            )
        other = "SELECT max(battle_id) FROM battles WHERE format = 'gen1randombattle'"
        connection.execute(
            f"UPDATE battles SET winner = CASE winner WHEN 'p1' THEN 'p2' ELSE 'p1' END WHERE battle_id = ({other})"
        )
        (last,) = connection.execute(other).fetchone() or ()
    said = arena("verify", run, "--db", db)
    assert said.code == 1 and said.out.count(": p2, decision 3 (turn ") == 2
    assert f"battle {last}: the winner: p" in said.out and " 3 differ\n" in said.out
    said = arena("verify", "--sample", 5, "--db", db)
    assert sum(int(words) for words in re.findall(r"^(\d+) battles? ", said.out, re.MULTILINE)) == 5


@pytest.mark.slow
def test_a_difference_stops_the_run_with_the_fixture_and_loses_nothing(arena: Arena, tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    played = ("evaluate", "random", "--format", "gen1randombattle", "--venue", "engine", "--db", db)
    assert arena(*played, "array_agents:LastAction", "--battles", 2, "--verify-every", 0).code == 0
    said = arena(*played, "breaks_engine:Breaks", "--battles", 4, "--verify-every", 1)
    assert said.code == 1
    (line,) = [line for line in said.err.splitlines() if line]
    assert (
        line.startswith("arena: the engine and Showdown differ in gen1randombattle, fixture ") and ", decision " in line
    )
    assert "To resume: arena evaluate --resume" in said.out
    assert rows("SELECT count(*) FROM battles WHERE reason = 'win'", db)[0][0] >= 2
    assert rows("SELECT status FROM runs ORDER BY started", db) == [("finished",), ("stopped",)]


def test_what_is_not_played_on_the_engine_is_said_with_its_cause(tmp_path: Path) -> None:
    settings = EvaluateSettings(
        agents=("random", "poke-env:RandomPlayer"), formats=("gen1randombattle", "gen8randombattle"), venue="engine"
    )
    with open_store(tmp_path / "arena.duckdb") as store:
        notes = prepare(store, settings).notes
    assert notes[-2:] == (
        "battles of gen8randombattle are played in the simulator: the engine plays gen1ou, gen1randombattle and gen9ou",
        "battles of gen1randombattle with poke-env:RandomPlayer are played in the simulator: not an agent that acts on "
        "arrays",
    )


def test_what_cannot_be_combined_or_is_not_installed_is_said(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = ("evaluate", "random", "array_agents:LastAction", "--venue", "engine", "--db", tmp_path / "arena.duckdb")
    said = arena(*played, "--isolate")
    assert (said.code, said.err.count("\n")) == (2, 1) and "--venue engine --isolate" in said.err
    assert arena(*played, "--verify-every", -1).code == 2
    monkeypatch.setattr(availability, "find_spec", lambda name: None if name == "numba" else find_spec(name))
    said = arena(*played)
    assert said == Said(
        2, "", "arena: --venue engine: needs Numba, which is not installed: uv pip install -e .[engine]\n"
    )
