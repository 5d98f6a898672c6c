"""Sweeps in the report: checkpoints and options that are numbers, as lines over one axis."""

from __future__ import annotations

import io
import itertools
from pathlib import Path

import pytest
from rich.console import Console
from support.made_store import MadeStore
from support.read_page import Read

from arena.report import html, markdown
from arena.report.summary import summarize
from arena.report.summary_types import ReportSummary
from arena.report.sweeps import parameters
from arena.report.tables import print_summary

#: (step, temperature) from the weakest to the strongest.
_ORDER = [(10, 1.0), (10, 0.5), (20, 1.0), (20, 0.5), (30, 1.0), (30, 0.5)]


@pytest.fixture
def swept(tmp_path: Path) -> ReportSummary:
    """Checkpoints that get better with each step and with a lower temperature."""
    made = MadeStore(tmp_path / "arena.duckdb")
    agents = ["random", *(f"policy:runs/x@{step}?temperature={t:g}" for step, t in _ORDER)]
    made.run("r", agents, anchor="random")
    for (lower, weaker), (higher, stronger) in itertools.combinations(enumerate(agents), 2):
        made.pair("r", stronger, weaker, "WW", count=higher - lower)
        made.pair("r", stronger, weaker, "WL", count=4)
    return summarize(made.write(), "r")


def test_checkpoints_are_on_the_axis_and_temperatures_are_lines(swept: ReportSummary) -> None:
    (sweep,) = swept["formats"][0]["sweeps"]
    assert (sweep["base"], sweep["axis"], sweep["agents"]) == ("policy:runs/x", "checkpoint", 6)
    assert [line["label"] for line in sweep["lines"]] == ["temperature 0.5", "temperature 1"]
    for line in sweep["lines"]:
        assert [point["x"] for point in line["points"]] == [10, 20, 30]
        assert [point["elo"] for point in line["points"]] == sorted(point["elo"] for point in line["points"])
    ranked = {row["agent"]: row["elo"] for row in swept["formats"][0]["ranking"]}
    assert all(ranked[point["agent"]] == point["elo"] for line in sweep["lines"] for point in line["points"])
    assert "the best is policy:runs/x@30?temperature=0.5" in sweep["sentence"]
    assert sweep["sentence"] in swept["findings"]


def test_the_page_the_terminal_and_markdown_show_it(swept: ReportSummary, tmp_path: Path) -> None:
    page = html.render(swept, tmp_path / "arena.duckdb", battles=0)
    read = Read(page)
    assert "gen1ou-sweeps" in read.ids()
    assert sum(name == "class" and value.startswith("dot line") for _, name, value in read.attributes) == 6
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    print_summary(console, swept)
    assert isinstance(console.file, io.StringIO)
    assert "gen1ou: Elo of policy:runs/x by checkpoint" in console.file.getvalue()
    assert "| checkpoint | temperature 0.5 | temperature 1 |" in markdown.render(swept)


def test_agents_that_differ_in_more_than_numbers_are_no_sweep(tmp_path: Path) -> None:
    made = MadeStore(tmp_path / "arena.duckdb")
    made.run("r", ["x:A?t=1", "x:A?t=2", "x:B?t=3"])
    made.pair("r", "x:A?t=1", "x:A?t=2", "WL", count=4)
    made.pair("r", "x:A?t=1", "x:B?t=3", "WL", count=4)
    assert summarize(made.write(), "r")["formats"][0]["sweeps"] == []


@pytest.mark.parametrize(
    ("spec", "base", "numbers"),
    [
        (
            "policy:runs/x@10?temperature=0.5&device=cpu",
            "policy:runs/x?device=cpu",
            {"checkpoint": 10, "temperature": 0.5},
        ),
        ("policy:runs/x/checkpoints/step-000000020", "policy:runs/x", {"checkpoint": 20}),
        ("policy:runs/x@best", "policy:runs/x@best", {}),
        ("search:mcts?ms=100", "search:mcts", {"ms": 100}),
    ],
)
def test_the_numbers_of_a_spec(spec: str, base: str, numbers: dict[str, float]) -> None:
    assert parameters(spec) == (base, numbers)
