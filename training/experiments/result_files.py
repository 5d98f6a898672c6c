"""What the results of an ablation and of a sweep have in common: their files, and their tables in a terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.report.printing import print_text, prose
from teamsets.atomic import write_atomic
from training.runs.figures import write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_results(
    folder: Path,
    results: dict[str, Any],
    draw: Callable[[], Figure],
    caption: str,
    markdown: Callable[[list[str]], str],
    csv: str,
) -> list[Path]:
    """Write results.json, .csv, .svg (if matplotlib is installed) and .md, and return their paths.

    markdown: of the lines that show the figure, none where it is not drawn.
    """
    plot = folder / "results.svg"
    is_drawn = write_figure(plot, draw)
    texts = {
        "json": json.dumps(results, indent=1) + "\n",
        "csv": csv,
        "md": markdown([f"![{caption}]({plot.name})"] if is_drawn else []),
    }
    written = [plot] if is_drawn else []
    for ending, text in texts.items():
        path = folder / f"results.{ending}"
        write_atomic(path, text)
        written.append(path)
    return written


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Collection[int]) -> Table:
    """A table of plain text. numbers: the columns that are aligned to the right."""
    table = Table()
    for index, head in enumerate(heads):
        table.add_column(Text(head), justify="right" if index in numbers else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def print_conclusions(console: Console, results: dict[str, Any]) -> None:
    """Print the sentences and notes of results."""
    for sentence in results["sentences"]:
        print_text(console, "• ", prose(sentence))
    for note in results["notes"]:
        print_text(console, "Note: ", prose(note))


def percent_text(numbers: Mapping[str, float]) -> str:
    """Return a score in % with its interval. numbers: with `score`, `low`, `high`."""
    return f"{100 * numbers['score']:.1f} [{100 * numbers['low']:.1f}, {100 * numbers['high']:.1f}]"
