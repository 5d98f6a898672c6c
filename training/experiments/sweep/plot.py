"""The plot of a sweep: Elo by trial, and by each setting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from training.runs.figures import figure_of_panels
from training.runs.settings import flow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: A range whose ends are so many times apart has a logarithmic axis.
_WIDE = 20.0
_COLUMNS, _SIZE = 2, (5.0, 3.2)


def sweep_figure(results: dict[str, Any]) -> Figure:
    """Draw a panel of Elo by trial, and one for each setting. Pruned trials are hollow, at the Elo that pruned them."""
    trials = [trial for trial in results["trials"] if trial.get("elo") is not None]
    figure, (first, *others) = figure_of_panels(
        f"Sweep: {results['name']}", 1 + len(results["space"]), columns=_COLUMNS, size=_SIZE, below=0.35
    )
    _draw(first, trials, [trial["trial"] for trial in trials])
    best = [max(_elos(trials[: place + 1]), default=None) for place in range(len(trials))]
    first.step([trial["trial"] for trial in trials], [float("nan") if elo is None else elo for elo in best],
               where="post", color="C1", label="best so far, biased by the choice")  # fmt: skip
    first.set(xlabel="trial", ylabel="Elo")
    for panel, key in zip(others, results["space"], strict=True):
        values = [trial["settings"][key] for trial in trials]
        if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
            _draw(panel, trials, values)
            if values and min(values) > 0 and max(values) / min(values) > _WIDE:
                panel.set_xscale("log")
                panel.xaxis.set_major_formatter("{x:g}")  # its own is a formula, and formulas are not drawn
                panel.xaxis.set_minor_formatter("")
        else:
            names = sorted({flow(value) for value in values})
            _draw(panel, trials, [names.index(flow(value)) for value in values])
            panel.set_xticks(range(len(names)), names)
        share = (results["importances"] or {}).get(key)
        panel.set(xlabel=key + ("" if share is None else f" (importance {100 * share:.0f}%)"), ylabel="Elo")
    figure.legend(*first.get_legend_handles_labels(), loc="lower left", ncols=3)
    return figure


def _elos(trials: list[dict[str, Any]]) -> list[float]:
    return [trial["elo"] for trial in trials if trial["state"] == "complete"]


def _draw(panel: Axes, trials: list[dict[str, Any]], values: list[float]) -> None:
    for state in ("complete", "pruned"):
        if not (chosen := [place for place, trial in enumerate(trials) if trial["state"] == state]):
            continue
        elos = [trials[place]["elo"] for place in chosen]
        ends = [
            [0.0 if trials[place][end] is None else abs(trials[place]["elo"] - trials[place][end]) for place in chosen]
            for end in ("elo_low", "elo_high")
        ]
        panel.errorbar(
            [values[place] for place in chosen],
            elos,
            yerr=ends,
            fmt="o",
            color="C0",
            markerfacecolor="C0" if state == "complete" else "white",
            capsize=2,
            linewidth=1,
            label=f"{state}, with its 95% interval",
        )
