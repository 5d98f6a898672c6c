"""`arena beats`: win rates by opponent, species, lead and length, and which of them are more than chance."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_line import Said
from support.made_store import MadeStore

from arena.report.matchups import MatchupRow, _clear, _row, matchups
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


def test_groups_of_chance_are_rarely_clear() -> None:
    rng, claimed = random.Random(1), 0
    for _ in range(200):
        groups = {str(group): [float(rng.random() < 0.6) for _ in range(40)] for group in range(8)}
        whole = [score for scores in groups.values() for score in scores]
        found: list[MatchupRow] = [_row(group, scores, whole) for group, scores in groups.items()]
        claimed += bool(_clear(found, whole))
    assert claimed <= 0.08 * 200


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
    found = json.loads(arena("beats", _ME, "--by", "length", "--json", "--db", db).out)
    assert [row["group"] for row in found["rows"]] == ["11-20 turns", "51-100 turns"]
