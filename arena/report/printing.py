"""How tables are printed."""

from __future__ import annotations

import re

import rich.console
from rich.table import Table
from rich.text import Text

from arena.terminal.console import Console


def prose(sentence: str) -> Text:
    """A sentence of a report, in which what stands in backticks (a command, a name) is bold instead."""
    parts = re.split(r"`([^`]+)`", sentence)
    return Text.assemble(*((part, "bold" if place % 2 else "") for place, part in enumerate(parts)))


def print_text(console: rich.console.Console, *text: str | Text) -> None:
    """Print a line without markup, which the terminal itself wraps."""
    console.print(Text.assemble(*text), soft_wrap=True)


def print_whole(console: rich.console.Console, table: Table) -> None:
    """Prints a table; to a file or pipe at its full width, so that no column is cut."""
    if console.is_terminal:
        console.print(table)
        return
    wide = Console(file=console.file, width=10_000, no_color=True)
    needed = wide.measure(table).maximum
    Console(file=console.file, width=needed, no_color=True).print(table)
