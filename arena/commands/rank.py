"""`arena rank`: agents ranked by their results against a chosen set of opponents."""

from __future__ import annotations

from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from arena.report.conditional import ConditionalGroup, ConditionalRanking, ConditionalRow, conditional_ranking
from arena.report.numbers import counted, interval, percent, percent_of
from arena.report.printing import print_text, print_whole
from arena.report.seat_battles import FEW_PAIRS, GROUPS
from arena.store.recover import recover
from arena.terminal.commands import db_option, print_csv, print_json, shape_options
from arena.terminal.console import Console
from teamsets.errors import BadInput

_NAMED = 5  # at most so many opponents are named above the table


@click.command()
@click.option("--against", multiple=True, metavar="PATTERN",
              help="Opponents: an agent, or a pattern such as 'heuristic:*'. Can be repeated.  [default: all]")  # fmt: skip
@click.option("--by", type=click.Choice([name for name in GROUPS if name != "opponent"]),
              help="A ranking for each species or lead of the opponent's (own-…: own) team, length, team set.")  # fmt: skip
@click.option(
    "--only", multiple=True, metavar="GROUP", help="With --by: only this group (* for any text). Can be repeated."
)
@click.option("--format", "format_id", metavar="F", help="The format.  [default: the only one with battles]")
@click.option("--run", metavar="RUN", help="Only battles that count for this run.  [default: all stored battles]")
@click.option("--min-battles", type=click.IntRange(1), default=10, show_default=True, metavar="N",
              help="Leave out agents with fewer such battles.")  # fmt: skip
@shape_options()
@db_option
def rank(
    against: tuple[str, ...],
    by: str | None,
    only: tuple[str, ...],
    format_id: str | None,
    run: str | None,
    min_battles: int,
    shape: str,
    db: Path,
) -> None:
    """Rank agents by their results against some opponents only.

    An agent's score is its mean win rate over these opponents, each with the same weight; against itself it is a half.
    Beside it stands what the ratings over all battles expect. docs/ratings.md explains the numbers.

    \b
    Examples:
      arena rank --against 'heuristic:*'
      arena rank --against heuristic:expert --by lead --only Starmie --format gen1ou
      arena rank --by length --csv
    """
    if only and by is None:
        raise BadInput("--only: names groups of --by: give both, such as --by species --only Tauros")
    recover(db)
    found = conditional_ranking(db, format_id, against=against, by=by, only=only, least=min_battles, run=run)
    if shape == "json":
        print_json(found)
    elif shape == "csv":
        rows = ({"group": each["group"], **row} for each in found["groups"] for row in each["ranking"])
        print_csv(["group", *ConditionalRow.__annotations__], rows)
    else:
        _print(Console(), found, min_battles)


def _print(console: Console, found: ConditionalRanking, least: int) -> None:
    for each in found["groups"]:
        _print_group(console, found, each, least)
    if found["left_out"]:
        line = f"{counted(found['left_out'], 'group')} left out: no agent has {counted(least, 'battle')} in them."
        print_text(console, line)


def _print_group(console: Console, found: ConditionalRanking, each: ConditionalGroup, least: int) -> None:
    names = found["against"]
    opponents = (
        ", ".join(names) if len(names) <= _NAMED else f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} others"
    )
    where = f"{found['by']} {each['group']}; " if found["by"] else ""
    print_text(console, f"{found['format']}: {where}score in % against {opponents}")
    table = Table()
    for head in ("", "agent", "score %", "95%", "by rating %", "P(> next)", "opponents", "pairs", "battles"):
        table.add_column(head, justify="left" if head == "agent" else "right")
    for row in each["ranking"]:
        table.add_row(
            "–" if row["rank"] is None else str(row["rank"]),
            Text(row["agent"]),
            percent_of(row["score"]),
            interval(row["low"], row["high"]),
            percent_of(row["expected"]),
            "" if row["better"] is None else percent(row["better"]),
            f"{row['met']} of {row['of']}",
            f"{row['pairs']:,}{' (few)' if row['few'] else ''}",
            f"{row['battles']:,}",
        )
    print_whole(console, table)
    if any(row["few"] for row in each["ranking"]):
        console.print(f"(few): fewer than {FEW_PAIRS} pairs of battles", highlight=False)
    if any(row["rank"] is None for row in each["ranking"]):
        console.print(
            "–: has not met all of these opponents, so its score does not compare with the others", highlight=False
        )
    if each["left_out"]:
        print_text(console, f"Left out, with fewer than {least} battles: {', '.join(each['left_out'])}")
    console.print()
