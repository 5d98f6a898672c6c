"""`arena sql`: queries the battle database."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import pandas
from rich.table import Table
from rich.text import Text

from arena.report.printing import print_whole
from arena.store import frame
from arena.store.recover import recover
from arena.terminal.commands import db_option, shape_options
from arena.terminal.console import Console
from arena.terminal.output import shown_in_json


@click.command()
@click.argument("query")
@shape_options("Print JSON, one object per row.")
@db_option
def sql(query: str, shape: str, db: Path) -> None:
    """Run a read-only SQL QUERY on the battle database. Works while a run is in progress.

    Tables: runs, agents, teams, battles, decisions. Views: results, head_to_head, faults, team_results; docs/sql.md
    explains them.

    \b
    Examples:
      arena sql "SELECT agent, avg(score) FROM results GROUP BY agent ORDER BY 2 DESC"
      arena sql "SELECT * FROM faults" --csv
    """
    recover(db)
    answer = frame(query, db)
    if shape == "csv":
        answer.to_csv(sys.stdout, index=False)
    elif shape == "json":
        print(shown_in_json(answer.to_json(orient="records", date_format="iso", lines=False, default_handler=str)))
    else:
        _print_table(answer)


def _print_table(answer: pandas.DataFrame) -> None:
    table = Table()
    for name, kind in answer.dtypes.items():
        table.add_column(Text(str(name)), justify="right" if pandas.api.types.is_numeric_dtype(kind) else "left")
    for row in answer.itertuples(index=False):
        table.add_row(*(Text(_cell(value)) for value in row))
    console = Console()
    print_whole(console, table)
    console.print(f"{len(answer):,} row{'s' * (len(answer) != 1)}", highlight=False)


def _cell(value: object) -> str:
    if value is None or value is pandas.NaT or value is pandas.NA:
        return ""
    if isinstance(value, float):
        return "" if pandas.isna(value) else f"{value:.4g}" if abs(value) < 1e6 else f"{value:.0f}"
    if isinstance(value, bytes | bytearray):
        return f"<{len(value)} bytes>"
    return str(value)
