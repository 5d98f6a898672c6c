"""--json: the result alone on stdout, as one document; and CSV of a report, and what completes commands in a shell."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.command_line import Said, run_arena

from arena.report.summary import summarize
from arena.store import rows

Arena = Callable[..., Said]


def _json(said: Said) -> Any:
    assert said.code == 0, said.err
    return json.loads(said.out)


def test_a_run_prints_the_report(arena: Arena, tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    words = ("random", "heuristic:max-power", "--format", "gen1randombattle", "--battles", 2, "--json", "--db", db)
    report = _json(arena("evaluate", *words))
    assert report["formats"][0]["battles"] == 2 and report["match"] is None
    assert {**report, "made": ""} == {**json.loads(json.dumps(summarize(db, report["run"]["id"]))), "made": ""}


@pytest.mark.slow
def test_a_match_prints_the_report(arena: Arena, tmp_path: Path) -> None:
    words = ("random", "heuristic:max-power", "--format", "gen1randombattle", "--battles", 2, "--json")
    assert _json(arena("match", *words, "--db", tmp_path / "arena.duckdb"))["match"]["battles"] == 2


def test_a_battle_is_its_story(arena: Arena, played: Path) -> None:
    query = "SELECT battle_id, p1, p2, turns FROM battles WHERE format = 'gen1ou' AND reason = 'win' LIMIT 1"
    ((battle, p1, p2, turns),) = rows(query, played)
    told = _json(arena("watch", battle, "--json", "--db", played))
    assert (told["id"], told["seats"]["p1"]["agent"], told["seats"]["p2"]["agent"]) == (battle, p1, p2)
    assert told["length"] == turns and told["turns"][-1]["turn"] == turns


def test_a_replay_that_is_equal_has_no_difference(arena: Arena, played: Path) -> None:
    found = _json(arena("replay", 1, "--json", "--db", played))
    assert found["difference"] is None and found["lines"] > 100 and found["has_logs"] is True


def test_lists_and_checks(arena: Arena, tmp_path: Path) -> None:
    sizes = _json(arena("teams", "list", "--format", "gen1ou", "--json"))
    assert sizes == [{"format": "gen1ou", **{name: size for name, size in sizes[0].items() if name != "format"}}]
    assert sizes[0]["competitive"] > 5
    shown = _json(arena("agents", "show", "heuristic:max-damage?risk=0.2", "--json"))
    assert shown["options"]["risk"] == 0.2 and shown["defaults"]["risk"] != 0.2 and shown["missing"] == ""
    assert all(each["ok"] for each in _json(arena("doctor", "--json")))
    said = arena("teams", "show", "competitive", "nobody", "--format", "gen1ou", "--json")
    assert said.code == 2 and "team 'nobody': not in competitive" in said.err
    bad = tmp_path / "bad.txt"
    bad.write_text("Mewtwo\n- Psychic\n")
    said = arena("teams", "validate", bad, "--format", "gen1ou", "--json")
    assert said.code == 2 and json.loads(said.out)["refused"]


def test_the_ranking_as_csv_has_a_line_an_agent(arena: Arena, played: Path) -> None:
    run = rows("SELECT max(run_id) FROM battles WHERE format = 'gen9ou'", played)[0][0]
    said = arena("report", run, "--csv", "-", "--db", played)
    lines = list(csv.DictReader(io.StringIO(said.out)))
    ranking = [(each["format"], row["agent"]) for each in summarize(played, run)["formats"] for row in each["ranking"]]
    assert [(line["format"], line["agent"]) for line in lines] == ranking
    assert all(float(line["low"]) <= float(line["elo"]) <= float(line["high"]) for line in lines)


def test_a_shell_is_told_the_commands(arena: Arena) -> None:
    for shell in ("bash", "zsh", "fish"):
        printed = arena("completion", shell).out
        assert "_ARENA_COMPLETE" in printed and "_TRAIN_COMPLETE" in printed
    found = run_arena("rep", _ARENA_COMPLETE="bash_complete", COMP_WORDS="arena rep", COMP_CWORD="1")
    assert {"plain,report", "plain,replay"} <= set(found.out.splitlines())
    subprocess.run(["bash", "-n"], input=arena("completion", "bash").out, text=True, check=True)
