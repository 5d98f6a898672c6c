"""A summary says what the store holds: each number against battles that were counted by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.command_line import PROJECT
from support.made_store import MadeStore

from arena.report.counts import ReportCounts
from arena.report.runs import command, describe_run, describe_settings
from arena.report.strengths import elo_range
from arena.report.summary import summarize
from arena.report.summary_types import BestResponseSummary
from arena.store import Store, rows, writer_lock
from teamsets.errors import BadInput
from training.experiments.curriculum import lineage

Make = Callable[[], MadeStore]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    return lambda: MadeStore(tmp_path / "made.duckdb")


def only(entries: list[dict[str, Any]], **wanted: Any) -> dict[str, Any]:
    """The one entry with these values."""
    (found,) = [entry for entry in entries if all(entry[key] == value for key, value in wanted.items())]
    return found


def test_a_clear_ranking_is_said_to_be_clear(make: Make) -> None:
    made = make()
    made.run("r", ["strong", "middle", "weak"])
    for stronger, weaker in (("strong", "middle"), ("middle", "weak"), ("strong", "weak")):
        made.pair("r", stronger, weaker, "WW", count=40)
        made.pair("r", stronger, weaker, "WL", count=20)
        made.pair("r", stronger, weaker, "LL", count=2)
    summary = summarize(made.write(), "r")
    (said,) = summary["formats"]
    assert [row["agent"] for row in said["ranking"]] == ["strong", "middle", "weak"]
    for row in said["ranking"]:
        assert row["low"] <= row["elo"] <= row["high"]
    assert [row["games"] for row in said["ranking"]] == [248] * 3
    assert said["battles"] == 372
    cell = only(said["cross"], agent="strong", opponent="middle")
    assert (cell["battles"], cell["wins"], cell["losses"], cell["ties"]) == (124, 100, 24, 0)
    assert cell["score"] == pytest.approx(100 / 124, abs=1e-6)
    assert only(said["cross"], agent="middle", opponent="strong")["expected"] == pytest.approx(1 - cell["expected"])
    assert summary["findings"][0].startswith("strong is best in gen1ou: ")
    assert "above middle; P(better) > 99%, P(best) > 99%." in summary["findings"][0]
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_what_is_certain_and_what_is_not_is_said(make: Make) -> None:
    """One leader, two in the middle that nothing tells apart, one at the end."""
    made = make()
    made.run("r", ["best", "middle", "other", "worst"])
    for stronger, weaker in (("best", "middle"), ("best", "other"), ("middle", "worst"), ("other", "worst")):
        made.pair("r", stronger, weaker, "WW", count=30)
        made.pair("r", stronger, weaker, "LL", count=3)
    made.pair("r", "middle", "other", "WL", count=20)
    summary = summarize(made.write(), "r")
    (said,) = summary["formats"]
    assert [row["agent"] for row in said["ranking"]][::3] == ["best", "worst"]
    best = [row["best"] for row in said["ranking"]]
    assert best[0] > 0.99 and sum(best) == pytest.approx(1, abs=1e-3)
    middle = ", ".join(row["agent"] for row in said["ranking"][1:3])
    assert summary["findings"][1:3] == [
        f"Not separated, P(better than next) below 95%: ranks 2–3 ({middle}).",
        "5 of 6 pairs of agents are ordered with a probability of 95% or more.",
    ]


def test_an_open_race_is_said_to_be_open(make: Make) -> None:
    made = make()
    made.run("r", ["one", "other", "third"])
    made.pair("r", "one", "other", "WL", count=10)
    made.pair("r", "one", "third", "WL", count=10)
    made.pair("r", "other", "third", "WL", count=9)
    made.pair("r", "other", "third", "WT")
    best = summarize(made.write(), "r")["findings"][0]
    assert "2 others may be as good" in best and "is best" not in best


def test_ties_faults_limits_and_aborted_battles_count_as_they_should(make: Make) -> None:
    made = make()
    made.run("r", ["bad", "good"])
    made.pair("r", "bad", "good", "TX")
    made.pair("r", "bad", "good", "EA", detail="ValueError: <b>no</b>")
    made.pair("r", "bad", "good", "WL")
    summary = summarize(made.write(), "r")
    (said,) = summary["formats"]
    cell = only(said["cross"], agent="bad")
    assert (cell["battles"], cell["wins"], cell["losses"], cell["ties"]) == (5, 1, 2, 2)
    assert cell["score"] == pytest.approx(2 / 5)
    fault = only(said["faults"], kind="error")
    assert (fault["agent"], fault["battles"], fault["at_fault"]) == ("bad", 1, True)
    assert fault["example"] == {"battle_id": 3, "detail": "ValueError: <b>no</b>"}
    assert (
        not only(said["faults"], kind="turn-limit")["at_fault"] and not only(said["faults"], kind="aborted")["at_fault"]
    )
    assert "Lost by an own failure: bad 1 of 5 battles." in summary["findings"]
    assert any("counted for neither agent: 1 battle; " in note for note in summary["notes"])


def test_each_agent_has_its_moves_leads_turns_and_think_times(make: Make) -> None:
    made = make()
    made.run("r", ["a", "b"])
    made.pair("r", "a", "b", "WL", turns=8)
    for think_ms in (1.0, 2.0, 9.0):
        made.decide("move bodyslam", think_ms, seat="p2")  # in the second battle of a pair, `a` has the second seat
    made.decide("move fight", 1.0, seat="p2")
    made.decide("switch tauros", 1.0, seat="p1")
    made.pair("r", "a", "b", "WW", turns=30)
    made.decide("team 312", 5.0, seat="p2")
    (said,) = summarize(made.write(), "r")["formats"]
    a, b = (only(said["agents"], agent=agent) for agent in "ab")
    assert a["moves"] == [{"move": "Body Slam", "times": 3, "share": 1.0}] and b["moves"] == []
    assert (a["median_turns"], said["length"]["shortest"], said["length"]["longest"]) == (8, 8, 30)
    # `a` holds t-far in the first seat and t-near in the second, where it once led with the third of its three.
    assert {(e["lead"], e["battles"], e["score"]) for e in a["leads"]["leads"]} == {
        ("Alakazam", 2, 1.0),
        ("Starmie", 1, 0.0),
        ("Exeggutor", 1, 1.0),
    }
    think = only(said["think"], agent="a")
    assert (think["decisions"], think["median_ms"], think["max_ms"]) == (5, 2.0, 9.0)
    assert [row["agent"] for row in said["think"]] == ["a", "b"], "the slowest first"


def test_battles_of_earlier_runs_count_and_are_named(make: Make) -> None:
    made = make()
    made.run("old", ["a", "b"], started="2026-01-01 00:00:00+00")
    made.pair("old", "a", "b", "WW", count=3)
    made.run("new", ["a", "b"])
    made.pair("new", "a", "b", "WL")
    made.reuse_battles("new", "old")
    summary = summarize(made.write(), "new")
    assert summary["run"]["evidence"] == {"own": 2, "aborted": 0, "earlier": [{"run": "old", "battles": 6}]}
    assert any(note.startswith("6 of 8 battles were reused from 1 earlier run,") for note in summary["notes"])
    assert summary["formats"][0]["battles"] == 8
    assert ReportCounts(made.path, "old").sources() == [("old", 6, 0)]
    assert Store(made.path).points("new") == {"gen1ou": {("a", "b"): 7.0, ("b", "a"): 1.0}}, (
        "what a live display begins with"
    )


def test_what_a_reader_must_be_careful_about_is_said(make: Make) -> None:
    made = make()
    made.run("r", ["a", "b", "c", "d"], status="stopped", vague=["b"], git="0123456789abcdef+")
    made.pair("r", "a", "b", "WW", count=4)
    made.pair("r", "c", "d", "WL", count=4)
    made.write()
    notes = "\n".join(summarize(made.path, "r")["notes"])
    for words in (
        f"The run was stopped before its end; `arena evaluate --resume r --db {made.path}` continues it.",
        "Not repeatable, so their battles may differ in another run: b.",
        "The checkout had uncommitted changes on top of commit 0123456789:",
        "gen1ou: the median pairing has 8 battles",
        "gen1ou: not all agents are connected by battles",
        "gen1ou: ratings that are bounds, not estimates: ",
    ):
        assert words in notes


def test_a_run_without_a_living_process_was_killed_and_one_with_goes_on(make: Make) -> None:
    made = make()
    made.run("r", ["a", "b"], status="running")
    made.pair("r", "a", "b", "WL")
    made.write()
    assert describe_run(made.path, "r", [])["status"] == "killed"
    with writer_lock(made.path):
        summary = summarize(made.path, "r")
    assert summary["run"]["status"] == "running"
    assert any(note.startswith("The run is still in progress") for note in summary["notes"])


def test_a_run_in_which_nothing_was_finished_is_told_too(make: Make) -> None:
    made = make()
    made.run("r", ["a", "b"])
    assert summarize(made.path, "r")["findings"] == ["No battle was finished."]
    made.pair("r", "a", "b", "AA")
    summary = summarize(made.write(), "r")
    assert (summary["findings"], summary["formats"]) == (["No battle was finished."], [])
    assert any(": 2 battles; " in note for note in summary["notes"])


def test_team_sets_are_told_apart(make: Make) -> None:
    made = make()
    made.run("r", ["a", "b", "c"])
    for team_set, against_b in (("far", "WW"), ("near", "LL")):
        made.pair("r", "a", "b", against_b, count=12, team_set=team_set)
        made.pair("r", "a", "b", "WL", count=3, team_set=team_set)
        made.pair("r", "b", "c", "WL", count=12, team_set=team_set)
        made.pair("r", "a", "c", against_b, count=12, team_set=team_set)
        made.pair("r", "a", "c", "WL", count=3, team_set=team_set)
    summary = summarize(made.write(), "r")
    (said,) = summary["formats"]
    assert said["team_sets"] == ["far", "near"]
    assert only(said["by_team_set"], agent="a", team_set="far")["score"] == pytest.approx(54 / 60)
    assert only(said["cross_by_team_set"], agent="a", opponent="c", team_set="near")["score"] == pytest.approx(3 / 30)
    difference = only(said["set_differences"], agent="a")
    assert difference["clear"] and (difference["better_on"], difference["worse_on"]) == ("far", "near")
    assert 0 < difference["low"] < difference["elo"] < difference["high"]
    assert any(
        finding.startswith("a is ") and finding.endswith("Elo worse on `near` than on `far`.")
        for finding in summary["findings"]
    )


def test_the_anchor_has_1000_and_must_have_played(make: Make) -> None:
    made = make()
    made.run("r", ["a", "b", "c"], anchor="b")
    for one, other in ("ab", "bc", "ac"):
        made.pair("r", one, other, "WL", count=3)
    made.write()
    for anchor, expected in ((None, "b"), ("c", "c")):
        (said,) = summarize(made.path, "r", anchor=anchor)["formats"]
        assert said["anchor"] == expected
        assert only(said["ranking"], agent=expected)["elo"] == 1000
    with pytest.raises(BadInput, match=r"anchor 'nobody': has no battles in this run; choose one of a, b, c"):
        summarize(made.path, "r", anchor="nobody")
    with pytest.raises(BadInput, match=r"run 'x': not in .*; the latest runs are r"):
        summarize(made.path, "x")


def test_the_command_repeats_the_run() -> None:
    config = {
        "agents": ["random", "heuristic:staller?heal_under=0.5", "mine:New"],
        "formats": ["gen1ou", "gen9ou"],
        "team_sets": ["competitive", "my teams"],
        "schedule": "round-robin",
        "battles": 6,
        "minutes": 2.5,
        "seed": 3,
        "rules": {"think_limit": 10.0, "max_turns": 300},
        "challengers": ["mine:New"],
        "anchor": "random",
        "skip_invalid": True,
    }
    said = command("evaluate", config, Path("a.duckdb"))
    assert said == (
        "arena evaluate random 'heuristic:staller?heal_under=0.5' --format gen1ou --format gen9ou --teams competitive "
        "--teams 'my teams' --battles 6 --minutes 2.5 --challenger mine:New --anchor random --seed 3 --think-limit 10 "
        "--max-turns 300 --skip-invalid --db a.duckdb"
    )
    adaptive = command("evaluate", config | {"schedule": "adaptive", "budget": 500}, Path("arena.duckdb"))
    assert "--budget 500" in adaptive and "--battles" not in adaptive and "--db" not in adaptive
    assert "--venue server" in command("evaluate", config | {"venue": "server"}, Path("arena.duckdb"))
    one = {
        "agents": ["a", "b"],
        "formats": ["gen1ou"],
        "team_sets": ["variety"],
        "seed": 3,
        "fresh": True,
        "battles": 1,
    }
    usual = command("battle", one | {"rules": {"think_limit": 10.0, "max_turns": 1000}}, Path("arena.duckdb"))
    assert usual == "arena battle a b --format gen1ou --teams variety --seed 3"
    other = one | {"rules": {"think_limit": 1 / 3, "max_turns": 7}, "isolate": True}
    assert command("battle", other, Path("arena.duckdb")) == (
        f"{usual} --think-limit 0.3333333333333333 --max-turns 7 --isolate"
    )
    match = command("match", config | {"sprt": {"elo0": 0.0, "elo1": 30.0}, "challengers": []}, Path("arena.duckdb"))
    assert "--sprt elo0=0 elo1=30" in match and "--anchor" not in match and "--max-turns 300" in match


def test_settings_are_told_without_what_was_left_at_nothing() -> None:
    config = {
        "agents": ["a", "b"], "formats": ["gen1ou"], "team_sets": ["far"], "pools": [["gen1ou", "far", ["t"]]],
        "schedule": "round-robin", "battles": 6, "budget": None, "minutes": 2.5, "seed": 0, "quotas": [], "same_luck": False,
        "challengers": [], "anchor": "a", "sprt": None, "fresh": True, "rules": {"think_limit": 10.0, "max_turns": 300},
    }  # fmt: skip
    assert describe_settings(config) == (
        "schedule round-robin; battles per pairing and team set: 6; time limit in minutes: 2.5; seed 0; anchor a; "
        "fresh; time limit per decision in seconds: 10; turn limit: 300"
    )
    adaptive = describe_settings(
        config | {"schedule": "adaptive", "budget": 500, "sprt": {"elo0": 0.0, "model": "logistic"}}
    )
    assert "battles in total: 500" in adaptive and "per pairing" not in adaptive
    assert adaptive.endswith("SPRT elo0=0 model=logistic")


def test_a_picture_is_not_stretched_by_the_weakest() -> None:
    def row(elo: float, **more: Any) -> dict[str, Any]:
        return {"elo": elo, "low": elo - 20, "high": elo + 20, "games": 9, "mark": "", **more}

    strong = [row(1000 + 25 * number) for number in range(9)]
    assert elo_range([*strong, row(100)]) == (980, 1220), "far below all others: pointed at, not shown"
    assert elo_range([*strong, row(900)]) == (880, 1220)
    assert elo_range([row(100), row(1000), row(1025)]) == (80, 1045), "too few to say who is far off"
    assert elo_range([*strong, row(5000, mark="won all")]) == (980, 1220), "a bound is no measurement"
    assert elo_range([row(900, mark="lost all"), row(1100, mark="won all")]) == (880, 1120)


def test_really_played_battles_add_up(played: Path) -> None:
    (run_id, *_), *_ = rows("SELECT run_id FROM runs ORDER BY started, run_id", played)
    summary = summarize(played, run_id)
    assert [said["format"] for said in summary["formats"]] == ["gen1ou", "gen9ou"]
    for said in summary["formats"]:
        found = rows("SELECT count(*) FROM battles WHERE run_id = ? AND format = ?", played, [run_id, said["format"]])
        assert said["battles"] == found[0][0] == said["length"]["battles"]
        assert sum(cell["score"] * cell["battles"] for cell in said["cross"]) == pytest.approx(said["battles"])
        assert said["ranking"][0]["agent"] == "poke-env:SimpleHeuristicsPlayer"
        for agent in said["agents"]:
            assert agent["moves"] and agent["leads"]["leads"] and agent["teams"]["best"]
            assert agent["by_turn"][0]["battles"] == only(said["ranking"], agent=agent["agent"])["games"]
    gen1, gen9 = summary["formats"]
    assert not gen1["agents"][0]["leads"]["chosen"] and gen9["agents"][0]["leads"]["chosen"]


def test_every_key_is_explained(played: Path) -> None:
    """docs/report.md names every key of a summary of really played battles, and no others."""
    table = (
        (PROJECT / "docs" / "report.md")
        .read_text(encoding="utf-8")
        .partition("## The JSON file")[2]
        .partition("\n## ")[0]
    )
    explained = set(re.findall(r"`(\w+)`", table)) - {
        "null",
        "finished",
        "stopped",
        "running",
        "killed",
        "kept",
        "rejected",
        "battle",
    }
    run_ids = [run for (run,) in rows("SELECT run_id FROM runs", played)]
    summaries = [summarize(played, run_id) for run_id in run_ids]
    free = ("config", "versions")  # as the run has it
    there = set().union(*(keys(summary, free) for summary in summaries))
    assert there <= explained <= there | SELDOM


#: Keys that the played database may give no cause for: of earlier runs, of team sets, of cycles, of sweeps, of series.
SELDOM = {"run", "better_on", "worse_on", "clear", "bound", "sentence"}
SELDOM |= {"win_rates", "strength", "holds", "luck", "confidence"}
SELDOM |= {"best_of", "won", "lost", "tied", "unfinished", "scores", "battle_score"}
SELDOM |= {"server", "ratings", "elo_before", "elo_after", "glicko", "deviation"}
SELDOM |= {"base", "axis", "checkpoint", "lines", "label", "points", "x"}
#: And of a curriculum; `shares` and `gaps` are what its checkpoints tell.
SELDOM |= set().union(
    *(
        part.__annotations__
        for part in (lineage.Lineage, lineage.LineageAttempt, lineage.LineageGate, lineage.AttemptCosts)
    )
)
SELDOM |= {"team_sets", "shares", "gaps"}
#: And of best responses.
SELDOM |= set(BestResponseSummary.__annotations__)
#: And of a match.
SELDOM |= {"pairs", "points", "pentanomial", "value", "nelo", "los", "los_bound", "draw_ratio", "pair_ratio", "sprt"}
SELDOM |= {"elo0", "elo1", "alpha", "beta", "model", "unit", "llr", "lower", "upper", "decision", "verdict"}


def keys(value: Any, free: tuple[str, ...]) -> set[str]:
    """The keys of all dicts in a value; not those inside of `free` ones."""
    if isinstance(value, dict):
        return set(value) | set().union(*(keys(each, free) for key, each in value.items() if key not in free))
    if isinstance(value, list):
        return set().union(*(keys(each, free) for each in value))
    return set()


@pytest.mark.slow
def test_numbers_are_the_same_every_time(played: Path) -> None:
    (run_id, *_), *_ = rows("SELECT run_id FROM runs ORDER BY started, run_id", played)
    one, other = (summarize(played, run_id) | {"made": None} for _ in range(2))
    assert one == other
