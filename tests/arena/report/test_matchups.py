"""`arena beats`: win rates by opponent, species, lead and length, and which of them are more than chance."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_line import Said
from support.made_store import MadeStore

from arena.report.counts import rate
from arena.report.matchups import matchups
from arena.store import connect
from teamsets.errors import BadInput

Arena = Callable[..., Said]
_ME = "policy:me"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """`me` loses to `hard` and beats `easy`; where it is p1 its opponent has the team of Starmie, else that of Alakazam."""
    made = MadeStore(tmp_path / "arena.duckdb")
    made.run("r", [_ME, "hard", "easy"])
    made.pair("r", _ME, "hard", "LL", count=10, turns=15)
    made.pair("r", _ME, "hard", "WL", count=2, turns=15)
    made.pair("r", _ME, "easy", "WW", count=9, turns=60)
    made.pair("r", _ME, "easy", "WT", count=3, turns=60)
    return made.write()


def _scores(db: Path, by: str, **more: object) -> dict[str, tuple[float, int, bool]]:
    found = matchups(db, _ME, None, by, **more)  # type: ignore[arg-type]
    return {row["group"]: (row["score"], row["battles"], row["clear"]) for row in found["rows"]}


def test_by_opponent_the_worst_comes_first(db: Path) -> None:
    found = matchups(db, _ME, None, "opponent")
    assert (found["format"], found["battles"], found["score"]) == ("gen1ou", 48, pytest.approx((2 + 21 + 1.5) / 48))
    assert [row["group"] for row in found["rows"]] == ["hard", "easy"]
    hard, easy = found["rows"]
    assert (hard["wins"], hard["losses"], hard["ties"], hard["rest"]) == (2, 22, 0, pytest.approx(easy["score"]))
    assert hard["clear"] and easy["clear"]


def test_by_what_is_in_the_opponents_team_and_leads_it(db: Path) -> None:
    by_species = _scores(db, "species")
    assert set(by_species) == {"Alakazam", "Tauros", "Chansey", "Starmie", "Snorlax", "Exeggutor"}
    assert by_species["Starmie"] == by_species["Snorlax"] == _scores(db, "lead")["Starmie"]
    assert by_species["Starmie"][1] == 24 and not by_species["Starmie"][2]  # it wins and loses with both teams alike
    with connect(db, read_only=False) as connection:  # the opponent leads with its second Pokémon where it is p2
        connection.execute(
            "INSERT INTO decisions (battle_id, seat, index, turn, legal, choice, think_ms) "
            "SELECT battle_id, 'p2', 0, 0, ['team 213'], 'team 213', 1 FROM battles WHERE p1 = ?",
            [_ME],
        )
    assert set(_scores(db, "lead")) == {"Snorlax", "Alakazam"}


def test_by_length_and_against_some_opponents(db: Path) -> None:
    assert {group: battles for group, (_, battles, _) in _scores(db, "length").items()} == {
        "11-20 turns": 24,
        "51-100 turns": 24,
    }
    assert set(_scores(db, "opponent", against=["easy"])) == {"easy"}


def test_the_battles_of_a_pair_are_no_two_witnesses(tmp_path: Path) -> None:
    """12 pairs, each won or lost whole, are as much evidence as 12 battles; and 8 of 12 lost pairs are no difference."""
    made = MadeStore(tmp_path / "pairs.duckdb")
    made.run("r", [_ME, "hard", "easy"])
    for opponent, won, lost in (("hard", 4, 8), ("easy", 7, 5)):
        made.pair("r", _ME, opponent, "WW", count=won)
        made.pair("r", _ME, opponent, "LL", count=lost)
    made.write()
    hard, easy = matchups(made.path, _ME, None, "opponent")["rows"]
    of_twelve = rate(4, 12)
    assert (hard["battles"], hard["pairs"], hard["few"]) == (24, 12, False)
    assert (hard["low"], hard["high"]) == pytest.approx((of_twelve["low"], of_twelve["high"]), abs=0.02)
    assert not hard["clear"] and not easy["clear"]
    assert [row["few"] for row in matchups(made.path, _ME, None, "opponent", against=["e*"], least=1)["rows"]] == [
        False
    ]


def test_what_is_not_there_is_one_line(arena: Arena, db: Path, played: Path) -> None:
    for words, problem in (
        (("nobody",), "has no battles in"),
        ((_ME, "--format", "gen9ou"), "has no such battles in gen9ou"),
        ((_ME, "--min-battles", 1000), "lower --min-battles"),
    ):
        said = arena("beats", *words, "--db", db)
        assert said.code == 2 and problem in said.err and said.err.count("\n") == 1
    with pytest.raises(BadInput, match="choose one with --format"):
        matchups(played, "poke-env:RandomPlayer", None, "opponent")


def test_the_command_prints_a_table_or_json(arena: Arena, db: Path) -> None:
    shown = arena("beats", _ME, "--db", db).out
    assert "policy:me in gen1ou: wins 51% of 48 battles; by opponent, worst first" in shown and "8 *" in shown
    lines = list(csv.DictReader(io.StringIO(arena("beats", _ME, "--csv", "--db", db).out)))
    assert [(line["group"], line["pairs"]) for line in lines] == [("hard", "12"), ("easy", "12")]
    found = json.loads(arena("beats", _ME, "--by", "length", "--json", "--db", db).out)
    assert [row["group"] for row in found["rows"]] == ["11-20 turns", "51-100 turns"]
