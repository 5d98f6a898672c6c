"""The time of a run: without the time for which its processes were stopped, and its limits only when a witness is awake.

All processes of a run may be stopped together: Ctrl-Z and fg, `docker pause`, a suspended machine. No agent has thought
then, though the system's clock went on. A process cannot tell this from its own clock; another one, the witness, can: it
ticks in memory that they share, and a gap between two ticks is time for which it, and so the run, stood still. The
coordinator is the witness of its workers, and a worker's nursery that of the agent processes.
"""

from __future__ import annotations

import mmap
import tempfile
import time
from collections.abc import Callable, Iterable

#: Seconds between two ticks, and the gap between two that counts as standstill: more than a busy machine delays a tick.
TICK_SECONDS, STILL_SECONDS = 0.25, 1.0
# The words of the memory, 8 bytes each: when the witness last ticked (monotonic; 0: never), and the seconds of standstill.
_TICKED, _STOOD = range(2)
CLOCK_BYTES = 2 * 8


def shared_clock() -> tuple[mmap.mmap, mmap.mmap]:
    """Return memory for a witness to write, and the same memory to read, which whoever has only that cannot write."""
    with tempfile.NamedTemporaryFile() as file:
        file.truncate(CLOCK_BYTES)
        written = mmap.mmap(file.fileno(), CLOCK_BYTES)
        with open(file.name, "rb") as reading:  # opened anew: a mapping of the other descriptor could be made writable
            return written, mmap.mmap(reading.fileno(), CLOCK_BYTES, prot=mmap.PROT_READ)


class Witness:
    """The side that ticks. still_seconds: a longer gap is standstill. now: the system's clock."""

    def __init__(self, *, still_seconds: float = STILL_SECONDS, now: Callable[[], float] = time.monotonic) -> None:
        self._still_seconds, self._now = still_seconds, now
        self._ticked = now()
        self._stood = 0.0

    def tick(self, memories: Iterable[mmap.mmap]) -> None:
        """Write the time and the standstill so far to each memory, at its beginning. Call it every TICK_SECONDS."""
        now = self._now()
        if now - self._ticked > self._still_seconds:
            self._stood += now - self._ticked
        self._ticked = now
        for memory in memories:
            times = memoryview(memory).cast("d")
            times[_STOOD] = self._stood  # first: whoever sees the tick sees the standstill before it
            times[_TICKED] = now


class RunClock:
    """The side that reads. shared: memory in which a witness ticks, or None: then it is the system's clock.

    still_seconds, now: as the witness has them.
    """

    def __init__(
        self,
        shared: mmap.mmap | None = None,
        *,
        still_seconds: float = STILL_SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._still_seconds, self._now = still_seconds, now
        self._times = memoryview(shared if shared is not None else bytes(CLOCK_BYTES)).cast("d")

    def now(self) -> float:
        """Return the run's time in seconds, of which only differences mean something."""
        return self._now() - self._times[_STOOD]

    def is_past(self, moment: float) -> bool:
        """Return whether a moment of the run's time is past for certain."""
        # Again, because the witness may have ticked, or the process been stopped, between the first two.
        return self.now() >= moment and self.certain and self.now() >= moment

    @property
    def certain(self) -> bool:
        """Whether the witness has ticked lately, so that `now` leaves out all standstill. Else the run may just continue."""
        ticked = self._times[_TICKED]
        return ticked == 0.0 or self._now() - ticked <= self._still_seconds
