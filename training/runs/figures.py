"""Figures of matplotlib as SVG files: the same figure is the same file, whatever matplotlib's settings on this machine are.

matplotlib is imported when a figure is drawn, and without pyplot, which would keep every figure and choose a window system.
"""

from __future__ import annotations

import functools
import io
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from teamsets.atomic import write_atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = (
    "#1f6feb", "#c2410c", "#15803d", "#7c3aed", "#b45309", "#0e7490", "#be185d", "#4d7c0f", "#57534e", "#1d2329",
)  # fmt: skip
#: Text stays text: it can be read and searched in the file, and is drawn in the reader's font.
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "battle-arena",
    "text.parse_math": False,  # a name with two dollar signs is no formula
    "axes.formatter.useoffset": False,
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": f"cycler('color', {_COLOURS})",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e9ec",
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
    "legend.frameon": False,
    "legend.fontsize": 8,
}
#: Height of the title, in inches.
_HEAD = 0.3


def write_figure(path: Path, draw: Callable[[], Figure]) -> bool:
    """Write what `draw` returns as an SVG; where matplotlib is not installed, say so once. Returns whether it is written."""
    try:
        import matplotlib.style
    except ModuleNotFoundError:
        _say_missing(path.name)
        return False
    written = io.StringIO()
    with (
        warnings.catch_warnings(),
        matplotlib.style.context(["default", _STYLE]),
    ):
        warnings.simplefilter("ignore", UserWarning)  # a letter that matplotlib's own font lacks
        draw().savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    write_atomic(path, written.getvalue())
    return True


def figure_of_panels(
    title: str, number: int, *, columns: int, size: tuple[float, float], above: float = 0.1, below: float = 0.0
) -> tuple[Figure, list[Axes]]:
    """Return a figure and its panels in rows of so many columns. Only inside `write_figure`.

    number: may be 0, for a figure of its title alone. size: of a panel with its labels, in inches; above: of it, for its
    title; below: room for a legend below all panels.
    """
    from matplotlib.figure import Figure

    columns = max(1, min(columns, number))
    rows = max(1, -(-number // columns))
    wide, high = columns * size[0], rows * size[1] + _HEAD + below
    # Places are computed, not found by drawing everything twice: a run is drawn at each checkpoint.
    figure = Figure(figsize=(wide, high))
    left, right, bottom = 0.85, 0.3, 0.5
    figure.subplots_adjust(
        left / wide,
        (bottom + below) / high,
        1 - right / wide,
        1 - (_HEAD + above) / high,
        (left + right) / (size[0] - left - right),
        (bottom + above) / (size[1] - bottom - above),
    )
    figure.suptitle(title, x=0.1 / wide, y=1 - 0.1 / high, ha="left", fontweight="bold")
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for unused in panels[number:]:
        unused.remove()
    return figure, panels[:number]


@functools.cache
def _say_missing(name: str) -> None:
    print(
        f"{name} is not drawn: matplotlib is not installed: `make training` installs it (from a wheel: "
        "pip install 'battle-arena[training]')",
        file=sys.stderr,
    )
