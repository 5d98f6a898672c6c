"""Work on several processes, of which only some results at a time are in memory."""

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
    """The results in order; the next batch is begun when those of the last are taken. processes: None for one a core.

    Raises ArenaError if one of the processes ends, be it for want of memory or because the program that asks starts
    its work again in each of them (a script without `if __name__ == "__main__"`).
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
    """Ends this process when the one that asked is killed: it waits for work on a pipe that it holds open itself."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
