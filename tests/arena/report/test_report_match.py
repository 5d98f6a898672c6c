"""A report of a match: the test's decision, LLR with its bounds, pentanomial and Elo, in every form."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from support.made_store import FAR, NEAR, MadeStore
from support.read_page import Read

from arena.fixture import FixtureTeam
from arena.ratings.pentanomial import match_summary, pair_counts
from arena.ratings.sprt import Sprt, SprtSettings, report_lines
from arena.report import html, markdown
from arena.report.summary import summarize
from arena.report.tables import print_summary
from arena.schedules.plan import Plan, numbered_pair

TEAMS = (FixtureTeam("t-far", "t-far", packed=FAR), FixtureTeam("t-near", "t-near", packed=NEAR))
SPRT: dict[str, Any] = {"elo0": 0.0, "elo1": 60.0, "alpha": 0.05, "beta": 0.05, "model": "normalized"}
#: What each pair brings the first agent.
LETTERS = {2.0: "WW", 1.5: "WT", 1.0: "WL", 0.5: "TL", 0.0: "LL"}


def made_match(path: Path, points: Sequence[float], *, sprt: dict[str, Any] | None = SPRT) -> MadeStore:
    """A match "m" of agents a and b with these points, pair by pair in the order of its schedule."""
    made = MadeStore(path)
    pools = [["gen1ou", "far", ["t-far", "t-near"]]]
    made.run("m", ["a", "b"], schedule="match", anchor="b", battles=400, sprt=sprt, pools=pools, quotas=[], rules={})
    plan = Plan(("a", "b"), {("gen1ou", "far"): TEAMS}, 400, 7)
    for number, value in enumerate(points):
        made.pair("m", "a", "b", LETTERS[value])
        for place, fixture in zip((-2, -1), numbered_pair(plan, ("gen1ou", "far"), ("a", "b"), number), strict=True):
            row = list(made.battles[place])
            row[2], row[3] = fixture.key, fixture.pair
            made.battles[place] = tuple(row)
    return made


def until_decided(points: Sequence[float]) -> Sprt:
    test = Sprt(SprtSettings(**SPRT))
    for value in points:
        if test.add(value):
            break
    return test


WINNING = [2.0, 1.5, 2.0, 1.0, 2.0, 0.5, 2.0, 1.5] * 20


def test_a_match_is_counted_as_it_counts_itself(tmp_path: Path) -> None:
    test = until_decided(WINNING)
    assert test.decision == "H1" and test.counts.sum() < len(WINNING)
    # Battles that were in the air when the test was decided, and of an earlier match with another seed: not of this match.
    made = made_match(tmp_path / "made.duckdb", WINNING[: int(test.counts.sum()) + 3])
    made.run("old", ["a", "b"], started="2026-01-01 00:00:00+00")
    made.pair("old", "a", "b", "LL", count=30)
    made.reuse_battles("m", "old")
    summary = summarize(made.write(), "m")
    match, known = summary["match"], match_summary(test.counts)
    assert match["pentanomial"] == test.counts.tolist() and match["agents"] == ["a", "b"]
    assert (match["pairs"], match["battles"], match["points"]) == (known.pairs, 2 * known.pairs, known.points)
    assert match["elo"]["value"] == pytest.approx(known.elo.value, abs=0.01)
    assert match["elo"]["low"] < match["elo"]["value"] < match["elo"]["high"]
    assert match["sprt"]["llr"] == pytest.approx(test.llr, abs=1e-4)
    assert (match["sprt"]["decision"], match["sprt"]["lower"], match["sprt"]["upper"]) == ("H1", -2.9444, 2.9444)
    assert (
        summary["findings"][0] == f"{match['sprt']['verdict']}." and "H1 accepted: a leads b" in summary["findings"][0]
    )


def test_every_form_of_the_report_has_the_verdict(tmp_path: Path) -> None:
    made = made_match(tmp_path / "made.duckdb", WINNING)
    summary = summarize(made.write(), "m")
    test = until_decided(WINNING)
    file = io.StringIO()
    print_summary(Console(file=file, width=200), summary)
    printed = file.getvalue()
    for line in report_lines("a", "b", test.counts, test.settings):
        assert line in printed, "what `arena match` ended with"
    assert printed.count("H1 accepted") == 1
    read = "".join(Read(html.render(summary, made.path, battles=0)).words)
    for text in (read, markdown.render(summary)):
        assert "H1 accepted" in text and f"{test.llr:.2f} (-2.94, 2.94)" in text
        assert ", ".join(map(str, test.counts)) in text and "H0: lead ≤ 0, H1: lead ≥ 60 nElo" in text


@pytest.mark.parametrize(("points", "pairs"), [([], 0), ([2.0], 1), ([1.0, 1.0], 2), ([0.0] * 3, 3), ([2.0] * 4, 4)])
def test_short_matches_have_finite_numbers_in_every_form(tmp_path: Path, points: list[float], pairs: int) -> None:
    made = made_match(tmp_path / "made.duckdb", points)
    summary = summarize(made.write(), "m")
    assert summary["match"]["pairs"] == pairs == int(pair_counts(points).sum())
    assert summary["match"]["sprt"]["decision"] is None and summary["match"]["sprt"]["verdict"].startswith(
        "Inconclusive"
    )
    text = markdown.render(summary) + "".join(Read(html.render(summary, made.path, battles=0)).words)
    print_summary(Console(file=io.StringIO(), width=100), summary)
    assert "inf" not in text.replace("information", "") and "nan" not in text.replace("finance", "")


def test_a_pair_that_is_not_finished_ends_the_count(tmp_path: Path) -> None:
    made = made_match(tmp_path / "made.duckdb", [2.0, 1.0, 2.0])
    del made.battles[3]  # a battle of the second pair was in the air when the run was killed
    assert summarize(made.write(), "m")["match"]["pentanomial"] == [0, 0, 0, 0, 1]


def test_without_a_test_there_is_no_verdict_and_another_run_is_no_match(tmp_path: Path) -> None:
    made = made_match(tmp_path / "made.duckdb", [2.0, 1.0, 1.5], sprt=None)
    made.run("other", ["a", "b"])
    made.pair("other", "a", "b", "WL", count=2)
    summary = summarize(made.write(), "m")
    assert summary["match"]["sprt"] is None and summary["match"]["pentanomial"] == [0, 0, 1, 1, 1]
    assert summary["findings"][0].startswith("a scores 75% against b in 3 pairs (6 battles): Elo +191 [")
    assert "LLR" not in markdown.render(summary) and "accepted" not in markdown.render(summary)
    assert summarize(made.path, "other")["match"] is None
