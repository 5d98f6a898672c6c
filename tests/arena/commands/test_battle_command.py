"""`arena battle`: one battle, shown; a stored one is shown as such, and --fresh plays another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_line import Said
from support.tournaments import tournament

from arena.store import rows

Arena = Callable[..., Said]
TWO = ("poke-env:RandomPlayer", "random")
DRAWN = ("--format", "gen1randombattle")


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "arena.duckdb"


def test_a_battle_played_twice_is_shown_the_second_time_from_the_database(arena: Arena, db: Path) -> None:
    first = arena("battle", *TWO, *DRAWN, "--db", db)
    assert (first.code, first.err) == (0, "")
    again = arena("battle", *TWO, *DRAWN, "--db", db)
    assert (again.code, again.err) == (0, "")
    line, _, told = again.out.partition("\n")
    ((run,),) = rows("SELECT run_id FROM runs", db)  # no second one was noted
    assert line == (
        f"Battle 1 is stored already, from run {run}, with the same agents, teams and seed: --fresh plays a new one."
    )
    assert told == first.out
    assert rows("SELECT count(*) FROM battles", db) == [(1,)]
    assert rows("SELECT count(*) FROM evidence", db) == [(0,)]


@pytest.mark.slow
def test_fresh_plays_another_battle_than_the_stored_ones(arena: Arena, db: Path) -> None:
    told = [arena("battle", *TWO, *DRAWN, "--db", db, *fresh) for fresh in ((), ("--fresh",))]
    assert [said.code for said in told] == [0, 0]
    assert len({said.out for said in told}) == 2
    assert rows("SELECT count(*), count(DISTINCT key) FROM battles", db) == [(2, 2)]
    assert "stored already" not in "".join(said.out for said in told)


@pytest.mark.slow
def test_fresh_with_a_seed_plays_that_battle_again(arena: Arena, db: Path) -> None:
    one = arena("battle", *TWO, *DRAWN, "--seed", 5, "--db", db).out
    other = arena("battle", *TWO, *DRAWN, "--seed", 5, "--fresh", "--db", db).out
    assert other == one.replace("Battle 1,", "Battle 2,")


@pytest.mark.slow
def test_a_battle_of_a_tournament_is_shown_when_it_is_asked_for(arena: Arena, db: Path) -> None:
    """What `make evaluate` has played counts as evidence for the battle, and was once taken for a failure."""
    run = tournament(db, *TWO, battles=2)
    said = arena("battle", *TWO, *DRAWN, "--db", db)
    assert (said.code, said.err) == (0, "")
    assert f"is stored already, from run {run}," in said.out
    assert rows("SELECT run_id FROM runs", db) == [(run,)]


@pytest.mark.slow
def test_other_battles_between_the_two_do_not_stand_for_the_one_that_is_asked_for(arena: Arena, db: Path) -> None:
    tournament(db, *TWO, battles=2, seed=8)
    said = arena("battle", *TWO, *DRAWN, "--db", db)
    assert (said.code, said.err) == (0, "")
    assert "stored already" not in said.out
    assert rows("SELECT count(*) FROM battles", db) == [(3,)]
