"""Counts of a dataset's content, and their display in the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.table import Table

from arena.terminal.console import Console
from training.data.shards import Dataset, all_trajectories
from training.data.targets import Target, without_target
from training.data.trajectory import MISSING

#: Upper bounds of the length classes, in decisions.
_LENGTHS = (10, 20, 30, 40, 60, 80, 120, 200)
_SHOWN = 12
_BAR = 32


def count(dataset: Dataset) -> dict[str, Any]:
    """Count trajectories by format, source, agent, opponent, team set, result and length, and decisions by their targets.

    `with_shares`: decisions with an expert's target policy; `with_values`: with a reported win probability.
    """
    names = ("format", "source", "agent", "opponent", "team_set")
    by: dict[str, Counter[str]] = {name: Counter() for name in (*names, "result", "length")}
    decisions = known = labelled = valued = 0
    no_target: Counter[str] = Counter()
    for trajectory in all_trajectories(dataset):
        for name in names:
            by[name][str(trajectory.about.get(name, "unknown"))] += 1
        by["result"][{1.0: "won", 0.5: "tied", 0.0: "lost"}.get(trajectory.result, str(trajectory.result))] += 1
        by["length"][_length_class(len(trajectory))] += 1
        decisions += len(trajectory)
        known += int(np.sum(trajectory.actions != MISSING))
        labelled += int(np.sum(trajectory.targets == Target.EXPERT))
        valued += int(np.sum(np.isfinite(trajectory.values)))
        no_target += without_target(trajectory.targets, trajectory.actions != MISSING)
    return {
        "folder": str(dataset.folder),
        "about": dataset.about,
        "trajectories": dataset.trajectories,
        "decisions": decisions,
        "known_actions": known,
        "with_shares": labelled,
        "with_values": valued,
        "without_target": dict(no_target.most_common()),
        "bytes": sum((dataset.folder / name).stat().st_size for name in dataset.names),
        "by": {name: dict(counts.most_common()) for name, counts in by.items()},
    }


def show(counted: dict[str, Any]) -> None:
    """Print the result of `count`."""
    console = Console()
    decisions = max(1, counted["decisions"])
    console.print(
        f"[bold]{counted['folder']}[/]: {counted['trajectories']:,} trajectories, {counted['decisions']:,} decisions, "
        f"{counted['bytes'] / 1e6:.1f} MB; of the decisions {counted['known_actions'] / decisions:.1%} with their action, "
        f"{counted['with_shares'] / decisions:.1%} with an expert's target policy, "
        f"{counted['with_values'] / decisions:.1%} with its value"
    )
    for line in target_lines(counted["without_target"]):
        console.print(line, highlight=False)
    for name, counts in counted["by"].items():
        table = Table(
            box=None,
            show_header=False,
            padding=(0, 1),
            title=name.replace("_", " "),
            title_justify="left",
            title_style="bold",
        )
        table.add_column("", min_width=20, overflow="fold")
        table.add_column("", justify="right")
        table.add_column("")
        ordered = sorted(counts.items(), key=_length_order) if name == "length" else list(counts.items())[:_SHOWN]
        maximum = max(counts.values(), default=1)
        for value, number in ordered:
            table.add_row(value, f"{number:,}", "█" * max(1, round(_BAR * number / maximum)))
        if len(counts) > len(ordered):
            table.add_row(f"and {len(counts) - len(ordered)} more", "", "")
        console.print(table)


def target_lines(no_target: Mapping[str, int]) -> list[str]:
    """Return the lines to print about decisions without a policy target. no_target: reason -> number of decisions."""
    return [f"without a policy target: {number:,} decisions: {reason}" for reason, number in no_target.items()]


def _length_class(decisions: int) -> str:
    for end in _LENGTHS:
        if decisions <= end:
            return f"up to {end}"
    return f"more than {_LENGTHS[-1]}"


def _length_order(entry: tuple[str, int]) -> tuple[bool, int]:
    label = entry[0]
    return label.startswith("more"), int(label.split()[-1])
