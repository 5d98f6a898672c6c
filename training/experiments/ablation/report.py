"""An ablation's results as tables, for the terminal and in files."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.report.markdown import markdown_table, points
from arena.report.numbers import counted
from arena.report.printing import print_whole, prose
from teamsets.atomic import write_atomic
from training.experiments.ablation.cells import Planned, meant
from training.experiments.ablation.config import Ablation
from training.experiments.ablation.plot import ablation_figure
from training.experiments.ablation.results import unequal
from training.runs.figures import write_figure


def print_plan(console: Console, ablation: Ablation, plan: list[Planned]) -> None:
    """Print the cells, their sizes, and what is held equal."""
    sizes = list(dict.fromkeys(name for planned in plan for name in planned.sizes))
    table = _table(["variant", *sizes, "data"], numbers=range(1, len(sizes) + 1))
    for planned in plan:
        about = "" if planned.exact else "about "
        numbers = [f"{planned.sizes[name]:,}" if name in planned.sizes else "–" for name in sizes]
        table.add_row(planned.variant, *numbers, about + planned.data if planned.data else "–")
    seeds = ", ".join(map(str, ablation.seeds))
    cells = len(plan) * len(ablation.seeds)
    _say(console, f"{ablation.name}: {counted(cells, 'cell')}, {counted(len(plan), 'variant')} with the seeds {seeds}")
    print_whole(console, table)
    for quantity in ablation.equal:
        named = " and ".join(meant(quantity, sizes))
        _say(console, f"equal: {quantity}" + (f" ({named})" if named and named != quantity else ""))
    if unequal(plan):
        _say(console, unequal(plan))
    evaluation = ablation.evaluation
    battles = (
        2
        * ((evaluation.battles + 1) // 2)
        * len(evaluation.opponents)
        * len(evaluation.formats)
        * len(evaluation.teams)
    )
    _say(
        console,
        f"held-out battles: {battles:,} per cell, {cells * battles:,} in total, against {', '.join(evaluation.opponents)} "
        f"in {', '.join(evaluation.formats)} on {', '.join(evaluation.teams)}",
    )


def print_results(console: Console, results: dict[str, Any]) -> None:
    """Print the tables and the conclusions."""
    heads = _heads(results)
    table = _table(heads, numbers=range(1, len(heads)))
    for row in _rows(results):
        table.add_row(*map(Text, row))
    _say(console, _title(results))
    print_whole(console, table)
    differences = _table(["difference", "percentage points", "95% interval", ""], numbers=range(1, 2))
    for row in _differences(results):
        differences.add_row(*map(Text, row))
    print_whole(console, differences)
    for sentence in results["sentences"]:
        _say(console, "• ", prose(sentence))
    for note in results["notes"]:
        _say(console, "Note: ", prose(note))


def write(folder: Path, results: dict[str, Any]) -> list[Path]:
    """Write results.json, .csv, .svg (if matplotlib is installed) and .md, and return their paths."""
    plot = folder / "results.svg"
    is_drawn = write_figure(plot, lambda: ablation_figure(results))
    texts = {
        "json": json.dumps(results, indent=1) + "\n",
        "csv": _csv(results),
        "md": _markdown(results, [f"![scores and differences with their intervals]({plot.name})"] if is_drawn else []),
    }
    written = [plot] if is_drawn else []
    for ending, text in texts.items():
        path = folder / f"results.{ending}"
        write_atomic(path, text)
        written.append(path)
    return written


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
            _score(row),
            *(_score(row["against"][name]) for name in results["opponents"]),
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


def _score(score: dict[str, float]) -> str:
    return f"{100 * score['score']:.1f} [{100 * score['low']:.1f}, {100 * score['high']:.1f}]"


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
        markdown_table(["difference", "percentage points", "95% interval", ""], _differences(results), numbers={1}),
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


def _table(heads: list[str], *, numbers: range) -> Table:
    table = Table()
    for index, head in enumerate(heads):
        table.add_column(Text(head), justify="right" if index in numbers else "left")
    return table


def _say(console: Console, *text: str | Text) -> None:
    console.print(Text.assemble(*text), soft_wrap=True)
