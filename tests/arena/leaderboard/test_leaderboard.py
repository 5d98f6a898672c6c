"""`arena leaderboard`: the numbers are the report's, every battle counts once, and the pages lead to each other."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_line import Said
from support.made_store import MadeStore
from support.read_page import Read

from arena.leaderboard.merging import merged_battles
from arena.leaderboard.standings import standings
from arena.report.summary import summarize
from arena.store import connect
from teamsets.errors import BadInput

Arena = Callable[..., Said]
_AGENTS = ["heuristic:expert", "heuristic:max-damage", "random"]


def _made(path: Path, *, first_battle: int = 1, count: int = 6) -> Path:
    """A run of three agents on two team sets."""
    made = MadeStore(path)
    made.run("r", _AGENTS, team_sets=["far", "near"], anchor="heuristic:max-damage")
    for stronger, weaker in ((0, 1), (0, 2), (1, 2)):
        for team_set in ("far", "near"):
            made.pair("r", _AGENTS[stronger], _AGENTS[weaker], "WW", count=count, team_set=team_set)
            made.pair("r", _AGENTS[stronger], _AGENTS[weaker], "WL", count=4, team_set=team_set)
    return made.write()


def test_the_numbers_of_one_run_are_the_reports(tmp_path: Path) -> None:
    db = _made(tmp_path / "a.duckdb")
    ours, report = standings(merged_battles([db], 1), "gen1ou"), summarize(db, "r")["formats"][0]
    for key in ("agent", "rank", "elo", "games", "score"):
        assert [row[key] for row in ours["ranking"]] == [row[key] for row in report["ranking"]]  # type: ignore[literal-required]
    for row, reported in zip(ours["ranking"], report["ranking"], strict=True):
        assert (row["low"], row["high"]) == pytest.approx((reported["low"], reported["high"]), abs=0.11)
    assert sorted(map(str, ours["cross"])) == sorted(map(str, report["cross"]))
    assert sorted(map(str, ours["by_team_set"])) == sorted(map(str, report["by_team_set"]))
    assert set(ours["by_team_set_ranking"]) == {"far", "near"}


def test_the_same_battle_in_two_databases_counts_once(tmp_path: Path) -> None:
    first = _made(tmp_path / "a.duckdb")
    second = Path(shutil.copy(first, tmp_path / "b.duckdb"))
    merged = merged_battles([first, second], 1)
    alone = merged_battles([first], 1)
    assert merged.doubled == len(alone.battles) == len(merged.battles)
    assert standings(merged, "gen1ou")["ranking"] == standings(alone, "gen1ou")["ranking"]


def test_battles_of_a_former_version_are_left_out(tmp_path: Path) -> None:
    old, new = _made(tmp_path / "old.duckdb"), _made(tmp_path / "new.duckdb", count=3)
    with connect(new, read_only=False) as connection:
        connection.execute("UPDATE battles SET started = started + INTERVAL 1 DAY")
        connection.execute("UPDATE agents SET fingerprint = 'g' WHERE agent = 'random'")
    merged = merged_battles([old, new], 1)
    of_random = [battle for battle in merged.battles if "random" in (battle.p1, battle.p2)]
    assert of_random and all(battle.session[0] == str(new) for battle in of_random)
    assert merged.outdated == len(of_random) + 2 * 2 * 2 * 3  # the old run has three pairs more in each of four places
    history = standings(merged, "gen1ou")["history"]
    assert [point["x"] for point in history["heuristic:expert"]] == [0, 1]
    assert [point["x"] for point in history["random"]] == [1]


def test_an_agent_with_few_battles_is_left_out(tmp_path: Path) -> None:
    db = _made(tmp_path / "a.duckdb")
    made = MadeStore(tmp_path / "b.duckdb")
    made.run("s", ["heuristic:expert", "newcomer:N"])
    made.pair("s", "heuristic:expert", "newcomer:N", "WW")
    merged = merged_battles([db, made.write()], 20)
    assert merged.few == {"gen1ou": ["newcomer:N"]}
    assert "newcomer:N" not in {row["agent"] for row in standings(merged, "gen1ou")["ranking"]}
    with pytest.raises(BadInput, match="lower --min-battles"):
        merged_battles([db], 10_000)


def test_the_site_is_whole_and_loads_nothing_from_elsewhere(arena: Arena, tmp_path: Path) -> None:
    db, out = _made(tmp_path / "a.duckdb"), tmp_path / "site"
    said = arena("leaderboard", out, "--db", db)
    assert said.code == 0, said.err
    pages = sorted(out.rglob("*.html"))
    assert [str(page.relative_to(out)) for page in pages] == [
        "agents/heuristic-expert.html",
        "agents/heuristic-max-damage.html",
        "agents/random.html",
        "gen1ou.html",
        "index.html",
    ]
    for page in pages:
        read = Read(page.read_text("utf-8"))
        links = [value for tag, name, value in read.attributes if tag == "a" and name == "href"]
        assert len(links) > 3
        for link in links:
            place, _, anchor = link.partition("#")
            target = page if not place else Path(os.path.normpath(page.parent / place))
            assert target.is_file(), (page, link)
            assert not anchor or f'id="{anchor}"' in target.read_text("utf-8"), (page, link)
        assert not [value for _, name, value in read.attributes if name == "src" or "//" in value]
    numbers = json.loads((out / "leaderboard.json").read_text("utf-8"))
    assert [row["agent"] for row in numbers["formats"][0]["ranking"]] == _AGENTS
    assert arena("leaderboard", out, "--db", db).code == 0  # a site is written anew


def test_a_folder_of_other_things_is_not_overwritten(arena: Arena, tmp_path: Path) -> None:
    db, out = _made(tmp_path / "a.duckdb"), tmp_path / "site"
    out.mkdir()
    (out / "thesis.txt").write_text("years")
    said = arena("leaderboard", out, "--db", db)
    assert said.code == 2 and "is no folder of a leaderboard, and not empty" in said.err
    assert (out / "thesis.txt").read_text() == "years"
    said = arena("leaderboard", tmp_path / "other", "--db", db, "--format", "gen9ou")
    assert said.code == 2 and "has no battles that count; there are gen1ou" in said.err
