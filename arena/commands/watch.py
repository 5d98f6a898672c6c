"""`arena watch`: a stored battle turn by turn in the terminal."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click
from rich.console import Group
from rich.rule import Rule
from rich.segment import Segment, SegmentLines

from arena.commands.options import FiniteRange
from arena.report.story import stories
from arena.report.story_text import head, turn
from arena.report.story_types import Story
from arena.store.recover import recover
from arena.terminal.commands import db_option, json_option, print_json
from arena.terminal.console import Console
from teamsets.errors import BadInput

# Keys, as terminals send them.
_QUIT = ("q", "Q", "\x1b", "")
_FORTH = ("\r", "\n", " ", "n", "\x1b[C", "\x1bOC")
_BACK = ("p", "\x1b[D", "\x1bOD")
_FIRST = ("\x1b[H", "\x1bOH", "\x1b[1~")
_LAST = ("\x1b[F", "\x1bOF", "\x1b[4~")
_SCROLL = {"j": 1, "\x1b[B": 1, "\x1bOB": 1, "k": -1, "\x1b[A": -1, "\x1bOA": -1}


@click.command()
@click.argument("battle_id", metavar="ID", type=int)
@click.option("--turn", "start", type=click.IntRange(min=0), metavar="N", help="Start at turn N.")
@click.option("--all", "whole", is_flag=True, help="Print all turns without waiting for keys.")
@click.option(
    "--delay",
    type=FiniteRange(min=0, max=3600),
    metavar="SECONDS",
    help="Advance automatically after this many seconds.",
)
@json_option
@db_option
def watch(battle_id: int, start: int | None, whole: bool, delay: float | None, as_json: bool, db: Path) -> None:
    """Show a stored battle turn by turn.

    It shows the battle ID: HP, events, each side's choice and its alternatives.

    Keys in a terminal: Enter, space, n or → next turn, p or ← previous turn, Home, End, ↓ and ↑ scroll, q quit. Without a
    terminal all turns are printed.

    \b
    Example:
      arena watch 17 --turn 5
    """
    recover(db)
    (story,) = stories(db, [battle_id])
    if as_json:
        print_json(story)
        return
    index = _index(story, start)
    console = Console(highlight=False)
    if not story["turns"] or whole or not (console.is_terminal and sys.stdin.isatty()):
        _print_all(console, story, index, delay)
    else:
        _step(console, story, index, delay)


def _index(story: Story, start: int | None) -> int:
    numbers = [each["turn"] for each in story["turns"]]
    if start is None or not numbers:
        return 0
    if start not in numbers:
        raise BadInput(f"--turn {start}: battle {story['id']} has turns {numbers[0]} to {numbers[-1]}")
    return numbers.index(start)


def _print_all(console: Console, story: Story, index: int, delay: float | None) -> None:
    console.print(head(story))
    for place in range(index, len(story["turns"])):
        if delay and place > index:
            time.sleep(delay)
        console.print(Rule(style="dim"))
        console.print(turn(story, place, console.width))


def _step(console: Console, story: Story, index: int, delay: float | None) -> None:
    last = len(story["turns"]) - 1
    scrolled = 0
    while True:
        lines = _page(console, story, index)
        room = max(console.height - 2, 1)
        hidden = max(len(lines) - room, 0)
        scrolled = min(scrolled, hidden)
        console.clear()
        console.print(SegmentLines(lines[scrolled : scrolled + room], new_lines=True), end="")
        if delay is not None:
            if index == last:
                return
            time.sleep(delay)
            index += 1
            continue
        ways = ["Enter: next"] * (index < last) + ["p: previous"] * (index > 0)
        ways += [f"↓ ↑: {hidden} more lines"] * (hidden > 0) + ["q: quit"]
        console.print("   ".join(ways), style="dim", end=" ", no_wrap=True, overflow="crop")
        key = _key()
        if key in _QUIT:
            console.print()
            return
        scrolled = max(scrolled + _SCROLL.get(key, 0), 0)
        moved = min(index + 1, last) if key in _FORTH else max(index - 1, 0) if key in _BACK else index
        moved = 0 if key in _FIRST else last if key in _LAST else moved
        if moved != index:
            index, scrolled = moved, 0


def _page(console: Console, story: Story, index: int) -> list[list[Segment]]:
    """The lines of a turn below the battle's heading; shortened if the terminal has too few rows."""
    whole = console.render_lines(Group(head(story), Rule(style="dim"), turn(story, index, console.width)), pad=False)
    if len(whole) <= console.height - 2:
        return whole
    return console.render_lines(turn(story, index, console.width, brief=True), pad=False)


def _key() -> str:
    """The pressed key; empty at the end of the input (Ctrl-D)."""
    try:
        return click.getchar()
    except EOFError:
        return ""
