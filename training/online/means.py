"""Means of metrics over the minibatches of an iteration."""

from __future__ import annotations

from torch import Tensor


class Means:
    """Sums up metrics: `means.add(loss=loss)`, then `means.taken()`."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = {}
        self._counts: dict[str, int] = {}

    def add(self, **metrics: Tensor | float) -> None:
        """Count these metrics of a minibatch."""
        for name, value in metrics.items():
            number = float(value.detach()) if isinstance(value, Tensor) else value
            self._sums[name] = self._sums.get(name, 0.0) + number
            self._counts[name] = self._counts.get(name, 0) + 1

    def taken(self) -> dict[str, float]:
        """Metric -> mean over the minibatches that had it."""
        return {name: total / self._counts[name] for name, total in self._sums.items()}
