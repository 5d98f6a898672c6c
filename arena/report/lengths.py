"""Battle lengths: quantiles and a histogram."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from arena.report.counts import LengthCount
from arena.report.summary_types import LengthBin, LengthSummary

WIDTHS = (1, 2, 5, 10, 20, 25, 50)
BINS = 24  # at most so many, and one for all that is longer


def describe(agent_counts: Iterable[LengthCount]) -> LengthSummary:
    """The lengths of all battles, from counts in which each battle comes twice, once for each agent."""
    counts: Counter[int] = Counter()
    for count in agent_counts:
        counts[count.turns] += count.battles
    order = sorted(counts)
    turns, weights = np.array(order), np.array([counts[each] for each in order]) / 2
    total = int(weights.sum())

    def quantile(share: float) -> int:
        return int(_quantile(turns, weights, share))

    return {
        "battles": total,
        "mean": float(turns @ weights / total),
        "shortest": quantile(0.0),
        "q05": quantile(0.05),
        "q25": quantile(0.25),
        "median": quantile(0.5),
        "q75": quantile(0.75),
        "q95": quantile(0.95),
        "longest": quantile(1.0),
        "bins": _bins(turns, weights),
    }


def median(counts: Iterable[tuple[int, int]]) -> int:
    """The median of (turns, battles)."""
    turns, battles = (np.array(column) for column in zip(*sorted(counts), strict=True))
    return int(_quantile(turns, battles, 0.5))


def _quantile(values: Any, weights: Any, share: float) -> Any:
    """The smallest value that at least this share of the weight does not exceed."""
    reached = np.cumsum(weights) / weights.sum()
    return values[min(int(np.searchsorted(reached, share - 1e-12)), len(values) - 1)]


def _bins(turns: Any, weights: Any) -> list[LengthBin]:
    top = int(_quantile(turns, weights, 0.99))
    width = next((width for width in WIDTHS if top <= width * BINS), WIDTHS[-1])
    bins: list[LengthBin] = []
    end = 0  # of the bins so far, exclusive
    for start in range(0, min(top, width * BINS) + 1, width):
        end = start + width
        inside = weights[(turns >= start) & (turns < end)].sum()
        bins.append({"from": start, "to": end - 1, "battles": int(inside)})
    longer = int(weights[turns >= end].sum())
    if longer:
        bins.append({"from": end, "to": None, "battles": longer})
    return bins
