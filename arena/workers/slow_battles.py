"""Which battles take too long, where a slow machine must not hold back the others."""

from __future__ import annotations

import time
from collections.abc import Callable

#: A battle is given to an idle worker as well, in a pool that `duplicates_slow`, after so many times the mean and so many
#: seconds.
SLOW_TIMES, SLOW_SECONDS = 3.0, 2.0


class SlowBattles:
    """Which battles take much longer than the others have. duplicated: serials of those that an idle worker has as well.

    now: the clock, in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self.duplicated: set[int] = set()
        self._since: dict[int, float] = {}
        self._mean = 0.0

    def record_start(self, serial: int) -> None:
        """Note that a battle begins."""
        self._since[serial] = self._now()

    def record_end(self, serial: int) -> None:
        """Note that a battle is over. A battle that was played solo is not known here."""
        if serial in self._since:
            seconds = self._now() - self._since.pop(serial)
            self._mean = seconds if self._mean == 0.0 else 0.95 * self._mean + 0.05 * seconds

    def overdue(self) -> list[int]:
        """The serials of the battles that take too long, the oldest first; each only once."""
        if self._mean == 0.0:
            return []
        until = self._now() - SLOW_TIMES * self._mean - SLOW_SECONDS
        return [serial for serial, since in self._since.items() if since < until and serial not in self.duplicated]
