"""`arena leaderboard`: a static site of rankings from one or several databases."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from arena.leaderboard.merging import merged_battles
from arena.leaderboard.pages import site
from arena.leaderboard.standings import standings
from arena.report.numbers import counted
from arena.store.recover import recover
from arena.terminal.commands import json_option, json_text, print_json
from teamsets.atomic import atomic_folder
from teamsets.errors import BadInput

#: The numbers of the site; a folder with it may be replaced.
_NUMBERS = "leaderboard.json"


@click.command()
@click.argument("out", metavar="OUT", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--db", "databases", type=click.Path(path_type=Path, dir_okay=False), multiple=True, metavar="FILE",
    help="A battle database. Can be repeated.  [default: arena.duckdb]",
)  # fmt: skip
@click.option("--format", "formats", multiple=True, metavar="F", help="Only this format. Can be repeated.")
@click.option("--anchor", metavar="AGENT", help="Agent whose rating is fixed at 1000, where it plays.")
@click.option(
    "--min-battles", type=click.IntRange(1), default=20, show_default=True, metavar="N",
    help="Leave out agents with fewer battles in a format.",
)  # fmt: skip
@json_option
def leaderboard(
    out: Path,
    databases: tuple[Path, ...],
    formats: tuple[str, ...],
    anchor: str | None,
    min_battles: int,
    as_json: bool,
) -> None:
    """Write a static site of rankings.

    OUT: a folder, to be put on any web host. It has an overview, a page for each format (ranking, also by team set,
    head-to-head results, history, cycles), a page for each agent, and the numbers as leaderboard.json.

    Every battle of all runs in the databases counts once, if both agents are of their newest version.

    \b
    Examples:
      arena leaderboard site
      arena leaderboard site --db monday.duckdb --db tuesday.duckdb --min-battles 100
    """
    chosen = databases or (Path("arena.duckdb"),)
    if out.exists() and any(out.iterdir()) and not (out / _NUMBERS).is_file():
        raise BadInput(f"{out}: is no folder of a leaderboard, and not empty: name another, which is written anew")
    for db in chosen:
        recover(db)
    merged = merged_battles(chosen, min_battles)
    there = merged.formats()
    for each in formats:
        if each not in there:
            raise BadInput(f"--format {each}: has no battles that count; there are {', '.join(there)}")
    numbers = [standings(merged, format_id, anchor=anchor) for format_id in there if format_id in (formats or there)]
    made = datetime.now(UTC).isoformat(timespec="seconds")
    pages = site(merged, numbers, made)
    with atomic_folder(out, replace=True) as folder:
        for name, text in pages.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        content = {"made": made, "databases": merged.databases, "formats": numbers}
        (folder / _NUMBERS).write_text(json_text(content), encoding="utf-8")
    if as_json:
        print_json(content)
        return
    size = sum(len(text.encode()) for text in pages.values())
    click.echo(f"{out}: {counted(len(pages), 'page')}, {size / 1e6:.1f} MB: open {out / 'index.html'}")
