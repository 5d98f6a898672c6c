"""Sweeps in a ranking: agents that differ only in numbers, as a run's checkpoints at several temperatures do."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl

from arena.report.numbers import counted, whole
from arena.report.summary_types import BetterMatrix, RankingRow, SweepSeries, SweepSummary

#: A sweep has at least so many agents.
LEAST = 3
CHECKPOINT = "checkpoint"
SEPARATED = 0.95
_STEP = re.compile(r"(policy:.+?)(?:@|/checkpoints/step-)(\d+)")


def sweeps(ranking: Sequence[RankingRow], better: BetterMatrix) -> list[SweepSummary]:
    """The sweeps among the agents of a ranking that have battles, those of most agents first.

    Agents belong together if their specs are equal but for a checkpoint's step and options that are numbers, and if their
    ratings can be compared. The axis is the step, or else the option with most values; the other ones make the lines.
    """
    groups: dict[tuple[str, int], list[tuple[RankingRow, dict[str, float]]]] = defaultdict(list)
    for row in ranking:
        if row["games"]:
            base, numbers = parameters(row["agent"])
            groups[base, row["group"]].append((row, numbers))
    found = [_sweep(base, members, better) for (base, _), members in groups.items() if len(members) >= LEAST]
    return sorted((each for each in found if each is not None), key=lambda each: -each["agents"])


def parameters(spec: str) -> tuple[str, dict[str, float]]:
    """A spec without its numbers, and these by name: ("policy:runs/x", {"checkpoint": 10, "temperature": 0.5})."""
    head, _, query = spec.partition("?")
    numbers: dict[str, float] = {}
    step = _STEP.fullmatch(head)
    if step:
        head, numbers[CHECKPOINT] = step[1], float(step[2])
    others = []
    for name, value in parse_qsl(query, keep_blank_values=True):
        if re.fullmatch(r"-?\d+(\.\d+)?", value):
            numbers[name] = float(value)
        else:
            others.append(f"{name}={value}")
    return head + (f"?{'&'.join(others)}" if others else ""), numbers


def _sweep(
    base: str, members: Sequence[tuple[RankingRow, dict[str, float]]], better: BetterMatrix
) -> SweepSummary | None:
    values: dict[str, set[float]] = defaultdict(set)
    for _, numbers in members:
        for name, value in numbers.items():
            values[name].add(value)
    if not values:
        return None
    axis = CHECKPOINT if len(values.get(CHECKPOINT, ())) > 1 else max(values, key=lambda name: len(values[name]))
    others = [name for name in values if name != axis and len({numbers.get(name) for _, numbers in members}) > 1]
    lines: dict[str, SweepSeries] = {}
    placed = [(row, numbers) for row, numbers in members if axis in numbers]
    for row, numbers in sorted(placed, key=lambda member: ([member[1].get(o, -1.0) for o in others], member[1][axis])):
        label = ", ".join(f"{name} {_value(numbers, name)}" for name in others)
        lines.setdefault(label, {"label": label, "points": []})["points"].append(
            {"x": numbers[axis], **{key: row[key] for key in ("agent", "rank", "elo", "low", "high", "mark")}}  # type: ignore[typeddict-item]
        )
    if len(placed) < LEAST or len(values[axis]) < 2:
        return None
    return {
        "base": base,
        "axis": axis,
        "agents": len(placed),
        "lines": list(lines.values()),
        "sentence": _sentence(base, [row for row, _ in placed], better),
    }


def _value(numbers: Mapping[str, float], name: str) -> str:
    return f"{numbers[name]:g}" if name in numbers else "default"


def _sentence(base: str, rows: Sequence[RankingRow], better: BetterMatrix) -> str:
    """Which is best, and how many are not separated from it. The best of many looks better than it is."""
    best = max(rows, key=lambda row: row["elo"])
    place = better["agents"].index(best["agent"])
    chances = dict(zip(better["agents"], better["matrix"][place], strict=True))
    level = sum(row is not best and (chances[row["agent"]] or 0.0) < SEPARATED for row in rows)
    apart = f"{counted(level, 'other')} not separated from it" if level else "separated from all others"
    return (
        f"Sweep of {base}, {len(rows)} agents: the best is {best['agent']} (Elo {whole(best['elo'])}), {apart}. The best of "
        "several is overestimated: play it again with another seed."
    )


def sweep_table(sweep: SweepSummary) -> tuple[list[str], list[list[str]]]:
    """A sweep as heads and rows of text: a row for each value of the axis, a column for each line, "Elo [low, high]"."""
    cells = {
        (
            point["x"],
            line["label"],
        ): f"{whole(point['elo'])} [{whole(point['low'])}, {whole(point['high'])}]{point['mark'] and ' *'}"
        for line in sweep["lines"]
        for point in line["points"]
    }
    heads = [sweep["axis"], *(line["label"] or "Elo [95% interval]" for line in sweep["lines"])]
    values = sorted({x for x, _ in cells})
    return heads, [[f"{x:g}", *(cells.get((x, line["label"]), "") for line in sweep["lines"])] for x in values]
