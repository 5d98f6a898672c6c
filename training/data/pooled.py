"""Work spread over several processes, with a bounded number of results in memory."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from teamsets.errors import ArenaError

T = TypeVar("T")
R = TypeVar("R")


def pooled(work: Callable[[T], R], batches: Iterable[Iterable[T]], processes: int | None) -> Iterator[R]:
    """Yield the results in order; a batch is submitted once the results of the last one are consumed.

    processes: None: one per core. Raises ArenaError if one of the processes ends, because it ran out of memory, or because
    the calling script starts its own work in each of them (it lacks `if __name__ == "__main__"`).
    """
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_end_with_parent) as pool:
        for batch in batches:
            try:
                yield from pool.map(work, batch, chunksize=4)
            except BrokenProcessPool as error:
                raise ArenaError(
                    "a process that reads battles ended: out of memory (the kernel's log says so; use fewer "
                    'processes), or the script that asked for them does its work outside of `if __name__ == "__main__":`'
                ) from error


def _end_with_parent() -> None:
    """End this process when its parent is killed. It would wait forever for work on a pipe that it holds open itself."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
