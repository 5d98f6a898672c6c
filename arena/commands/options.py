"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

db_option = click.option(
    "--db",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("arena.duckdb"),
    show_default=True,
    help="The battle database.",
)

team_set_option = click.option(
    "--teams",
    "--team-set",
    "team_set",
    default="competitive",
    show_default=True,
    metavar="SET",
    help="Set or folder of our agents' teams; each battle draws one.",
)

isolate_option = click.option(
    "--isolate",
    is_flag=True,
    help="Each agent in a process of its own, without the opponent's team, the seed and the simulator (slower, the same "
    "battles).",
)


def db_words(db: Path) -> str:
    """The option as it must be repeated in a command that the user is told; nothing for the default."""
    return "" if db == Path("arena.duckdb") else f" --db {db}"
