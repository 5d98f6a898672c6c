"""`arena report`: the results of a run, in the terminal or as a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import click

from arena.ratings.evidence import BASE
from arena.report import html, markdown
from arena.report.evidence import latest_run
from arena.report.page.battles import DEFAULT
from arena.report.summary import summarize
from arena.report.tables import print_summary
from arena.store.recover import recover
from arena.terminal.commands import db_option
from arena.terminal.console import Console
from teamsets.atomic import check_writable, write_atomic
from teamsets.errors import BadInput

_TARGET = click.Path(path_type=Path, dir_okay=False, allow_dash=True)
STDOUT = Path("-")


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
@click.option("--html", "html_path", type=_TARGET, metavar="PATH", help="Write one self-contained HTML file.")
@click.option("--markdown", "markdown_path", type=_TARGET, metavar="PATH", help="Write Markdown; - for stdout.")
@click.option("--json", "json_path", type=_TARGET, metavar="PATH", help="Write all numbers as JSON; - for stdout.")
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
    """
    recover(db)
    for path in (html_path, markdown_path, json_path):
        if path not in (None, STDOUT):
            _check(path)
    summary = summarize(db, run or latest_run(db), anchor=anchor)
    if html_path is not None:
        _write(html_path, lambda: html.render(summary, db, battles=battles))
    if markdown_path is not None:
        _write(markdown_path, lambda: markdown.render(summary))
    if json_path is not None:
        _write(json_path, lambda: json.dumps(summary, ensure_ascii=False, indent=1) + "\n")
    if (html_path, markdown_path, json_path) == (None, None, None):
        print_summary(Console(), summary)


def _check(path: Path) -> None:
    """Raises BadInput, before the work, if a file of that name cannot be written."""
    try:
        check_writable(path)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}: give a file in a writable folder") from None


def _write(path: Path, make: Callable[[], str]) -> None:
    """Writes the file atomically, or prints it to stdout."""
    text = make()
    if path == STDOUT:
        click.echo(text, nl=False)
        return
    try:
        write_atomic(path, text)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}: give another file") from None
    click.echo(f"{path}: {len(text.encode()) / 1e6:.2f} MB", err=True)
