"""Work on several processes, of which only some results at a time are in memory."""

from __future__ import annotations

import multiprocessing
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
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("forkserver")) as pool:
        for batch in batches:
            try:
                yield from pool.map(work, batch, chunksize=4)
            except BrokenProcessPool as error:
                raise ArenaError(
                    "a process that reads battles ended: out of memory (the kernel's log says so; fewer processes need "
                    'less), or the script that asked for them does its work outside of `if __name__ == "__main__":`'
                ) from error
