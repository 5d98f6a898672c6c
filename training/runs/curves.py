"""The training curves of a run as an SVG, RUN/curves.svg, drawn from metrics.jsonl."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from arena.report.sections import Axis, Html, document, el
from teamsets.atomic import write_atomic
from training.runs.run_folder import json_lines

FILE = "curves.svg"
#: Panel title -> its metrics: training, validation.
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
_RATING = "rating of checkpoints (Elo)"
#: Maximum number of points of a curve; more are averaged.
_POINTS = 240
#: Size of a panel, and its left, bottom and top margins, in pixels.
_WIDTH, _HEIGHT, _LEFT, _BELOW, _ABOVE = 430, 220, 56, 30, 26
_STYLE = """
svg { font: 12px system-ui, sans-serif; }
.back { fill: #ffffff; }
text { fill: #1d2329; } text.head { font-weight: 600; } text.tick { font-size: 10.5px; fill: #66707a; }
line { stroke: #e6e9ec; }
.curve { fill: none; stroke-width: 1.6; }
.train { stroke: #1f6feb; } .held-out { stroke: #c2410c; } text.train { fill: #1f6feb; stroke: none; }
text.held-out { fill: #c2410c; stroke: none; } circle.held-out { fill: #c2410c; stroke: none; }
circle.train { fill: #1f6feb; stroke: none; }
"""
#: Colours of curves that are compared, and the style of each as a class c0, c1, …
_COLOURS = (
    "#1f6feb",
    "#c2410c",
    "#15803d",
    "#7c3aed",
    "#b45309",
    "#0e7490",
    "#be185d",
    "#4d7c0f",
    "#57534e",
    "#1d2329",
)
_COMPARED = "".join(
    f".c{n} {{ stroke: {colour}; }} text.c{n} {{ fill: {colour}; stroke: none; }} circle.c{n} {{ fill: {colour}; }}\n"
    for n, colour in enumerate(_COLOURS)
)


class Point(NamedTuple):
    step: float
    value: float


def write_curves(folder: Path) -> None:
    """Draw RUN/curves.svg, if there are metrics. Raises OSError, and BadConfig for a damaged line."""
    file = folder / "metrics.jsonl"
    if lines := json_lines(file):
        write_atomic(folder / FILE, picture(lines, str(folder)))


def picture(lines: Sequence[dict[str, float]], title: str) -> str:
    """Return the SVG of all metrics. lines: of metrics.jsonl, each with a `step`."""
    names = list(dict.fromkeys(chain.from_iterable(lines)))
    panels = {**_PANELS, _RATING: tuple(name for name in names if name.endswith("/elo"))}
    drawn = {
        head: found
        for head, metrics in panels.items()
        if (found := {name: points for name in metrics if (points := _points(lines, name))})
    }
    last = max(line["step"] for line in lines)
    across = Axis.over([0, last], ticks=5)
    height = 34 + _HEIGHT * ((len(drawn) + 1) // 2)
    return document(
        _STYLE,
        el("text", f"{title}: step {last:,}", cls="head", x=12, y=20),
        [
            _panel(head, curves, across, x=_WIDTH * (number % 2), y=34 + _HEIGHT * (number // 2))
            for number, (head, curves) in enumerate(drawn.items())
        ],
        width=2 * _WIDTH,
        height=height,
        label=f"Training curves of {title}",
    )


def comparison(panels: dict[str, dict[str, list[Point]]], title: str, across: str) -> str:
    """Return the SVG of several runs: panel -> run -> its curve. across: what the horizontal axis counts."""
    names = list(dict.fromkeys(chain.from_iterable(panels.values())))
    kinds = {name: f"c{number % len(_COLOURS)}" for number, name in enumerate(names)}
    last = max((point.step for curves in panels.values() for points in curves.values() for point in points), default=1)
    axis = Axis.over([0, last], ticks=5)
    legend = [
        el("text", name, cls=kinds[name], x=12 + 200 * (number % 4), y=40 + 16 * (number // 4))
        for number, name in enumerate(names)
    ]
    top = 50 + 16 * ((len(names) + 3) // 4)
    return document(
        _STYLE + _COMPARED,
        el("text", f"{title}; horizontal: {across}", cls="head", x=12, y=20),
        legend,
        [
            _panel(head, curves, axis, x=_WIDTH * (number % 2), y=top + _HEIGHT * (number // 2), kinds=kinds)
            for number, (head, curves) in enumerate(panels.items())
        ],
        width=2 * _WIDTH,
        height=top + _HEIGHT * ((len(panels) + 1) // 2),
        label=f"Training curves of {title}",
    )


def _points(lines: Sequence[dict[str, float]], name: str) -> list[Point]:
    """Return the points of a metric's curve, at most _POINTS; non-finite values are left out."""
    points = [Point(line["step"], line[name]) for line in lines if name in line and math.isfinite(line[name])]
    many = max(1, math.ceil(len(points) / _POINTS))
    groups = [points[start : start + many] for start in range(0, len(points), many)]
    return [Point(group[-1].step, sum(point.value for point in group) / len(group)) for group in groups]


def _panel(
    head: str, curves: dict[str, list[Point]], across: Axis, *, x: int, y: int, kinds: dict[str, str] | None = None
) -> Html:
    """Draw a panel with its curves on common axes. kinds: the classes of curves that a legend explains."""
    axis = Axis.over([point.value for points in curves.values() for point in points], ticks=4)
    wide, high = _WIDTH - _LEFT - 16, _HEIGHT - _ABOVE - _BELOW

    def at(point: Point) -> tuple[float, float]:
        return (
            round(_LEFT + wide * across.place(point.step) / 100, 1),
            round(_ABOVE + high * (1 - axis.place(point.value) / 100), 1),
        )

    grid = [
        [
            el("line", x1=_LEFT, x2=_LEFT + wide, y1=(level := at(Point(0, tick))[1]), y2=level),
            el("text", f"{tick:.4g}", cls="tick", x=_LEFT - 6, y=level + 4, text_anchor="end"),
        ]
        for tick in axis.ticks
    ]
    steps = [
        el(
            "text",
            f"{tick:,.0f}",
            cls="tick",
            x=at(Point(tick, axis.low))[0],
            y=_ABOVE + high + 15,
            text_anchor="middle",
        )
        for tick in across.ticks
        if tick >= 0
    ]
    drawn = [_curve(name, points, at, (kinds or {}).get(name)) for name, points in curves.items()]
    values = "" if kinds else ", ".join(f"{_label(name)} {points[-1].value:.4g}" for name, points in curves.items())
    title = el("text", head, el("tspan", f"  {values}", cls="tick"), cls="head", x=12, y=14)
    return el("svg", title, grid, steps, drawn, x=x, y=y, width=_WIDTH, height=_HEIGHT)


def _curve(name: str, points: list[Point], at: Callable[[Point], tuple[float, float]], kind: str | None = None) -> Html:
    """Draw a line, with dots if it has few points (checkpoints)."""
    held_out = name.startswith("validation/")
    kind = kind or ("held-out" if held_out else "train")
    places = [at(point) for point in points]
    line = el("polyline", cls=f"curve {kind}", points=" ".join(f"{x},{y}" for x, y in places))
    dots = [el("circle", cls=kind, cx=x, cy=y, r=3) for x, y in places] if len(places) <= 30 and held_out else []
    single = [el("circle", cls=kind, cx=places[0][0], cy=places[0][1], r=3)] if len(places) == 1 and not dots else []
    return el("g", line, dots, single, el("title", name))


def _label(name: str) -> str:
    """Return the label of a curve in its panel's title."""
    if name.startswith("validation/"):
        return "held out"
    return name.split("/")[1] if name.endswith("/elo") else "now"
