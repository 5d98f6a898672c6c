"""A sweep's plan and results as tables, for the terminal and in files."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from rich.console import Console

from arena.report.markdown import markdown_table, points
from arena.report.numbers import counted
from arena.report.printing import print_text, print_whole
from training.experiments.result_files import percent_text, print_conclusions, text_table, write_results
from training.experiments.sweep.config import Choices, Space, Sweep, rungs
from training.experiments.sweep.measuring import elo_text
from training.experiments.sweep.plot import sweep_figure
from training.experiments.sweep.results import trained_on
from training.runs.settings import flow

_ELO, _SCORE = "Elo [95%]", "score % [95%]"


def print_plan(console: Console, sweep: Sweep) -> None:
    """Print what is tried, and what it takes."""
    print_text(
        console, f"{sweep.name}: {counted(sweep.trials, 'trial')} of {sweep.length.total:,} {sweep.length.unit} each"
    )
    print_whole(
        console,
        text_table(["setting", "tried"], [[key, _tried(each)] for key, each in sweep.space.items()], numbers=()),
    )
    if sweep.pruner.at:
        print_text(console, f"pruned at {', '.join(map(str, sweep.pruner.at))} {sweep.length.unit}: not the best "
             f"{100 * sweep.pruner.keep:.0f}%, after {counted(sweep.pruner.startup_trials, 'complete trial')}")  # fmt: skip
    evaluation, final = sweep.evaluation, sweep.final
    pairings = len(evaluation.opponents) * len(evaluation.formats) * len(evaluation.teams)
    at_most = _pairs(evaluation.battles) * pairings * len(rungs(sweep))
    print_text(
        console,
        f"evaluation battles: {at_most:,} a trial at most, {at_most * sweep.trials:,} in total, against "
        f"{', '.join(evaluation.opponents)} in {', '.join(evaluation.formats)} on {', '.join(evaluation.teams)}",
    )
    runs = 2 * len(final.training_seeds)
    print_text(
        console,
        f"final measurement: {counted(runs, 'more run')}, {_pairs(final.battles) * pairings * (1 + runs):,} battles",
    )
    if trained_on(sweep):
        print_text(console, f"not held out in training: {', '.join(trained_on(sweep))}: add them to rollout.held_out")


def _pairs(battles: int) -> int:
    """Battles in whole pairs."""
    return 2 * ((battles + 1) // 2)


def _tried(each: Space) -> str:
    if isinstance(each, Choices):
        return ", ".join(map(flow, each.values))
    return f"{each.low:g} to {each.high:g} ({'whole numbers' if each.kind == 'int' else each.kind})"


def print_results(console: Console, results: dict[str, Any]) -> None:
    """Print the tables and the conclusions."""
    print_text(console, _title(results))
    print_whole(console, text_table(_heads(results), _rows(results), numbers=(0,)))
    print_whole(console, text_table(*_measured(results), numbers=()))
    if results["importances"]:
        shares = [f"{key} {100 * share:.0f}%" for key, share in results["importances"].items()]
        print_text(console, f"importances: {', '.join(shares)}")
    print_conclusions(console, results)


def write(folder: Path, results: dict[str, Any]) -> list[Path]:
    """Write results.json, .csv, .svg (if matplotlib is installed) and .md, and return their paths."""
    return write_results(
        folder,
        results,
        lambda: sweep_figure(results),
        "Elo by trial and by setting",
        lambda lines: _markdown(results, lines),
        _csv(results),
    )


def _title(results: dict[str, Any]) -> str:
    states = [trial["state"] for trial in results["trials"]]
    counts = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
    return (
        f"{results['name']}: {counted(len(states), 'trial')} ({counts}), against {', '.join(results['opponents'])} in "
        f"{', '.join(results['formats'])} on {', '.join(results['teams'])}"
    )


def _heads(results: dict[str, Any]) -> list[str]:
    return ["trial", *results["space"], "state", results["length"]["unit"], _ELO, _SCORE]


def _rows(results: dict[str, Any]) -> list[list[str]]:
    """A row for each trial: complete ones from the best, then the others by how far they came."""
    order = {"complete": 0, "pruned": 1}
    ranked = sorted(
        results["trials"],
        key=lambda trial: (order.get(trial["state"], 2), -(trial["at"] or 0), -(trial.get("elo") or 0)),
    )
    return [
        [
            str(trial["trial"]),
            *(_short(trial["settings"].get(key)) for key in results["space"]),
            trial["state"],
            "–" if trial["at"] is None else f"{trial['at']:,}",
            elo_text(trial) if "elo" in trial else "–",
            percent_text(trial) if "score" in trial else "–",
        ]
        for trial in ranked
    ]


def _measured(results: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """The head and rows of the table that says which number is which."""
    rows = [
        [
            row["what"],
            elo_text(row),
            percent_text(row),
            "biased upwards by the choice" if row["chosen_by"] else "unbiased",
        ]
        for row in results["measurements"]
    ]
    return ["measured", _ELO, _SCORE, ""], rows


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else flow(value)


def _markdown(results: dict[str, Any], plot: list[str]) -> str:
    heads, (measured_heads, measured) = _heads(results), _measured(results)
    blocks = [
        f"# Sweep: {results['name']}",
        points(results["sentences"]),
        markdown_table(measured_heads, measured, numbers=set()),
        f"{_title(results)}.",
        markdown_table(heads, _rows(results), numbers={0}),
        *plot,
        points(results["notes"]),
    ]
    return "\n\n".join(blocks) + "\n"


def _csv(results: dict[str, Any]) -> str:
    """Format a row per trial as CSV, in the order in which they were drawn."""
    numbers = ("elo", "elo_low", "elo_high", "score", "low", "high", "battles")
    file = io.StringIO()
    out = csv.writer(file, lineterminator="\n")
    out.writerow(["trial", "state", *results["space"], "at", *numbers, "folder"])
    for trial in results["trials"]:
        settings = [trial["settings"].get(key) for key in results["space"]]
        written = [value if isinstance(value, int | float | str) else flow(value) for value in settings]
        out.writerow(
            [
                trial["trial"],
                trial["state"],
                *written,
                trial["at"],
                *(trial.get(key) for key in numbers),
                trial["folder"],
            ]
        )
    return file.getvalue()
