"""Runs of schedules: what counts as evidence, what is played again, and that workers and kills change nothing."""

from __future__ import annotations

import importlib
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.command_line import run_arena
from support.tournaments import table, tournament

from arena.report.evidence import load_evidence
from arena.run.tournament import EvaluateSettings, changed_note, prepare
from arena.store import open_store, rows
from arena.testing import StandInVenue
from arena.venue import Rules

RANDOM = "gen1randombattle"
POOL = ("random", "heuristic:least-damage", "heuristic:max-power")
SOME = {
    "cluster": StandInVenue(lambda fixture: "p1" if int(fixture.key, 16) % 2 else "p2"),
    "think_limit": 30.0,
}


def played(db: Path, run_id: str) -> list[tuple[Any, ...]]:
    return rows("SELECT p1, p2, key FROM battles WHERE run_id = ? ORDER BY battle_id", db, [run_id])


def reused_count(db: Path, run_id: str) -> int:
    ((count,),) = rows("SELECT count(*) FROM evidence WHERE run_id = ?", db, [run_id])
    return int(count)


@pytest.fixture(scope="module")
def pool_db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database in which the pool has met once."""
    db = tmp_path_factory.mktemp("evidence") / "pool.duckdb"
    tournament(db, *POOL, **SOME)  # type: ignore[arg-type]
    return db


@pytest.fixture
def db(pool_db: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "arena.duckdb"
    copy.write_bytes(pool_db.read_bytes())
    return copy


def test_what_is_in_the_store_is_not_played_again(db: Path) -> None:
    run = tournament(db, *POOL, **SOME)  # type: ignore[arg-type]
    assert (played(db, run), reused_count(db, run)) == ([], 6)
    assert len(load_evidence(db, run, RANDOM)) == 3
    assert rows("SELECT status FROM runs WHERE run_id = ?", db, [run]) == [("finished",)]


def test_a_whole_number_of_seconds_stored_by_an_earlier_version_is_the_same_limit(db: Path) -> None:
    with duckdb.connect(str(db)) as connection:
        connection.execute("UPDATE runs SET config = replace(config, '30.0', '30')")
        [(config,)] = connection.execute("SELECT config FROM runs").fetchall()
    assert '"think_limit":30,' in config.replace(" ", "")
    run = tournament(db, *POOL, **SOME)  # type: ignore[arg-type]
    assert (played(db, run), reused_count(db, run)) == ([], 6)


def test_other_battles_of_the_same_players_count_beside_those_that_are_played(db: Path) -> None:
    run = tournament(db, *POOL, seed=1, **SOME)  # type: ignore[arg-type]
    assert (len(played(db, run)), reused_count(db, run)) == (6, 6)
    assert len(load_evidence(db, run, RANDOM)) == 6


def test_more_battles_on_the_same_seed_are_only_the_new_ones(db: Path) -> None:
    run = tournament(db, *POOL, battles=4, **SOME)  # type: ignore[arg-type]
    assert (len(played(db, run)), reused_count(db, run)) == (6, 6)


def test_fresh_ignores_them(db: Path) -> None:
    run = tournament(db, *POOL, fresh=True, **SOME)  # type: ignore[arg-type]
    assert (len(played(db, run)), reused_count(db, run)) == (6, 0)
    first, second = rows("SELECT list(winner ORDER BY key) FROM battles GROUP BY run_id", db)
    assert first == second


def test_a_battle_that_two_runs_have_played_counts_once(db: Path) -> None:
    tournament(db, *POOL, fresh=True, **SOME)  # type: ignore[arg-type]
    run = tournament(db, *POOL, **SOME)  # type: ignore[arg-type]
    assert (played(db, run), reused_count(db, run)) == ([], 6)


def test_a_gauntlet_plays_the_challenger_and_takes_the_rest_from_the_store(db: Path) -> None:
    challenger = "heuristic:max-damage"
    run = tournament(db, *POOL, challenger, challengers=(challenger,), **SOME)  # type: ignore[arg-type]
    assert Counter(agent for p1, p2, _ in played(db, run) for agent in (p1, p2)) == {
        challenger: 6,
        **dict.fromkeys(POOL, 2),
    }
    _, games = load_evidence(db, run, RANDOM).tables()
    assert (games + 2 * (games.diagonal() == 0) * (games == 0) >= 2).all()  # everybody has met everybody


def test_under_other_rules_or_with_other_simulators_they_are_other_battles(db: Path) -> None:
    run = tournament(db, *POOL, max_turns=500, **SOME)  # type: ignore[arg-type]
    assert (len(played(db, run)), reused_count(db, run)) == (6, 0)


def test_on_other_teams_they_are_other_battles(tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    two = POOL[:2]
    tournament(db, *two, formats=("gen1ou",), team_sets=("competitive",), **SOME)  # type: ignore[arg-type]
    run = tournament(db, *two, formats=("gen1ou",), team_sets=("variety",), **SOME)  # type: ignore[arg-type]
    assert (len(played(db, run)), reused_count(db, run)) == (2, 0)
    both = tournament(db, *two, formats=("gen1ou",), team_sets=("competitive", "variety"), **SOME)  # type: ignore[arg-type]
    assert (len(played(db, both)), reused_count(db, both)) == (0, 4)


@pytest.mark.slow
def test_an_agent_whose_code_has_changed_is_another_player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "player_that_changes.py"
    code = (
        "from agents import Agent\n\n\nclass Me(Agent):\n    def act(self, battle):\n        return battle.legal[{}]\n"
    )
    module.write_text(code.format(0))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    db = tmp_path / "arena.duckdb"
    agents = ("player_that_changes:Me", "random")
    tournament(db, *agents, **SOME)  # type: ignore[arg-type]
    module.write_text(code.format(-1))
    importlib.invalidate_caches()
    said = run_arena(
        "evaluate", *agents, "--format", RANDOM, "--battles", 2, "--think-limit", 30, "--db", db, cwd=tmp_path
    )
    assert said.code == 0, said.err
    words = " ".join(said.out.split())
    assert "2 battles of earlier runs are not counted: the code of player_that_changes:Me has changed since" in words
    ((run,),) = rows("SELECT run_id FROM runs ORDER BY started DESC LIMIT 1", db)
    assert (len(played(db, run)), reused_count(db, run)) == (2, 0)


def test_battles_that_do_not_count_because_of_changed_code_are_reported_once(db: Path) -> None:
    settings = EvaluateSettings(agents=POOL, formats=(RANDOM,), rules=Rules(think_limit=30.0))
    with duckdb.connect(str(db)) as connection:
        connection.execute("UPDATE agents SET fingerprint = 'before' WHERE agent = 'random'")
    anew = settings.model_copy(update={"fresh": True})
    with open_store(db) as store:
        first, fresh, second = (prepare(store, each) for each in (settings, anew, settings))
    assert first.notes == ("4 battles of earlier runs are not counted: the code of random has changed since",)
    assert fresh.notes == second.notes == ()
    assert reused_count(db, first.run_id) == reused_count(db, second.run_id) == 2


def test_no_more_than_four_agents_are_named_in_that_line() -> None:
    assert changed_note(0, []) == ()
    (line,) = changed_note(1234, ["a", "b", "c", "d", "e", "f"])
    assert line == "1,234 battles of earlier runs are not counted: the code of a, b, c, d and 2 more has changed since"


ADAPTIVE = {"schedule": "adaptive", "budget": 48, "seed": 4, "think_limit": 30.0}


@pytest.mark.slow
def test_an_adaptive_run_is_the_same_on_one_worker_and_on_three(tmp_path: Path) -> None:
    one, three = tmp_path / "one.duckdb", tmp_path / "three.duckdb"
    tournament(one, *POOL, "heuristic:max-damage", workers=1, **ADAPTIVE)  # type: ignore[arg-type]
    tournament(three, *POOL, "heuristic:max-damage", workers=3, **ADAPTIVE)  # type: ignore[arg-type]
    assert table(one, "key, winner, turns") == table(three, "key, winner, turns")
    assert len(table(one)) == 48


@pytest.mark.slow
def test_an_adaptive_run_that_was_stopped_is_resumed_to_the_same_battles(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole.duckdb", tmp_path / "parts.duckdb"
    words = (*POOL, "heuristic:max-damage", "--format", RANDOM, "--budget", 48, "--seed", 4, "--think-limit", 30)
    assert run_arena("evaluate", *words, "--db", whole).code == 0
    first = run_arena("evaluate", *words, "--minutes", 0.01, "--db", parts)
    assert first.code == 0 and "--resume" in first.out
    assert 0 < len(table(parts)) < 48
    assert run_arena("evaluate", "--resume", "--db", parts).code == 0
    assert table(parts, "key, winner, turns") == table(whole, "key, winner, turns")


@pytest.mark.slow
def test_a_match_ends_when_it_is_decided_after_the_same_pair_at_any_number_of_workers(tmp_path: Path) -> None:
    counted = {}
    for workers in (1, 3):
        said = run_arena(
            "match", "heuristic:max-power", "random", "--sprt", "elo0=0", "elo1=60", "--format", RANDOM, "--seed", 2,
            "--workers", workers, "--db", tmp_path / f"{workers}.duckdb",
        )  # fmt: skip
        assert said.code == 0, said.err
        counted[workers] = said.out[said.out.index("Results of") :]
        assert "H1 accepted" in counted[workers]
        assert len(table(tmp_path / f"{workers}.duckdb")) < 400
    assert counted[1] == counted[3]
