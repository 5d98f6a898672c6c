"""The training curves of a run as an SVG, RUN/curves.svg, drawn from metrics.jsonl."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from training.runs.figures import figure_of_panels, write_figure
from training.runs.run_folder import json_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

FILE = "curves.svg"
#: Label of a panel -> its metrics: training, validation.
_PANELS = {
    "loss": ("loss", "validation/loss"),
    "policy loss (nats per decision)": ("policy_loss", "validation/policy_loss"),
    "accuracy": ("agreement", "validation/agreement"),
    "value loss": ("value_loss", "validation/value_loss"),
    "gradient norm": ("gradient_norm",),
    "learning rate": ("learning_rate",),
    "KL to the reference": ("kl", "validation/kl"),
    "mean result of the battles played, from -1 to 1": ("raw_return",),
    "entropy (nats)": ("entropy",),
    "squared error of the value": ("value_error",),
    "decisions/s": ("decisions_per_s",),
}
#: Ends of metrics that each format has -> label of their panel.
_BY_FORMAT = {"/elo": "rating of checkpoints (Elo)", "/score": "score of checkpoints against all opponents"}
#: Maximum number of points of a curve; more are averaged. Of fewer than _DOTS, each is a dot.
_POINTS, _DOTS = 240, 30
#: Width and height of a panel, in inches, and letters in a line of its label.
_SIZE, _LINE = (4.6, 2.3), 26


class Point(NamedTuple):
    step: float
    value: float


def write_curves(folder: Path) -> None:
    """Draw RUN/curves.svg, if there are metrics. Raises OSError, and BadConfig for a damaged line."""
    if lines := json_lines(folder / "metrics.jsonl"):
        write_figure(folder / FILE, lambda: run_figure(lines, str(folder)))


def run_figure(lines: Sequence[dict[str, float]], title: str) -> Figure:
    """Draw all metrics. lines: of metrics.jsonl, each with a `step`."""
    names = list(dict.fromkeys(chain.from_iterable(lines)))
    by_format = {label: tuple(name for name in names if name.endswith(end)) for end, label in _BY_FORMAT.items()}
    panels = {**_PANELS, **by_format}
    drawn = {
        label: curves
        for label, metrics in panels.items()
        if (curves := {name: points for name in metrics if (points := _points(lines, name))})
    }
    last = max(line["step"] for line in lines)
    figure, axes = figure_of_panels(f"{title}: step {last:,}", len(drawn), columns=2, size=_SIZE)
    for panel, (label, curves) in zip(axes, drawn.items(), strict=True):
        _prepare(panel, label, "step", last)
        for name, points in curves.items():
            colour = "C1" if name.startswith("validation/") else None
            _draw(panel, points, f"{_curve_label(name)}, last {points[-1].value:.4g}", colour)
        panel.legend()
    return figure


def comparison_figure(panels: Mapping[str, Mapping[str, list[Point]]], title: str, across: str) -> Figure:
    """Draw several runs: panel -> run -> its curve. across: what the horizontal axis counts."""
    names = list(dict.fromkeys(chain.from_iterable(panels.values())))
    last = max((point.step for curves in panels.values() for points in curves.values() for point in points), default=1)
    legend = 0.2 * math.ceil(len(names) / 4) + 0.1
    figure, axes = figure_of_panels(title, len(panels), columns=2, size=_SIZE, below=legend)
    handles = {}
    for panel, (label, curves) in zip(axes, panels.items(), strict=True):
        _prepare(panel, label, across, last)
        for name, points in curves.items():
            handles[name] = _draw(panel, points, name, f"C{names.index(name)}")
    figure.legend(handles=[handles[name] for name in names], loc="lower left", ncols=4)
    return figure


def _points(lines: Sequence[dict[str, float]], name: str) -> list[Point]:
    """Return the points of a metric's curve, at most _POINTS; non-finite values are left out."""
    points = [Point(line["step"], line[name]) for line in lines if name in line and math.isfinite(line[name])]
    many = max(1, math.ceil(len(points) / _POINTS))
    groups = [points[start : start + many] for start in range(0, len(points), many)]
    return [Point(group[-1].step, sum(point.value for point in group) / len(group)) for group in groups]


def _prepare(panel: Axes, label: str, across: str, last: float) -> None:
    panel.set(xlabel=across, ylabel=textwrap.fill(label, _LINE), xlim=(0, max(last, 1)))
    panel.locator_params("x", nbins=5, integer=True)
    panel.xaxis.set_major_formatter("{x:,.0f}")


def _draw(panel: Axes, points: list[Point], label: str, colour: str | None) -> Line2D:
    marker = "o" if len(points) <= _DOTS else None
    (line,) = panel.plot(*zip(*points, strict=True), label=label, color=colour, marker=marker, clip_on=False)
    return line


def _curve_label(name: str) -> str:
    if name.startswith("validation/"):
        return "held out"
    return name.split("/")[1] if name.endswith(tuple(_BY_FORMAT)) else "training"
