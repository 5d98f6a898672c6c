"""What the terminal shows, as files in tests/snapshots: rankings, matches, faults, progress, lists, help."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from rich.console import Console
from support.command_line import PROJECT, Said
from support.made_store import MadeStore
from support.snapshots import Compare

from arena import cli as arena_line
from arena.commands import doctor
from arena.ratings.sprt import SprtSettings, report_lines
from arena.report import live
from arena.report.summary import summarize
from arena.report.tables import print_summary
from arena.workers.progress import RunProgress
from teamsets.errors import ArenaError
from training import cli as training_line

Make = Callable[[], MadeStore]


def screen(width: int | None) -> Console:
    """A terminal of so many columns, without colours; None: a file or a pipe."""
    if width is None:
        return Console(file=io.StringIO(), force_terminal=False)
    return Console(file=io.StringIO(), width=width, height=40, force_terminal=True, color_system=None, highlight=False)


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def report(db: Path, run_id: str, width: int | None) -> str:
    console = screen(width)
    print_summary(console, summarize(db, run_id))
    return shown(console)


@pytest.fixture(autouse=True)
def without_openspiel(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ranking has a column more with it."""
    monkeypatch.setattr("arena.report.strengths.is_installed", lambda: False)


@pytest.fixture
def made(tmp_path: Path) -> MadeStore:
    return MadeStore(tmp_path / "arena.duckdb")


def of_four(made: MadeStore) -> Path:
    """Four agents on two team sets; one fails sometimes."""
    agents = ["policy:runs/gen1@best", "heuristic:expert", "heuristic:max-damage", "random"]
    made.run("r", agents, team_sets=["far", "near"], anchor="random")
    strength = {agent: place for place, agent in enumerate(reversed(agents))}
    for number, stronger in enumerate(agents):
        for weaker in agents[number + 1 :]:
            lead = strength[stronger] - strength[weaker]
            for team_set, wins in (("far", 6 + 3 * lead), ("near", 4 + 4 * lead)):
                made.pair("r", stronger, weaker, "WW", count=wins, team_set=team_set)
                made.pair("r", stronger, weaker, "WL", count=6, team_set=team_set)
                made.pair("r", stronger, weaker, "LL", count=3, team_set=team_set)
    made.pair("r", "heuristic:max-damage", "random", "EW", count=2, detail="KeyError: 'charizard' at my_agent.py:12")
    made.pair("r", "heuristic:expert", "random", "XA", count=1)
    return made.write()


@pytest.mark.parametrize("width", [160, 80, None], ids=["wide", "narrow", "file"])
def test_the_report_of_a_tournament(made: MadeStore, width: int | None, same: Compare) -> None:
    name = {160: "wide terminal", 80: "narrow terminal", None: "file"}[width]
    same(f"report, {name}", report(of_four(made), "r", width))


@pytest.mark.parametrize("width", [150, 120, 100, 80, 60, 50])
def test_ranks_and_ratings_are_never_cut(made: MadeStore, width: int) -> None:
    """The picture is left out first; names are folded last."""
    lines = report(of_four(made), "r", width).splitlines()
    end = next(place for place, line in enumerate(lines) if line.startswith("└"))
    table = [line for line in lines[:end] if line.startswith("│")]
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in table]
    ranked = [row for row in cells if row[0]]
    assert [(row[0], row[2]) for row in ranked] == [("1", "1230"), ("2", "1153"), ("3", "1074"), ("4", "1000")]
    assert ranked[0][3] == "1160 – 1299" and "…" not in "".join(lines[:10])
    assert ("├" in table[0]) == (width >= 120) and ("99%" in ranked[0]) == (width >= 80)


def test_the_report_of_agents_that_no_battle_links_and_of_perfect_scores(made: MadeStore, same: Compare) -> None:
    made.run("r", ["a", "b", "c", "d"], anchor="a")
    made.pair("r", "a", "b", "WW", count=10)
    made.pair("r", "c", "d", "WL", count=10)
    same("report, two groups", report(made.write(), "r", 120))


def test_the_report_of_a_run_without_battles(made: MadeStore, same: Compare) -> None:
    made.run("r", ["a", "b"], status="running")
    same("report, no battles", report(made.path, "r", 120), {re.escape(str(made.path)): "arena.duckdb"})


@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        ("H1", (2, 10, 60, 90, 60)),
        ("H0", (60, 90, 60, 10, 2)),
        ("undecided", (3, 8, 20, 9, 4)),
        ("no battles", (0,) * 5),
    ],
)
def test_the_lines_of_a_match(name: str, pairs: tuple[int, ...], same: Compare) -> None:
    lines = report_lines("policy:runs/gen1@best", "heuristic:expert", pairs, SprtSettings(elo0=0, elo1=30))
    same(f"match, {name}", "\n".join(lines))


def test_the_lines_of_a_match_without_a_test(same: Compare) -> None:
    same("match, no test", "\n".join(report_lines("a", "b", (1, 4, 9, 5, 2), None)))


