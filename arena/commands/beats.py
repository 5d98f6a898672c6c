"""`arena beats`: what beats an agent, by opponent, by team, by lead, by length."""

from __future__ import annotations

from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from arena.report.matchups import MatchupRow, Matchups, matchups
from arena.report.numbers import counted, interval, percent_of
from arena.report.printing import print_text, print_whole
from arena.report.seat_battles import FEW_PAIRS, GROUPS
from arena.store.recover import recover
from arena.terminal.commands import db_option, print_csv, print_json, shape_options
from arena.terminal.console import Console


@click.command()
@click.argument("agent", metavar="AGENT")
@click.option("--by", type=click.Choice(list(GROUPS)), default="opponent", show_default=True,
              help="opponent; species or lead of the opponent's (own-…: its own) team; length; team set.")  # fmt: skip
@click.option(
    "--against", multiple=True, metavar="PATTERN", help="Only against this opponent; * for any text. Can be repeated."
)
@click.option("--format", "format_id", metavar="F", help="The format.  [default: the only one that it has battles in]")
@click.option("--min-battles", type=click.IntRange(1), default=10, show_default=True, metavar="N",
              help="Leave out groups with fewer battles.")  # fmt: skip
@click.option("--run", metavar="RUN", help="Only battles that count for this run.  [default: all stored battles]")
@shape_options()
@db_option
def beats(
    agent: str,
    by: str,
    against: tuple[str, ...],
    format_id: str | None,
    min_battles: int,
    run: str | None,
    shape: str,
    db: Path,
) -> None:
    """Show what beats AGENT: its win rates, worst first.

    Over all stored battles of a format, whatever run played them. A * marks groups whose win rate differs from that of all
    other battles at a false discovery rate of 5%.

    \b
    Examples:
      arena beats heuristic:expert
      arena beats policy:gen1ou --by species --format gen1ou --against heuristic:expert
      arena beats policy:gen1ou --by length --json
    """
    recover(db)
    found = matchups(db, agent, format_id, by, against=against, least=min_battles, run=run)
    if shape == "json":
        print_json(found)
    elif shape == "csv":
        print_csv(MatchupRow.__annotations__, found["rows"])
    else:
        _print(Console(), found, min_battles)


def _print(console: Console, found: Matchups, least: int) -> None:
    battles = f"wins {percent_of(found['score'])}% of {counted(found['battles'], 'battle')}"
    title = f"{found['agent']} in {found['format']}: {battles}; by {found['by']}, worst first"
    print_text(console, title)
    table = Table()
    for head in (found["by"], "wins %", "95%", "rest %", "pairs", "battles"):
        table.add_column(head, justify="left" if head == found["by"] else "right")
    for row in found["rows"]:
        mark = " *" if row["clear"] else ""
        cells = (f"{percent_of(row['score'])}{mark}", interval(row["low"], row["high"]), percent_of(row["rest"]))
        pairs = f"{row['pairs']:,}{' (few)' if row['few'] else ''}"
        table.add_row(Text(row["group"]), *cells, pairs, f"{row['battles']:,}")
    print_whole(console, table)
    console.print("* differs from the rest (false discovery rate 5%)", highlight=False)
    if any(row["few"] for row in found["rows"]):
        console.print(f"(few): fewer than {FEW_PAIRS} pairs of battles", highlight=False)
    if found["left_out"]:
        console.print(
            f"Left out: {counted(found['left_out'], 'group')} with fewer than {least} battles", highlight=False
        )
