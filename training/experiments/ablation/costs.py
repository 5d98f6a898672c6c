"""What the cells of an ablation of online training cost and came to, from their metrics: tables, curves, and DuckDB.

OUT/costs.md      a row per variant: means over its seeds
OUT/curves.svg    returns, KL, entropy, value errors and speed by decisions
OUT/online.duckdb tables `cells` (a row per run) and `metrics` (variant, seed, iteration, decisions, metric, value)
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import duckdb
import pandas as pd
from rich.console import Console
from rich.table import Table

from arena.report.markdown import markdown_table
from arena.report.printing import print_whole
from teamsets.atomic import write_atomic
from training.experiments.ablation.config import Ablation, cell_folder, variants
from training.runs.curves import Point, comparison_figure
from training.runs.figures import write_figure
from training.runs.run_folder import json_lines

#: A cell's returns and KL are means over this share of its iterations, the last ones.
_LAST = 0.1
_HEADS = (
    "variant", "decisions", "updates", "iterations", "time (s)", "decisions/s", "peak memory (MiB)", "raw return",
    "KL (nats)",
)  # fmt: skip
#: Panel -> metric.
_PANELS = {
    "mean result of the battles played, from -1 to 1": "raw_return",
    "KL to the reference (nats per decision)": "kl",
    "entropy (nats)": "entropy",
    "squared error of the value": "value_error",
    "gradient norm": "gradient_norm",
    "decisions/s": "decisions_per_s",
}
_POINTS = 60
_COUNTED = ("decisions", "updates", "iterations", "seconds", "decisions_per_s", "memory_mib", "raw_return")
#: Variant -> seed -> the metrics of each iteration.
_Metrics = dict[str, dict[int, list[dict[str, float]]]]


def cells(ablation: Ablation) -> list[dict[str, Any]]:
    """A row per run: what it did, took and came to. None where a metric was not measured."""
    rows = []
    for variant, runs in _metrics(ablation).items():
        for seed, lines in runs.items():
            last = lines[-max(1, round(_LAST * len(lines))) :]
            seconds = sum(value for line in lines for key, value in line.items() if key.startswith("seconds/"))
            rows.append(
                {
                    "variant": variant,
                    "seed": seed,
                    "decisions": lines[-1]["total_decisions"],
                    "updates": lines[-1]["updates"],
                    "iterations": lines[-1]["step"],
                    "seconds": seconds,
                    "decisions_per_s": lines[-1]["total_decisions"] / seconds,
                    "memory_mib": max(line["memory_mib"] for line in lines),
                    "gpu_memory_mib": max(line.get("gpu_memory_mib", 0.0) for line in lines),
                    "raw_return": fmean(line["raw_return"] for line in last),
                    "kl": fmean(line["kl"] for line in last) if "kl" in last[-1] else None,
                }
            )
    return rows


def print_costs(console: Console, rows: Sequence[dict[str, Any]]) -> None:
    """Print the table of the variants."""
    table = Table()
    for head in _HEADS:
        table.add_column(head, justify="left" if head == "variant" else "right")
    for row in _by_variant(rows):
        table.add_row(*row)
    print_whole(console, table)


def write_costs(ablation: Ablation, rows: Sequence[dict[str, Any]]) -> list[Path]:
    """Write costs.md, curves.svg (if matplotlib is installed) and online.duckdb into the ablation's folder.

    Returns their paths.
    """
    out = Path(ablation.out)
    text = markdown_table(list(_HEADS), _by_variant(rows), numbers=set(range(1, len(_HEADS))))
    write_atomic(out / "costs.md", f"# What each variant cost: {ablation.name}\n\n{text}\n\n{_note()}\n")
    metrics = _metrics(ablation)
    curves = out / "curves.svg"
    is_drawn = write_figure(
        curves, lambda: comparison_figure(_curves(metrics), ablation.name, "decisions of the learner")
    )
    file = out / "online.duckdb"
    temporary = file.with_suffix(".new")
    temporary.unlink(missing_ok=True)
    with duckdb.connect(str(temporary)) as store:
        for name, frame in (("cells", pd.DataFrame(rows)), ("metrics", _long(metrics))):
            store.register("frame", frame)
            store.execute(f"CREATE TABLE {name} AS SELECT * FROM frame")
    os.replace(temporary, file)
    return [out / "costs.md", *([curves] if is_drawn else []), file]


def _note() -> str:
    return (
        f"Means over the seeds. Raw return (from -1 to 1, all opponents that the variant met) and KL: of the last "
        f"{_LAST:.0%} of the iterations. Time: playing and learning. Peak memory: resident, of each run's process."
    )


def _by_variant(rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    table = []
    for variant in dict.fromkeys(row["variant"] for row in rows):
        mine = [row for row in rows if row["variant"] == variant]
        mean = {key: fmean(row[key] for row in mine) for key in mine[0] if key in _COUNTED}
        known = [row["kl"] for row in mine if row["kl"] is not None]
        table.append(
            [
                variant,
                *(f"{mean[key]:,.0f}" for key in _COUNTED[:-1]),
                f"{mean['raw_return']:+.3f}",
                f"{fmean(known):.3f}" if known else "–",
            ]
        )
    return table


def _metrics(ablation: Ablation) -> _Metrics:
    """The metrics of every cell."""
    return {
        variant: {seed: _lines(cell_folder(ablation, variant, seed)) for seed in ablation.seeds}
        for variant in variants(ablation)
    }


def _lines(folder: Path) -> list[dict[str, float]]:
    """The metrics of a cell's iterations, without those of evaluations."""
    return [line for line in json_lines(folder / "metrics.jsonl") if "total_decisions" in line]


def _long(metrics: _Metrics) -> pd.DataFrame:
    rows = [
        (variant, seed, int(line["step"]), int(line["total_decisions"]), name, value)
        for variant, runs in metrics.items()
        for seed, lines in runs.items()
        for line in lines
        for name, value in line.items()
        if name not in ("step", "total_decisions")
    ]
    return pd.DataFrame(rows, columns=["variant", "seed", "iteration", "decisions", "metric", "value"])


def _curves(metrics: _Metrics) -> dict[str, dict[str, list[Point]]]:
    """Panel -> variant -> its curve, the mean over its seeds."""
    panels: dict[str, dict[str, list[Point]]] = {}
    for head, metric in _PANELS.items():
        curves = {}
        for variant, cells_of in metrics.items():
            runs = [[line for line in lines if metric in line] for lines in cells_of.values()]
            if all(runs):
                curves[variant] = _mean_curve(runs, metric)
        if curves:
            panels[head] = curves
    return panels


def _mean_curve(runs: list[list[dict[str, float]]], metric: str) -> list[Point]:
    """The mean of several runs over equal parts of their iterations."""
    parts = min(_POINTS, *(len(run) for run in runs))
    points = []
    for part in range(parts):
        chosen = [line for run in runs for line in run[len(run) * part // parts : len(run) * (part + 1) // parts]]
        points.append(Point(fmean(x["total_decisions"] for x in chosen), fmean(x[metric] for x in chosen)))
    return points
