"""The section of sweeps: Elo over a checkpoint's step or an option, a line for each combination of the others."""

from __future__ import annotations

from itertools import pairwise

from arena.markup import Content, Html, agent_name, box, el, join
from arena.report.numbers import whole
from arena.report.page.drawings import Axis
from arena.report.summary_types import FormatSummary, SweepSummary
from arena.report.sweeps import sweep_table

COLOURS = 6
_TOP, _TALL, _LEFT = 10, 220, 6.0  # pixels, pixels, percent of the width


def sweep_section(format_summary: FormatSummary) -> Html:
    """All sweeps of a format, each as a chart and a table."""
    return join(
        el(
            "p",
            "Agents that differ only in a checkpoint's step or in options that are numbers. Dots are Elo, whiskers 95% "
            "intervals; hollow dots are bounds, not estimates.",
            cls="note",
        ),
        [_sweep(sweep) for sweep in format_summary["sweeps"]],
    )


def _sweep(sweep: SweepSummary) -> Html:
    heads, rows = sweep_table(sweep)
    legend = [
        el("span", el("span", "", cls=f"swatch line{number % COLOURS}"), line["label"], cls="key")
        for number, line in enumerate(sweep["lines"])
        if line["label"]
    ]
    table = el(
        "table",
        el("thead", el("tr", [el("th", head, scope="col", cls="number") for head in heads])),
        el("tbody", [el("tr", [el("td", cell, cls="number") for cell in row]) for row in rows]),
        cls="plain",
    )
    name = f"Elo of {sweep['base']} by {sweep['axis']}"
    return join(
        el("h4", agent_name(sweep["base"]), f": Elo by {sweep['axis']}"),
        el("p", sweep["sentence"], cls="note"),
        el("p", legend, cls="legend") if legend else None,
        el("figure", sweep_chart(sweep, label=name), cls="sweep"),
        el("details", el("summary", "The numbers"), box(table, name)),
    )


def sweep_chart(sweep: SweepSummary, *, label: str) -> Html:
    """The lines of a sweep over its axis. Horizontal positions are in percent, so that it fits a phone and paper."""
    points = [point for line in sweep["lines"] for point in line["points"]]
    across = Axis.over([point["x"] for point in points], ticks=6)
    up = Axis.over([point[end] for point in points for end in ("low", "high")], ticks=5)

    def level(elo: float) -> float:
        return round(_TOP + _TALL * (1 - up.place(elo) / 100), 1)

    parts: list[Content] = []
    for tick in up.ticks:
        parts.append(el("line", cls="tick", x1=f"{_LEFT}%", x2="100%", y1=level(tick), y2=level(tick)))
        parts.append(el("text", whole(tick), x=0, y=level(tick) + 4))
    parts += [
        el("text", f"{tick:g}", x=_place(across, tick), y=_TOP + _TALL + 18, text_anchor="middle")
        for tick in across.ticks
    ]
    parts.append(el("text", sweep["axis"], x="100%", y=_TOP + _TALL + 34, text_anchor="end"))
    for number, line in enumerate(sweep["lines"]):
        shift = 0.6 * (number - (len(sweep["lines"]) - 1) / 2)  # so that whiskers of one value stand side by side
        colour = f"line{number % COLOURS}"
        for before, after in pairwise(line["points"]):
            x1, x2 = _place(across, before["x"], shift), _place(across, after["x"], shift)
            y1, y2 = level(before["elo"]), level(after["elo"])
            parts.append(el("line", cls=f"path {colour}", x1=x1, x2=x2, y1=y1, y2=y2))
        for point in line["points"]:
            x = _place(across, point["x"], shift)
            described = f"{point['agent']}: Elo {whole(point['elo'])}, {whole(point['low'])} to {whole(point['high'])}"
            parts.append(
                el(
                    "g",
                    el("title", described),
                    el("line", cls=f"reach {colour}", x1=x, x2=x, y1=level(point["high"]), y2=level(point["low"])),
                    el("circle", cls=f"dot {colour}", cx=x, cy=level(point["elo"]), r=4),
                    cls="vague" if point["mark"] else None,
                )
            )
    return el("svg", parts, cls="lines", width="100%", height=_TOP + _TALL + 40, role="img", aria_label=label)


def _place(axis: Axis, value: float, shift: float = 0.0) -> str:
    return f"{_LEFT + (100 - _LEFT) * axis.place(value) / 100 + shift:.2f}%"
