"""How tables are printed."""

from __future__ import annotations

import rich.console
from rich.table import Table

from arena.console import Console


def print_whole(console: rich.console.Console, table: Table) -> None:
    """Prints a table; to a file or pipe at its full width, so that no column is cut."""
    if console.is_terminal:
        console.print(table)
        return
    wide = Console(file=console.file, width=10_000, no_color=True)
    needed = wide.measure(table).maximum
    Console(file=console.file, width=needed, no_color=True).print(table)
