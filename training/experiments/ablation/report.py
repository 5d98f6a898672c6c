"""An ablation's results as tables, for the terminal and in files."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from rich.console import Console

from arena.report.markdown import markdown_table, points
from arena.report.numbers import counted
from arena.report.printing import print_text, print_whole
from training.experiments.ablation.cells import Planned, meant
from training.experiments.ablation.config import Ablation
from training.experiments.ablation.plot import ablation_figure
from training.experiments.ablation.results import unequal
from training.experiments.result_files import percent_text, print_conclusions, text_table, write_results

_DIFFERENCE_HEADS = ["difference", "percentage points", "95% interval", ""]


def print_plan(console: Console, ablation: Ablation, plan: list[Planned]) -> None:
    """Print the cells, their sizes, and what is held equal."""
    sizes = list(dict.fromkeys(name for planned in plan for name in planned.sizes))
    heads = ["variant", *sizes, "data"]
    rows = []
    for planned in plan:
        about = "" if planned.exact else "about "
        numbers = [f"{planned.sizes[name]:,}" if name in planned.sizes else "–" for name in sizes]
        rows.append([planned.variant, *numbers, about + planned.data if planned.data else "–"])
    seeds = ", ".join(map(str, ablation.seeds))
    cells = len(plan) * len(ablation.seeds)
    print_text(
        console, f"{ablation.name}: {counted(cells, 'cell')}, {counted(len(plan), 'variant')} with the seeds {seeds}"
    )
    print_whole(console, text_table(heads, rows, numbers=range(1, len(sizes) + 1)))
    for quantity in ablation.equal:
        named = " and ".join(meant(quantity, sizes))
        print_text(console, f"equal: {quantity}" + (f" ({named})" if named and named != quantity else ""))
    if unequal(plan):
        print_text(console, unequal(plan))
    evaluation = ablation.evaluation
    battles = (
        2
        * ((evaluation.battles + 1) // 2)
        * len(evaluation.opponents)
        * len(evaluation.formats)
        * len(evaluation.teams)
    )
    print_text(
        console,
        f"held-out battles: {battles:,} per cell, {cells * battles:,} in total, against {', '.join(evaluation.opponents)} "
        f"in {', '.join(evaluation.formats)} on {', '.join(evaluation.teams)}",
    )


def print_results(console: Console, results: dict[str, Any]) -> None:
    """Print the tables and the conclusions."""
    heads = _heads(results)
    print_text(console, _title(results))
    print_whole(console, text_table(heads, _rows(results), numbers=range(1, len(heads))))
    print_whole(console, text_table(_DIFFERENCE_HEADS, _differences(results), numbers={1}))
    print_conclusions(console, results)


def write(folder: Path, results: dict[str, Any]) -> list[Path]:
    """Write results.json, .csv, .svg (if matplotlib is installed) and .md, and return their paths."""
    return write_results(
        folder,
        results,
        lambda: ablation_figure(results),
        "scores and differences with their intervals",
        lambda lines: _markdown(results, lines),
        _csv(results),
    )


def _title(results: dict[str, Any]) -> str:
    luck = "unknown" if results["seed_luck"] is None else f"{100 * results['seed_luck']:.1f} percentage points"
    return (
        f"{results['name']}: score in % with 95% intervals, {counted(len(results['seeds']), 'seed')} each, "
        f"{results['battles']:,} battles; standard deviation between seeds: {luck}"
    )


def _heads(results: dict[str, Any]) -> list[str]:
    return ["variant", "all opponents", *results["opponents"], "by seed"]


def _rows(results: dict[str, Any]) -> list[list[str]]:
    return [
        [
            row["variant"],
            percent_text(row),
            *(percent_text(row["against"][name]) for name in results["opponents"]),
            " ".join(f"{100 * cell['score']:.1f}" for cell in row["cells"]),
        ]
        for row in results["variants"]
    ]


def _differences(results: dict[str, Any]) -> list[list[str]]:
    return [
        [
            f"{difference['better']} minus {difference['worse']}",
            f"{100 * difference['points']:.1f}",
            f"[{100 * difference['low']:.1f}, {100 * difference['high']:.1f}]",
            "significant" if difference["clear"] else "not significant",
        ]
        for difference in results["differences"]
    ]


def _markdown(results: dict[str, Any], plot: list[str]) -> str:
    heads = _heads(results)
    sizes = list(dict.fromkeys(name for row in results["variants"] for name in row["sizes"]))
    made = [
        [row["variant"], *(f"{row['sizes'][name]:,}" if name in row["sizes"] else "–" for name in sizes), row["data"]]
        for row in results["variants"]
    ]
    blocks = [
        f"# Ablation: {results['name']}",
        points(results["sentences"]),
        f"{_title(results)}.",
        markdown_table(heads, _rows(results), numbers=set(range(1, len(heads)))),
        *plot,
        markdown_table(_DIFFERENCE_HEADS, _differences(results), numbers={1}),
        "Held equal: " + (", ".join(results["equal"]) or "nothing") + ".",
        markdown_table(["variant", *sizes, "data"], made, numbers=set(range(1, len(sizes) + 1))),
        points(results["notes"]),
    ]
    return "\n\n".join(blocks) + "\n"


def _csv(results: dict[str, Any]) -> str:
    """Format a row per variant (in total and per opponent) and per checkpoint as CSV."""
    file = io.StringIO()
    out = csv.writer(file, lineterminator="\n")
    out.writerow(["variant", "seed", "opponent", "score", "low", "high"])
    for row in results["variants"]:
        lines = [("all", "all", row), *(("all", name, scored) for name, scored in row["against"].items())]
        lines += [(cell["seed"], "all", cell) for cell in row["cells"]]
        for seed, opponent, scored in lines:
            out.writerow([row["variant"], seed, opponent, *(f"{scored[key]:.5f}" for key in ("score", "low", "high"))])
    return file.getvalue()
