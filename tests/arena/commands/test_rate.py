"""`arena rate`: every kind of file gives the same ratings, and a file that is none is refused in one line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.command_line import Said

Arena = Callable[..., Said]
#: a, b, wins of a, losses, ties.
MEETINGS = (("ann", "bob", 30, 10, 0), ("bob", "cee", 12, 8, 4), ("cee", "ann", 5, 15, 0))


def rated(arena: Arena, path: Path, *options: Any) -> dict[str, Any]:
    said = arena("rate", path, "--anchor", "bob", "--json", *options)
    assert said.code == 0, said.err
    found: dict[str, Any] = json.loads(said.out)
    return found


def games() -> list[tuple[str, str, float]]:
    return [
        (a, b, score)
        for a, b, wins, losses, ties in MEETINGS
        for score, count in ((1.0, wins), (0.0, losses), (0.5, ties))
        for _ in range(count)
    ]


def as_csv(delimiter: str = ",") -> str:
    return "\n".join(delimiter.join(map(str, row)) for row in (("a", "b", "wins", "losses", "ties"), *MEETINGS))


def as_ladder(of_bob: int = 10) -> list[dict[str, Any]]:
    """Both players' rows of each meeting. of_bob: what bob's row says that he won against ann."""
    rows: dict[str, dict[str, Any]] = {}
    for a, b, wins, losses, ties in MEETINGS:
        rows.setdefault(a, {})[b] = {"w": wins, "l": losses, "t": ties}
        rows.setdefault(b, {})[a] = {"w": losses, "l": wins, "t": ties}
    rows["bob"]["ann"]["w"] = of_bob
    return [
        {"username": name.upper(), "elo": 1500.5, "glicko": 1600.0, "rating_deviation": 20.0, "h2h_data": against}
        for name, against in rows.items()
    ]


def pgn() -> str:
    shown = {1.0: "1-0", 0.0: "0-1", 0.5: "1/2-1/2"}
    played = [
        f'[Event "x"]\n[White "{a}"]\n[Black "{b}"]\n[Result "{shown[score]}"]\n\n1. e4 {shown[score]}\n'
        for a, b, score in games()
    ]
    return "\n".join([*played, '[White "ann"]\n[Black "bob"]\n[Result "*"]\n\n*\n'])


def test_every_kind_of_file_gives_the_same_ratings(arena: Arena, tmp_path: Path) -> None:
    ladder = io.StringIO()
    writer = csv.writer(ladder, delimiter="\t")
    writer.writerow(["Username", "Elo", "Glicko", "Rating_Deviation", "H2H_Data"])
    writer.writerows(
        [row["username"].lower(), 1500.5, 1600.0, 20.0, json.dumps(row["h2h_data"])] for row in as_ladder()
    )
    singly = "\n".join(["a,b,score", *(f"{a},{b},{score}" for a, b, score in games())])
    contents = {
        "results.csv": as_csv(),
        "results.tsv": as_csv("\t"),
        "singly.csv": singly,
        "results.json": json.dumps(
            [dict(zip(("a", "b", "wins", "losses", "ties"), row, strict=True)) for row in MEETINGS]
        ),
        "games.pgn": pgn(),
        "ladder.tsv": ladder.getvalue(),
    }
    found = {}
    for name, text in contents.items():
        (tmp_path / name).write_text(text)
        found[name] = rated(arena, tmp_path / name)
    first = found["results.csv"]["ranking"]
    assert first[0]["agent"] == "ann" and first[0]["games"] == 60 and first[0]["score"] == 0.75
    assert {name: each["ranking"] for name, each in found.items()} == dict.fromkeys(found, first)
    assert found["games.pgn"]["notes"] == ["1 games without a result are not counted."]
    assert found["ladder.tsv"]["published"]["ann"] == {"elo": 1500.5, "glicko": 1600.0, "deviation": 20.0}


def test_a_lead_of_three_to_one_is_191_elo_and_is_tested(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "long.csv").write_text("a,b,wins,losses\nann,bob,30000,10000\n")
    found = rated(arena, tmp_path / "long.csv", "--test", "ann", "bob", "--sprt", "elo1=20", "--sprt", "model=logistic")
    ann = found["ranking"][0]
    assert ann["elo"] == pytest.approx(1190.8, abs=0.2) and 1185 < ann["low"] < ann["elo"] < ann["high"] < 1197
    assert found["test"][-1].startswith("H1 accepted: ann leads bob by more than 0 Elo")


def test_rows_that_differ_are_counted_once_and_said(arena: Arena, tmp_path: Path) -> None:
    path = tmp_path / "ladder.json"
    path.write_text(json.dumps({"format": "gen1ou", "players": as_ladder(of_bob=14)}))
    said = arena("rate", path, "--anchor", "BOB")
    assert said.code == 0, said.err
    assert "88 battles" in said.out, "44 of ann against bob: the row with more"
    assert "1 of 3 meetings differ between both players' rows" in said.out
    assert "The file's own ranks" in said.out


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "needs the players a and b|no battle"),
        ("x,y\n1,2\n", "line 2: needs the players a and b"),
        ("a,b,wins,losses\nann,ann,1,0\n", "line 2: ann meets itself"),
        ("a,b,wins,losses\nann,bob,-1,0\n", "line 2: wins '-1' is no number of battles"),
        ("a,b,wins,losses\nann,bob,many,0\n", "line 2: wins 'many' is no number"),
        ("a,b,wins,losses\nann,bob,nan,0\n", "line 2: wins 'nan' is no number"),
        ("a,b,wins\nann,bob,1\n", "line 2: the columns are a, b, wins, losses, ties"),
        ("a,b,score\nann,bob,2\n", "line 2: score '2' is not 1, 0.5 or 0"),
        ("[1, 2]", "entry 1 is no object"),
        ("{}", "no list `players`"),
        ("{", "not JSON"),
        ("Username\tH2H_Data\nann\t[]\n", "line 2: the head-to-head results are not"),
    ],
)  # fmt: skip
def test_what_is_no_table_of_results_is_refused_in_one_line(
    arena: Arena, tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "results.txt"
    path.write_text(text)
    said = arena("rate", path)
    assert said.code == 2 and said.err.count("\n") == 1, said.err
    assert any(word in said.err for word in words.split("|")) and "results.txt" in said.err, said.err


def test_names_and_options_that_are_not_there_are_refused(arena: Arena, tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text(as_csv())
    for options in (
        ("--anchor", "zoe"),
        ("--test", "ann", "zoe"),
        ("--sprt", "elo1=3"),
        ("--test", "ann", "bob", "--sprt", "x=1"),
    ):
        said = arena("rate", path, *options)
        assert said.code == 2 and said.err.count("\n") == 1, said.err
    said = arena("rate", tmp_path / "none.csv")
    assert said.code == 2 and "none.csv" in said.err
