"""The plot of an ablation: scores and differences with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Inches: width, height of a row, and of a panel's title and axis. Letters of a row's name.
_WIDTH, _ROW, _MARGIN = 9.0, 0.27, 0.75
_LETTERS = 60


class _Row(NamedTuple):
    """A value with its interval, in percent. clear: it is significant, or there is nothing to be tested."""

    name: str
    value: float
    low: float
    high: float
    clear: bool = True


def ablation_figure(results: dict[str, Any]) -> Figure:
    """Draw the scores, in total and per opponent, and the differences; those that are not significant are hollow."""
    from matplotlib.figure import Figure

    variants = results["variants"]
    groups = {"score in %, all opponents": [_row(row["variant"], row, "score") for row in variants]}
    for name in results["opponents"] if len(results["opponents"]) > 1 else []:
        groups[f"score in %, against {name}"] = [
            _row(row["variant"], row["against"][name], "score") for row in variants
        ]
    scores = len(groups)
    groups["difference in percentage points"] = [
        _row(f"{difference['better']} minus {difference['worse']}", difference, "points")
        for difference in results["differences"]
    ]
    heights = [_ROW * len(rows) + _MARGIN for rows in groups.values()]
    figure = Figure(figsize=(_WIDTH, sum(heights) + 0.4), layout="constrained")
    figure.suptitle(f"Ablation: {results['name']}", fontweight="bold")
    panels = figure.subplots(len(groups), 1, height_ratios=heights, squeeze=False)[:, 0]
    for panel, (label, rows) in zip(panels, groups.items(), strict=True):
        _draw(panel, label, rows)
    for panel in panels[1:scores]:
        panel.sharex(panels[0])
    panels[0].autoscale(axis="x")
    kinds = {
        label: handle for panel in panels for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    figure.legend(kinds.values(), kinds.keys(), loc="outside lower left", ncols=2)
    panels[-1].axvline(0, color="#66707a", linewidth=1)
    return figure


def _row(name: str, result: dict[str, Any], key: str) -> _Row:
    value, low, high = (100 * result[part] for part in (key, "low", "high"))
    return _Row(name, value, low, high, result.get("clear", True))


def _draw(panel: Axes, label: str, rows: Sequence[_Row]) -> None:
    """Draw a dot and its interval for each row, the first on top, with the numbers on the right."""
    for clear in (True, False):
        if chosen := [(place, row) for place, row in enumerate(rows) if row.clear == clear]:
            panel.errorbar(
                [row.value for _, row in chosen],
                [place for place, _ in chosen],
                xerr=[[row.value - row.low for _, row in chosen], [row.high - row.value for _, row in chosen]],
                fmt="o",
                color="C0",
                markerfacecolor="C0" if clear else "white",
                capsize=3,
                label="value and 95% interval" if clear else "the same, not significant",
            )
    names = [row.name if len(row.name) <= _LETTERS else f"{row.name[: _LETTERS - 1]}…" for row in rows]
    panel.set(title=label, ylim=(len(rows) - 0.4, -0.6))
    panel.set_yticks(range(len(rows)), names)
    numbers = panel.secondary_yaxis("right")
    numbers.set_yticks(range(len(rows)), [f"{row.value:.1f} [{row.low:.1f}, {row.high:.1f}]" for row in rows])
    numbers.tick_params(length=0)
