"""A chart of ratings over an axis: a line and whiskers for each series. Horizontal positions are in percent of the width."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from arena.markup import Content, Html, el
from arena.report.numbers import whole
from arena.report.page.drawings import Axis
from arena.report.summary_types import SweepSeries

#: Colours of lines (report.css); more lines begin again with the first.
COLOURS = 6
_TOP, _TALL, _LEFT = 10, 220, 6.0  # pixels, pixels, percent of the width


def line_chart(
    lines: Sequence[SweepSeries], *, label: str, axis_name: str, ticks: Sequence[tuple[float, str]] | None = None
) -> Html:
    """Draw the series. ticks: places on the axis and their names; None: round numbers."""
    points = [point for line in lines for point in line["points"]]
    across = Axis.over([point["x"] for point in points], ticks=6)
    up = Axis.over([elo for point in points for elo in (point["low"], point["high"])], ticks=5)
    named = ticks if ticks is not None else [(tick, f"{tick:g}") for tick in across.ticks]

    def level(elo: float) -> float:
        return round(_TOP + _TALL * (1 - up.place(elo) / 100), 1)

    parts: list[Content] = []
    for tick in up.ticks:
        parts.append(el("line", cls="tick", x1=f"{_LEFT}%", x2="100%", y1=level(tick), y2=level(tick)))
        parts.append(el("text", whole(tick), x=0, y=level(tick) + 4))
    for place, text in named:
        parts.append(el("text", text, x=_place(across, place), y=_TOP + _TALL + 18, text_anchor="middle"))
    parts.append(el("text", axis_name, x="100%", y=_TOP + _TALL + 34, text_anchor="end"))
    for number, line in enumerate(lines):
        shift = 0.6 * (number - (len(lines) - 1) / 2)  # so that whiskers of one value stand side by side
        parts += _series(line, f"line{number % COLOURS}", across, shift, level)
    return el("svg", parts, cls="lines", width="100%", height=_TOP + _TALL + 40, role="img", aria_label=label)


def legend(lines: Sequence[SweepSeries]) -> Html | None:
    """What each line is; None where there is one without a name."""
    keys = [
        el("span", el("span", "", cls=f"swatch line{number % COLOURS}"), line["label"], cls="key")
        for number, line in enumerate(lines)
        if line["label"]
    ]
    return el("p", keys, cls="legend") if keys else None


def _series(
    line: SweepSeries, colour: str, across: Axis, shift: float, level: Callable[[float], float]
) -> Iterator[Html]:
    for before, after in pairwise(line["points"]):
        x1, x2 = _place(across, before["x"], shift), _place(across, after["x"], shift)
        yield el("line", cls=f"path {colour}", x1=x1, x2=x2, y1=level(before["elo"]), y2=level(after["elo"]))
    for point in line["points"]:
        x = _place(across, point["x"], shift)
        described = f"{point['agent']}: Elo {whole(point['elo'])}, {whole(point['low'])} to {whole(point['high'])}"
        yield el(
            "g",
            el("title", described),
            el("line", cls=f"reach {colour}", x1=x, x2=x, y1=level(point["high"]), y2=level(point["low"])),
            el("circle", cls=f"dot {colour}", cx=x, cy=level(point["elo"]), r=4),
            cls="vague" if point["mark"] else None,
        )


def _place(axis: Axis, value: float, shift: float = 0.0) -> str:
    return f"{_LEFT + (100 - _LEFT) * axis.place(value) / 100 + shift:.2f}%"
