"""`arena rank`: agents by their results against some opponents, against figures by hand."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_line import Said
from support.made_store import MadeStore

from arena.report.conditional import conditional_ranking
from arena.report.counts import rate

Arena = Callable[..., Said]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """`x` beats the weak and loses to the strong; `y` the other way round; `z` has met one of the weak only."""
    made = MadeStore(tmp_path / "arena.duckdb")
    made.run("r", ["x", "y", "z", "weak:a", "weak:b", "strong"])
    for opponent, won_by_x, won_by_y in (("weak:a", 9, 5), ("weak:b", 8, 4), ("strong", 1, 6)):
        for agent, won in (("x", won_by_x), ("y", won_by_y)):
            made.pair("r", agent, opponent, "WW", count=won, turns=8)
            made.pair("r", agent, opponent, "LL", count=10 - won, turns=40)
    made.pair("r", "weak:a", "weak:b", "WL", count=10)
    made.pair("r", "z", "weak:a", "WW", count=5)
    return made.write()


def test_a_ranking_against_a_pattern_is_the_mean_over_its_opponents(db: Path) -> None:
    found = conditional_ranking(db, None, against=["weak:*"])
    (group,) = found["groups"]
    assert found["against"] == ["weak:a", "weak:b"] and group["battles"] == 4 * 20 + 2 * 20 + 10
    rows = {row["agent"]: row for row in group["ranking"]}
    assert [(row["rank"], row["agent"]) for row in group["ranking"]] == [
        (1, "x"), (2, "weak:a"), (3, "weak:b"), (4, "y"), (None, "z"),
    ]  # fmt: skip
    assert rows["x"]["score"] == pytest.approx((0.9 + 0.8) / 2)
    assert rows["y"]["score"] == pytest.approx((0.5 + 0.4) / 2)
    assert rows["weak:a"]["score"] == 0.5  # half against the other, half against itself
    assert (rows["z"]["met"], rows["z"]["of"], rows["z"]["pairs"], rows["z"]["few"]) == (1, 2, 5, True)
    assert group["left_out"] == ["strong"]
    expected = rows["x"]["expected"]  # by all battles, the lost ones against `strong` included
    assert expected is not None and expected < rows["x"]["score"]


def test_who_is_first_depends_on_the_opponents(db: Path) -> None:
    against_strong = conditional_ranking(db, None, against=["strong"], run="r")["groups"][0]["ranking"]
    assert [(row["agent"], row["score"]) for row in against_strong] == [("y", 0.6), ("x", 0.1)]
    assert against_strong[0]["better"] is not None and against_strong[0]["better"] > 0.95


def test_pairs_that_the_teams_decide_tell_more_than_their_battles(tmp_path: Path) -> None:
    """Forty split pairs: 50% of 80 battles, closer than Wilson's interval of 80, and not closer than the pairs allow."""
    made = MadeStore(tmp_path / "split.duckdb")
    made.run("r", ["x", "y"])
    made.pair("r", "x", "y", "WL", count=20)
    made.pair("r", "x", "y", "LW", count=20)
    (group,) = conditional_ranking(made.write(), None, against=["y"])["groups"]
    row = next(row for row in group["ranking"] if row["agent"] == "x")
    single, pairs = rate(40, 80), 0.5 * 0.025 ** (1 / 40)  # the lower end for the share of pairs that are split
    assert row["score"] == 0.5 and single["low"] + 0.02 < row["low"] < 0.5
    assert row["low"] == pytest.approx(pairs, abs=0.02)


def test_by_length_species_and_lead(db: Path) -> None:
    found = conditional_ranking(db, None, against=["weak:*", "strong"], by="length", least=1)
    assert [each["group"] for each in found["groups"]] == ["1-10 turns", "11-20 turns", "31-50 turns"]
    assert {row["score"] for row in found["groups"][0]["ranking"] if row["agent"] in "xy"} == {1.0}
    own = conditional_ranking(db, None, by="own-lead", only=["Star*"])
    assert [each["group"] for each in own["groups"]] == ["Starmie"]  # an agent's team is that of Starmie where it is p2
    assert all(row["battles"] == row["pairs"] for row in own["groups"][0]["ranking"])


def test_the_command_prints_a_table_csv_or_json(arena: Arena, db: Path) -> None:
    shown = arena("rank", "--against", "weak:*", "--db", db).out
    assert "gen1ou: score in % against weak:a, weak:b" in shown
    assert "1 of 2" in shown and "5 (few)" in shown and "Left out, with fewer than 10 battles: strong" in shown
    lines = list(csv.DictReader(io.StringIO(arena("rank", "--against", "weak:*", "--csv", "--db", db).out)))
    assert float(lines[0]["score"]) == pytest.approx(0.85) and lines[-1]["rank"] == ""
    found = json.loads(arena("rank", "--by", "species", "--only", "Starmie", "--json", "--db", db).out)
    assert [each["group"] for each in found["groups"]] == ["Starmie"]


def test_what_is_not_there_is_one_line(arena: Arena, db: Path) -> None:
    for words, problem in (
        (("--against", "heuristic:*"), "--against heuristic:*: names none of strong, weak:a"),
        (("--only", "Tauros"), "--only: names groups of --by"),
        (("--by", "lead", "--only", "Mew"), "--only Mew: names none of Alakazam, Starmie"),
        (("--run", "s"), "has no such run"),
        (("--min-battles", 1000), "lower --min-battles"),
    ):
        said = arena("rank", *words, "--db", db)
        assert said.code == 2 and problem in said.err and said.err.count("\n") == 1
