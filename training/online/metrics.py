"""Metrics of an iteration: means over its minibatches, and where its time goes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor


class Averages:
    """Means of metrics over minibatches: `averages.add(loss=loss)` for each, then `averages.means()`.

    Of a minibatch in pieces: `averages.add(piece.share, loss=loss)` for each piece.

    Only `means` waits for a GPU.
    """

    def __init__(self) -> None:
        self._sums: dict[str, Tensor | float] = {}
        self._weights: dict[str, float] = {}

    def add(self, weight: float = 1.0, /, **metrics: Tensor | float) -> None:
        """Count these metrics of a minibatch, or of so much of it."""
        for name, value in metrics.items():
            number = value.detach().double() if isinstance(value, Tensor) else value
            self._sums[name] = self._sums.get(name, 0.0) + weight * number
            self._weights[name] = self._weights.get(name, 0.0) + weight

    def means(self) -> dict[str, float]:
        """Metric -> mean over the minibatches that had it."""
        return {name: float(total) / self._weights[name] for name, total in self._sums.items()}


class IterationClock:
    """Seconds in named parts since the last `pop_seconds`: `with clock("learn"): ...`. Parts must not be nested."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[part] = self._seconds.get(part, 0.0) + time.perf_counter() - began

    def pop_seconds(self) -> dict[str, float]:
        """Return the seconds by part, and begin anew."""
        seconds, self._seconds = self._seconds, {}
        return seconds
