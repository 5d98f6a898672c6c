"""`arena report`: the results of a run, in the terminal or as a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from arena.ratings.evidence import BASE
from arena.report import html, markdown
from arena.report.evidence import latest_run
from arena.report.exploitability import strongest
from arena.report.games import games
from arena.report.page.battles import DEFAULT
from arena.report.summary import summarize
from arena.report.summary_types import BestResponseSummary, RankingRow, ReportSummary
from arena.report.tables import print_summary
from arena.store.recover import recover
from arena.terminal.commands import db_option, json_text
from arena.terminal.console import Console
from arena.terminal.targets import TARGET, check_target, write_target
from teamsets.errors import BadInput


class _Battles(click.ParamType):
    """A number, or "all", which becomes None."""

    name = "N|all"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        if value == "all":
            return None
        try:
            count = int(str(value))
        except ValueError:
            count = -1
        if count < 0:
            self.fail(f"{value}: give a number of battles, or all", param, ctx)
        return count


@click.command()
@click.argument("run", metavar="[RUN]", required=False)
@click.option("--html", "html_path", type=TARGET, metavar="PATH", help="Write one self-contained HTML file.")
@click.option("--markdown", "markdown_path", type=TARGET, metavar="PATH", help="Write Markdown; - for stdout.")
@click.option("--json", "json_path", type=TARGET, metavar="PATH", help="Write all numbers as JSON; - for stdout.")
@click.option("--csv", "csv_path", type=TARGET, metavar="PATH", help="Write the rankings as CSV; - for stdout.")
@click.option("--pgn", "pgn_path", type=TARGET, metavar="PATH", help="Write the battles as PGN, for Ordo and BayesElo.")
@click.option("--format", "format_id", metavar="F", help="Only this format.  [default: all of the run]")
@click.option("--anchor", metavar="AGENT", help=f"Agent whose rating is fixed at {BASE:g}.  [default: the run's]")
@click.option(
    "--battles",
    type=_Battles(),
    default=str(DEFAULT),
    show_default=True,
    metavar="N|all",
    help="Number of battles to include in the HTML file's viewer.",
)
@db_option
def report(
    run: str | None,
    html_path: Path | None,
    markdown_path: Path | None,
    json_path: Path | None,
    csv_path: Path | None,
    pgn_path: Path | None,
    format_id: str | None,
    anchor: str | None,
    battles: int | None,
    db: Path,
) -> None:
    """Print a run's results, or write them as a page.

    RUN: by default the latest. The results are rankings with 95% intervals, head-to-head results, team sets and faults.

    Also works while the run is in progress. Without options the report is printed. docs/report.md explains each number.

    \b
    Examples:
      arena report
      arena report --html report.html
      arena report 20261121-183401 --anchor random --markdown - --json report.json
      arena report --csv ranking.csv --pgn games.pgn --format gen1ou
    """
    recover(db)
    for path in (html_path, markdown_path, json_path, csv_path, pgn_path):
        check_target(path)
    run_id = run or latest_run(db)
    summary = summarize(db, run_id, anchor=anchor, only=format_id)
    if pgn_path is not None:
        formats = [each["format"] for each in summary["formats"]]
        if len(formats) != 1:
            known = f"it has {', '.join(formats)}: choose one with --format" if formats else "it has no battle"
            raise BadInput(f"--pgn: the games of a file are of one format, and of run {run_id} {known}")
        write_target(pgn_path, lambda: "".join(games(db, run_id, formats[0])))
    if html_path is not None:
        write_target(html_path, lambda: html.render(summary, db, battles=battles))
    if markdown_path is not None:
        write_target(markdown_path, lambda: markdown.render(summary))
    if json_path is not None:
        write_target(json_path, lambda: json_text(summary))
    if csv_path is not None:
        write_target(csv_path, lambda: _csv(summary))
    if html_path is markdown_path is json_path is csv_path is pgn_path is None:
        print_summary(Console(), summary)


#: Key of a best response -> its column.
_EXPLOITED = {"score": "exploited", "low": "exploited_low", "high": "exploited_high", "decisions": "exploited_by"}


def _exploited(found: BestResponseSummary | None) -> dict[str, float | None]:
    contents: Mapping[str, Any] = found or {}
    return {column: contents.get(key) for key, column in _EXPLOITED.items()}


def _csv(summary: ReportSummary) -> str:
    """The rankings of all formats, a line an agent, with the score of the best response to it where there is one."""
    exploited = {(each["agent"], each["format"]): each for each in strongest(summary["exploitability"])}
    lines = [
        {
            "format": each["format"],
            **row,
            "nash": row["nash"] and row["nash"]["mean"],
            **_exploited(exploited.get((row["agent"], each["format"]))),
        }
        for each in summary["formats"]
        for row in each["ranking"]
    ]
    written = io.StringIO()
    writer = csv.DictWriter(written, ["format", *RankingRow.__annotations__, *_EXPLOITED.values()], lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return written.getvalue()