def progress(**more: Any) -> RunProgress:
    values: dict[str, Any] = {
        "total": 1200, "known": 100, "played": 200, "turns": 9000, "anchor": "random", "began": 900.0, "now": lambda: 1000.0,
        "wins": Counter({"heuristic:expert": 150, "random": 30}), "games": Counter({"heuristic:expert": 200, "random": 200}),
        "points": {"gen1ou": {("heuristic:expert", "random"): 150.0, ("random", "heuristic:expert"): 50.0}},
        "faults": Counter({"random": 4}), "aborted": 1, "remark": "interval of the leader ±38 Elo",
    }  # fmt: skip
    return RunProgress(**(values | more))


@pytest.mark.parametrize(
    ("name", "seconds", "changes"),
    [
        ("under way", None, {}),
        ("first moment", None, {"known": 0, "played": 0, "wins": Counter(), "games": Counter(), "faults": Counter(),
                                "points": {}, "aborted": 0, "remark": ""}),
        ("time limit", 300.0, {"total": None}),
    ],
)  # fmt: skip
def test_the_line_of_a_run(name: str, seconds: float | None, changes: dict[str, Any], same: Compare) -> None:
    console = screen(None)
    live.Lines(console, seconds).close(progress(**changes))
    same(f"progress line, {name}", shown(console))


def test_the_live_table_of_a_run(same: Compare) -> None:
    for width, name in ((120, "wide"), (60, "narrow")):
        console = screen(width)
        display = live.LiveTable(console, None)
        drawn = screen(width)
        drawn.print(display._draw(progress()))
        display.abandon()
        same(f"live table, {name}", shown(drawn))


#: What `arena doctor` finds where all is installed.
FOUND: dict[str, str | ArenaError] = {
    "python": "3.11.7 (/home/me/arena/.venv/bin/python)",
    "node": "v20.20.2 (/usr/bin/node)",
    "pokemon-showdown": "0.11.10 (/home/me/arena/node_modules/pokemon-showdown)",
    "poke-env": "0.16.1",
    "duckdb": "1.4.1, a database can be written",
    "simulator": "played a battle of 31 turns in 0.42 s",
    "cores": "2 of 4 usable",
}
MISSING = {
    "node": ArenaError("Node.js 20 or newer is needed and 'node' was not found: install it from nodejs.org"),
    "simulator": ArenaError("the simulator's process has ended"),
}


def finding(found: str | ArenaError) -> Callable[[], str]:
    def check() -> str:
        if isinstance(found, ArenaError):
            raise found
        return found

    return check


@pytest.mark.parametrize(("name", "found"), [("all found", FOUND), ("parts missing", FOUND | MISSING)])
def test_the_doctor(
    name: str, found: dict[str, str | ArenaError], same: Compare, capsys: pytest.CaptureFixture[str]
) -> None:
    assert list(found) == list(doctor.CHECKS)
    checks = {check: finding(answer) for check, answer in found.items()}
    fine = doctor.report(checks, "not installed (needed for training only; see docs/install.md)")
    assert fine == (found is FOUND)
    same(f"doctor, {name}", capsys.readouterr().out)


def test_the_list_of_teams(arena: Callable[..., Said], same: Compare) -> None:
    said = arena("teams", "list")
    assert said.code == 0, said.err
    same("teams list", said.out)


def test_queries(arena: Callable[..., Said], made: MadeStore, same: Compare) -> None:
    db = of_four(made)
    query = (
        "SELECT agent, count(*) AS n, avg(score) AS mean, max(NULL) AS nothing FROM results GROUP BY 1 ORDER BY 3 DESC"
    )
    for shape in ("--table", "--csv", "--json"):
        same(f"sql {shape}", arena("sql", query, shape, "--db", db).out)


def commands(group: click.Group, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield path
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name)


PROGRAMS = {"arena": arena_line.cli, "train": training_line.cli}
PATHS = [path for name, group in PROGRAMS.items() for path in commands(group, (name,))]


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_help(path: tuple[str, ...], same: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    program, *words = path
    done = CliRunner().invoke(PROGRAMS[program], [*words, "--help"], prog_name=program, terminal_width=100)
    assert done.exit_code == 0
    same(f"help, {' '.join(path)}", done.output, {re.escape(str(PROJECT)): "PROJECT"})


GROUPS = sorted({path[:end] for path in PATHS for end in range(1, len(path))})


@pytest.mark.parametrize("path", GROUPS, ids=" ".join)
def test_a_list_of_commands_is_not_cut_at_80_characters(path: tuple[str, ...]) -> None:
    program, *words = path
    shown = CliRunner().invoke(PROGRAMS[program], [*words, "--help"], prog_name=program, terminal_width=80).output
    _, heading, listed = shown.partition("Commands:")
    assert heading and not [line for line in listed.splitlines() if line.endswith("...")]
