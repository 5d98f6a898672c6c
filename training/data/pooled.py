"""Work on several processes, of which only some results at a time are in memory."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def pooled(work: Callable[[T], R], batches: Iterable[Iterable[T]], processes: int | None) -> Iterator[R]:
    """The results in order; the next batch is begun when those of the last are taken. processes: None for one a core."""
    with multiprocessing.get_context("forkserver").Pool(processes) as pool:
        for batch in batches:
            yield from pool.map(work, batch, chunksize=4)
