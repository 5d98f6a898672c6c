"""Ends a rank that waits in vain: a collective operation that some rank never joins would otherwise block all others.

A collective (the gradient's all-reduce, a barrier) blocks in C++ without the interpreter's lock, so a thread of the same
process can watch it. Each rank notes the phase that it enters (rank_files.py). A rank that has entered fewer phases than
another one, and has been in its own for longer than the limit, is missing.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from training.runs.distributed.rank_files import Failure, ProgressWriter, RankFiles, RankProgress, all_ranks
from training.runs.distributed.tracebacks import place_of

#: Exit code of a rank that a watchdog has ended.
HUNG_CODE = 75
#: Seconds by which a rank whose collective waits for others outlives the limit, so that those say first where they are.
_LATER = 1.0
_LONGEST_PAUSE = 1.0
#: Seconds that a rank may take at least to start: importing torch from a slow disk takes minutes.
_STARTING = 300.0


class RankWatchdog:
    """Ends this process if it stays in one phase for longer than `limit` seconds.

    launcher: process id of the launcher; the process ends when its parent is another one. 0: not checked.
    """

    def __init__(self, run: Path, world: int, files: RankFiles, writer: ProgressWriter, limit: float, launcher: int):
        self._run, self._world, self._files, self._writer = run, world, files, writer
        self._limit, self._launcher = limit, launcher
        self._main = threading.main_thread().ident
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="rank watchdog", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stopped.wait(min(self._limit / 5, _LONGEST_PAUSE)):
            if self._launcher and os.getppid() != self._launcher:
                os._exit(HUNG_CODE)  # the launcher was killed; nobody would read what this rank has to say
            now = self._writer.now
            others = [one for files in all_ranks(self._run, self._world) if (one := files.read_progress())]
            waits = any(one.count < now.count for one in others) or len(others) < self._world
            limit = (self._limit if now.count else max(self._limit, _STARTING)) + (_LATER if waits else 0.0)
            if not now.patient and time.time() - now.since > limit:
                self._end(now, others)

    def _end(self, now: RankProgress, others: Sequence[RankProgress]) -> None:
        frame = sys._current_frames().get(self._main or 0)
        message = describe_hang(now, others, self._world, time.time())
        failure = Failure(self._files.rank, "hung", message, _where(frame), now.place, time.time())
        self._files.note_failure(failure)
        with self._files.log.open("a", encoding="utf-8") as log:
            print(f"rank {now.rank}: {message}; it was at {failure.where}; its threads:", file=log, flush=True)
            faulthandler.dump_traceback(log, all_threads=True)
        if not self._launcher:  # which prints it otherwise
            print(f"train: rank {now.rank}: {message}; log: {self._files.log}", file=sys.stderr, flush=True)
        os._exit(HUNG_CODE)  # the main thread is blocked in C++: an exception would not reach it


def describe_hang(now: RankProgress, others: Sequence[RankProgress], world: int, at: float) -> str:
    """Return one line that names the ranks that were missing. others: of all ranks that have started; at: Unix time."""
    known = {progress.rank: progress for progress in (*others, now)}
    furthest = max(progress.count for progress in known.values())
    missing = [
        f"rank {rank} (not started)"
        if rank not in known
        else f"rank {rank} (for {at - known[rank].since:.0f} s in {known[rank].place}, process {known[rank].pid} on "
        f"{known[rank].host})"
        for rank in range(world)
        if rank not in known or known[rank].count < furthest
    ]
    if not missing:
        return f"a collective operation hung: all {world} ranks have been in {now.place} for {at - now.since:.0f} s"
    waiting = next(progress for progress in known.values() if progress.count == furthest)
    return f"a collective operation hung ({waiting.place}): missing {', '.join(missing)}"


def _where(frame: FrameType | None) -> str:
    stack = []
    while frame is not None:
        stack.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return place_of(stack[::-1])
