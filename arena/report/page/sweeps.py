"""The section of sweeps: Elo over a checkpoint's step or an option, a line for each combination of the others."""

from __future__ import annotations

from arena.markup import Html, agent_name, el, join, table
from arena.report.page.line_chart import legend, line_chart
from arena.report.summary_types import FormatSummary, SweepSummary
from arena.report.sweeps import sweep_table


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
    body = [el("tr", [el("td", cell, cls="number") for cell in row]) for row in rows]
    name = f"Elo of {sweep['base']} by {sweep['axis']}"
    return join(
        el("h4", agent_name(sweep["base"]), f": Elo by {sweep['axis']}"),
        el("p", sweep["sentence"], cls="note"),
        legend(sweep["lines"]),
        el("figure", line_chart(sweep["lines"], label=name, axis_name=sweep["axis"]), cls="sweep"),
        el("details", el("summary", "The numbers"), table(heads, body, name, numbers=heads)),
    )
