"""`arena rate`: ratings with intervals for results that others published."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
import pandas
from rich.table import Table
from rich.text import Text

from arena.ratings.evidence import BASE, Evidence, counted_evidence
from arena.ratings.sprt import SprtSettings, decide, llr, parse_sprt, verdict
from arena.report.findings import standings
from arena.report.printing import print_text, print_whole, prose
from arena.report.result_tables import ResultTable, read_results
from arena.report.strengths import strengths_of
from arena.report.summary_types import RankedFormat, RankingRow
from arena.report.tables import print_ranking
from arena.terminal.commands import print_json, shape_options
from arena.terminal.console import Console
from teamsets.errors import BadInput

_SCORES = np.array([0.0, 0.5, 1.0])


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--anchor", metavar="PLAYER", help=f"Player whose rating is fixed at {BASE:g}.  [default: most battles]")
@click.option("--test", nargs=2, metavar="A B", help="Also test whether A is stronger than B (SPRT).")
@click.option("--sprt", multiple=True, metavar="KEY=VALUE", help="Settings of the test, as of `arena match`: elo1=30.")
@shape_options("Print all numbers as JSON.")
def rate(file: Path, anchor: str | None, test: tuple[str, str] | None, sprt: tuple[str, ...], shape: str) -> None:
    """Rate the players of a table of results, with 95% intervals.

    FILE: CSV, TSV or JSON with the columns a, b, wins, losses, ties; PGN; or a leaderboard of the PokéAgent Challenge.
    docs/ratings.md explains the numbers. Ratings that the file gives stand beside ours.

    \b
    Examples:
      arena rate results.csv
      arena rate gen1ou.tsv --test PAC-PA-Agent PAC-MM-Mystery --sprt elo1=30
      arena rate games.pgn --json
    """
    if sprt and not test:
        raise BadInput("--sprt: is about --test A B: give both")
    settings = parse_sprt(sprt)
    table = read_results(file)
    ranked = _ranked(table, file.name, anchor)
    lines = [] if test is None else _test(table, *test, settings)
    if shape == "json":
        print_json({**ranked, "published": table.published, "notes": table.notes, "test": lines})
    elif shape == "csv":
        _frame(ranked["ranking"], table).to_csv(sys.stdout, index=False)
    else:
        _print(Console(), ranked, table, lines)


def _ranked(table: ResultTable, name: str, anchor: str | None) -> RankedFormat:
    """Each battle is evidence of its own: whether two were a pair is not known."""
    pairs = [(a, b, score, 1, "", count) for (a, b, score), count in sorted(table.meetings.items())]
    evidence: Evidence = counted_evidence(pairs)
    if anchor is not None and anchor not in evidence.agents:
        raise BadInput(f"--anchor {anchor}: is not in {name}; it has {', '.join(evidence.agents)}")
    if anchor is None:
        _, games = evidence.tables()
        anchor = evidence.agents[int(games.sum(axis=1).argmax())]
    strengths = strengths_of(evidence, table.battles(), anchor=anchor)
    return {**strengths, "format": name, "battles": len(evidence)}


def _test(table: ResultTable, first: str, second: str, settings: SprtSettings) -> list[str]:
    known = {name for a, b, _ in table.meetings for name in (a, b)}
    for name in (first, second):
        if name not in known:
            raise BadInput(f"--test {name}: is not in the file; it has {', '.join(sorted(known))}")
    counts = [
        table.meetings[(first, second, score) if first < second else (second, first, 1 - score)]
        for score in _SCORES.tolist()
    ]
    value = float(llr(counts, settings, _SCORES))
    lower, upper = settings.bounds
    losses, ties, wins = counts
    return [
        f"{first} against {second}: {wins:,} won, {losses:,} lost, {ties:,} tied",
        f"LLR: {value:.2f} ({lower:.2f}, {upper:.2f}) [{settings.elo0:.2f}, {settings.elo1:.2f}] {settings.unit}",
        verdict(first, second, decide(value, settings), settings),
    ]


def _frame(ranking: Sequence[RankingRow], table: ResultTable) -> pandas.DataFrame:
    """A line a player: our rating, and those of the file."""
    published = [table.published.get(row["agent"], {}) for row in ranking]
    frame = pandas.DataFrame(ranking).drop(columns=["about", "nash"])
    for key in ("elo", "glicko", "deviation"):
        if any(key in each for each in published):
            frame[f"published_{key}"] = [each.get(key) for each in published]
    return frame


def _print(console: Console, ranked: RankedFormat, table: ResultTable, lines: Sequence[str]) -> None:
    print_ranking(console, ranked)
    for sentence in standings(ranked):
        print_text(console, "• ", prose(sentence))
    console.print()
    if any("elo" in each for each in table.published.values()):
        _print_published(console, ranked["ranking"], table)
    for line in lines:
        print_text(console, line)
    for note in table.notes:
        print_text(console, f"Note: {note}")


def _print_published(console: Console, ranking: Sequence[RankingRow], table: ResultTable) -> None:
    """The file's own order beside ours."""
    known = [row for row in ranking if "elo" in table.published.get(row["agent"], {})]
    by_elo = sorted(known, key=lambda row: -table.published[row["agent"]]["elo"])
    places = {row["agent"]: place for place, row in enumerate(by_elo, 1)}
    rows = Table()
    for column in ("rank", "player", "published", "Elo", "Glicko, 95%"):
        rows.add_column(column, justify="left" if column == "player" else "right", overflow="fold")
    console.print("The file's own ranks and ratings beside our ranks", highlight=False)
    for row in known:
        given = table.published[row["agent"]]
        reach = (
            f"{given['glicko']:.0f} ± {1.96 * given['deviation']:.0f}" if {"glicko", "deviation"} <= set(given) else ""
        )
        rows.add_row(str(row["rank"]), Text(row["agent"]), str(places[row["agent"]]), f"{given['elo']:.0f}", reach)
    print_whole(console, rows)
