"""`arena verify`: replays stored battles on the other of Showdown and the engine."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click

from arena.report.numbers import counted
from arena.store.recover import recover
from arena.terminal.commands import db_option, json_option, print_json, say
from arena.terminal.console import Console
from arena.venues.engine.verifying import verify as verified

#: So many differences are shown.
_SHOWN = 20


@click.command()
@click.argument("run_id", metavar="[RUN]", required=False)
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Check only N battles.  [default: all]")
@json_option
@db_option
def verify(run_id: str | None, sample: int | None, as_json: bool, db: Path) -> None:
    """Replay stored battles on the other simulator.

    Battles of gen1ou, gen1randombattle and gen9ou, on Showdown or on the engine. Exit code 1 at a difference.

    Battles that were played on the engine are replayed on Showdown, all others on the engine. Winner, turns, input log,
    and the legal choices at each decision must be equal. Without RUN, the battles of all runs are checked.

    \b
    Examples:
      arena verify
      arena verify 20261124-093000 --sample 1000
    """
    recover(db)
    console = Console()
    result = verified(db, run_id, sample)
    if as_json:
        print_json(asdict(result))
        sys.exit(bool(result.differences))
    for difference in result.differences[:_SHOWN]:
        say(console, difference)
    if len(result.differences) > _SHOWN:
        say(console, f"… and {len(result.differences) - _SHOWN:,} more")
    where = ", ".join(f"{battles:,} on {place}" for place, battles in sorted(result.checked.items())) or "none"
    checked = counted(result.checked.total(), "battle")
    differ = f"{len(result.differences):,} differ" if result.differences else "all are equal"
    say(console, f"{checked} replayed ({where}): {differ}")
    for reason, battles in result.unchecked.most_common():
        say(console, f"{counted(battles, 'battle')} not checked: {reason}")
    if result.differences:
        sys.exit(1)
