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
from training.experiments.ablation.plot import picture
from training.experiments.ablation.results import unequal


def print_plan(console: Console, ablation: Ablation, plan: list[Planned]) -> None:
    """Print the cells, their sizes, and what is held equal."""
    sizes = list(dict.fromkeys(name for one in plan for name in one.sizes))
    table = _table(["variant", *sizes, "data"], numbers=range(1, len(sizes) + 1))
    for one in plan:
        about = "" if one.exact else "about "
        numbers = [f"{one.sizes[name]:,}" if name in one.sizes else "–" for name in sizes]
        table.add_row(one.variant, *numbers, about + one.data if one.data else "–")
    seeds = ", ".join(map(str, ablation.seeds))
    cells = len(plan) * len(ablation.seeds)
    _say(console, f"{ablation.name}: {counted(cells, 'cell')}, {counted(len(plan), 'variant')} with the seeds {seeds}")
    print_whole(console, table)
    for quantity in ablation.equal:
        named = " and ".join(meant(quantity, sizes))
        _say(console, f"equal: {quantity}" + (f" ({named})" if named and named != quantity else ""))
    if unequal(plan):
        _say(console, unequal(plan))
    asked = ablation.evaluation
    battles = 2 * ((asked.battles + 1) // 2) * len(asked.opponents) * len(asked.formats) * len(asked.teams)
    _say(
        console,
        f"held-out battles: {battles:,} per cell, {cells * battles:,} in total, against {', '.join(asked.opponents)} in "
        f"{', '.join(asked.formats)} on {', '.join(asked.teams)}",
    )


def print_results(console: Console, told: dict[str, Any]) -> None:
    """Print the tables and the conclusions."""
    heads = _heads(told)
    table = _table(heads, numbers=range(1, len(heads)))
    for row in _rows(told):
        table.add_row(*map(Text, row))
    _say(console, _title(told))
    print_whole(console, table)
    differences = _table(["difference", "percentage points", "95% interval", ""], numbers=range(1, 2))
    for row in _differences(told):
        differences.add_row(*map(Text, row))
    print_whole(console, differences)
    for sentence in told["sentences"]:
        _say(console, "• ", prose(sentence))
    for note in told["notes"]:
        _say(console, "Note: ", prose(note))


def write(folder: Path, told: dict[str, Any]) -> list[Path]:
    """Write results.json, .csv, .svg and .md, and return their paths."""
    texts = {"json": json.dumps(told, indent=1) + "\n", "csv": _csv(told), "svg": picture(told), "md": _markdown(told)}
    written = []
    for ending, text in texts.items():
        path = folder / f"results.{ending}"
        write_atomic(path, text)
        written.append(path)
    return written


def _title(told: dict[str, Any]) -> str:
    luck = "unknown" if told["seed_luck"] is None else f"{100 * told['seed_luck']:.1f} percentage points"
    return (
        f"{told['name']}: score in % with 95% intervals, {counted(len(told['seeds']), 'seed')} each, "
        f"{told['battles']:,} battles; standard deviation between seeds: {luck}"
    )


def _heads(told: dict[str, Any]) -> list[str]:
    return ["variant", "all opponents", *told["opponents"], "by seed"]


def _rows(told: dict[str, Any]) -> list[list[str]]:
    return [
        [
            row["variant"],
            _score(row),
            *(_score(row["against"][name]) for name in told["opponents"]),
            " ".join(f"{100 * cell['score']:.1f}" for cell in row["cells"]),
        ]
        for row in told["variants"]
    ]


def _differences(told: dict[str, Any]) -> list[list[str]]:
    return [
        [
            f"{one['better']} minus {one['worse']}",
            f"{100 * one['points']:.1f}",
            f"[{100 * one['low']:.1f}, {100 * one['high']:.1f}]",
            "significant" if one["clear"] else "not significant",
        ]
        for one in told["differences"]
    ]


def _score(one: dict[str, float]) -> str:
    return f"{100 * one['score']:.1f} [{100 * one['low']:.1f}, {100 * one['high']:.1f}]"


def _markdown(told: dict[str, Any]) -> str:
    heads = _heads(told)
    sizes = list(dict.fromkeys(name for row in told["variants"] for name in row["sizes"]))
    made = [
        [row["variant"], *(f"{row['sizes'][name]:,}" if name in row["sizes"] else "–" for name in sizes), row["data"]]
        for row in told["variants"]
    ]
    blocks = [
        f"# Ablation: {told['name']}",
        points(told["sentences"]),
        f"{_title(told)}.",
        markdown_table(heads, _rows(told), numbers=set(range(1, len(heads)))),
        "![scores and differences with their intervals](results.svg)",
        markdown_table(["difference", "percentage points", "95% interval", ""], _differences(told), numbers={1}),
        "Held equal: " + (", ".join(told["equal"]) or "nothing") + ".",
        markdown_table(["variant", *sizes, "data"], made, numbers=set(range(1, len(sizes) + 1))),
        points(told["notes"]),
    ]
    return "\n\n".join(blocks) + "\n"


def _csv(told: dict[str, Any]) -> str:
    """Format a row per variant (in total and per opponent) and per checkpoint as CSV."""
    file = io.StringIO()
    out = csv.writer(file, lineterminator="\n")
    out.writerow(["variant", "seed", "opponent", "score", "low", "high"])
    for row in told["variants"]:
        lines = [("all", "all", row), *(("all", name, one) for name, one in row["against"].items())]
        lines += [(cell["seed"], "all", cell) for cell in row["cells"]]
        for seed, opponent, one in lines:
            out.writerow([row["variant"], seed, opponent, *(f"{one[key]:.5f}" for key in ("score", "low", "high"))])
    return file.getvalue()


def _table(heads: list[str], *, numbers: range) -> Table:
    table = Table()
    for index, head in enumerate(heads):
        table.add_column(Text(head), justify="right" if index in numbers else "left")
    return table


def _say(console: Console, *text: str | Text) -> None:
    console.print(Text.assemble(*text), soft_wrap=True)
