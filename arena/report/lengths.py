"""Battle lengths: quantiles and a histogram."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

QUANTILES = {"shortest": 0.0, "q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95, "longest": 1.0}
WIDTHS = (1, 2, 5, 10, 20, 25, 50)
BINS = 24  # at most so many, and one for all that is longer


def describe(found: Iterable[tuple[str, int, int, float]]) -> dict[str, Any]:
    """From (agent, turns, battles, points), in which each battle comes twice: {"battles", "mean", QUANTILES, "bins"}.

    bins: [{"from", "to", "battles"}], turns `from` to `to` inclusive; the last has "to" None when some are far longer.
    """
    counts: Counter[int] = Counter()
    for _, length, battles, _ in found:
        counts[length] += battles
    order = sorted(counts)
    turns, weights = np.array(order), np.array([counts[each] for each in order]) / 2
    total = int(weights.sum())
    said = {name: int(_quantile(turns, weights, share)) for name, share in QUANTILES.items()}
    return {"battles": total, "mean": float(turns @ weights / total), **said, "bins": _bins(turns, weights)}


def median(counts: Iterable[tuple[int, int]]) -> int:
    """The median of (turns, battles)."""
    turns, battles = (np.array(column) for column in zip(*sorted(counts), strict=True))
    return int(_quantile(turns, battles, 0.5))


def _quantile(values: Any, weights: Any, share: float) -> Any:
    """The smallest value that at least this share of the weight does not exceed."""
    reached = np.cumsum(weights) / weights.sum()
    return values[min(int(np.searchsorted(reached, share - 1e-12)), len(values) - 1)]


def _bins(turns: Any, weights: Any) -> list[dict[str, Any]]:
    top = int(_quantile(turns, weights, 0.99))
    width = next((width for width in WIDTHS if top <= width * BINS), WIDTHS[-1])
    bins: list[dict[str, Any]] = []
    for start in range(0, min(top, width * BINS) + 1, width):
        inside = weights[(turns >= start) & (turns < start + width)].sum()
        bins.append({"from": start, "to": start + width - 1, "battles": int(inside)})
    longer = int(weights[turns > bins[-1]["to"]].sum())
    if longer:
        bins.append({"from": bins[-1]["to"] + 1, "to": None, "battles": longer})
    return bins
