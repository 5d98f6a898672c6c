"""Where the time of an iteration goes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Seconds in named parts since the last `taken`: `with clock("learn"): ...`. Parts must not contain one another."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[part] = self._seconds.get(part, 0.0) + time.perf_counter() - began

    def taken(self) -> dict[str, float]:
        """Seconds by part; begins anew."""
        seconds, self._seconds = self._seconds, {}
        return seconds
