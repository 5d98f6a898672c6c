"""`arena evaluate --dry-run`: the number of battles, and the time that they take by stored and by measured ones."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_line import Said

from arena.run.costs import BattleCost, covered
from arena.run.forecast import _lacking, _predicted
from arena.store import rows

Arena = Callable[..., Said]
_PLAYERS = ("poke-env:RandomPlayer", "poke-env:MaxBasePowerPlayer")


def test_a_dry_run_counts_battles_and_leaves_nothing(arena: Arena, played: Path, tmp_path: Path) -> None:
    db = Path(shutil.copy(played, tmp_path / "arena.duckdb"))
    words = ("evaluate", *_PLAYERS, "--format", "gen1ou", "--teams", "competitive", "--battles", 100, "--seed", 5)
    before = rows("SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM battles)", db)
    words = (*words, "--dry-run", "--db", db)
    said = arena(*words, "--json")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert (found["battles"], found["left"], found["measured"]) == (100, 100, 0)
    ((mean,),) = rows(
        "SELECT avg(seconds) FROM battles WHERE format = 'gen1ou' AND p1 IN (?, ?) AND p2 IN (?, ?)",
        db,
        [*_PLAYERS, *_PLAYERS],
    )
    assert 0 < found["seconds"] <= 100 * mean * 1.01  # battles may have been played side by side
    assert "100 battles to play: about" in arena(*words).out
    assert rows("SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM battles)", db) == before


@pytest.mark.slow
def test_agents_without_battles_are_measured(arena: Arena, tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    words = ("evaluate", "random", "heuristic:max-power", "--format", "gen1randombattle", "--budget", 50, "--dry-run")
    found = json.loads(arena(*words, "--json", "--db", db).out)
    assert (found["battles"], found["from_store"]) == (50, 0) and found["measured"] == 2 and found["seconds"] > 0
    assert rows("SELECT count(*) FROM runs", db) == [(0,)]


def test_a_pairing_that_was_never_played_costs_what_its_agents_cost() -> None:
    fast, slow = 0.1, 0.4
    costs = [BattleCost("a", "b", 2 * fast), BattleCost("c", "b", slow + fast), BattleCost("d", "c", 2 * slow)]
    predicted = _predicted([("a", "d"), ("a", "b"), ("a", "x")], costs)
    assert predicted[("a", "d")] == pytest.approx(
        fast + slow, rel=0.35
    )  # by least squares; it is not determined exactly
    assert predicted[("a", "b")] == pytest.approx(2 * fast)
    assert ("a", "x") not in predicted
    assert _lacking(["a", "x"], [BattleCost("a", "b", 1.0)] * 4) == ["x"]


def test_time_in_which_nothing_was_played_costs_nothing() -> None:
    assert covered([(0.0, 2.0), (1.0, 3.0), (10.0, 11.0)]) == 4.0
