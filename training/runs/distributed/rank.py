"""One rank of a training run, from its start to its end: what it was doing, and why it failed.

    with rank_of(run, limit) as rank:
        rank.enter(step, "forward")

Where there is only one process, nothing is written or watched.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from teamsets.errors import ArenaError, BadInput, MissingTool
from training.runs.distributed.rank_files import Failure, ProgressWriter, RankFiles
from training.runs.distributed.tracebacks import raised_at
from training.runs.distributed.watchdog import RankWatchdog

#: Environment variable with the process id of our own launcher (launch.py).
LAUNCHER = "BATTLE_ARENA_LAUNCHER"


class Rank:
    """A process of a run. writer: None where the run has only one process."""

    def __init__(self, writer: ProgressWriter | None = None) -> None:
        self._writer = writer

    def enter(self, step: int, phase: str, *, patient: bool = False) -> None:
        """Note that the rank enters a phase of a step. All ranks must call it equally often.

        patient: the phase may take hours, because one rank works and the others wait for it.
        """
        if self._writer is not None:
            self._writer.enter(step, phase, patient)

    @property
    def place(self) -> str:
        return "" if self._writer is None else self._writer.now.place


def world_size() -> int:
    """Return the number of processes of this run, from the environment that every launcher sets."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def launched() -> bool:
    """Return whether a launcher has started this process as a rank, perhaps the only one."""
    return "RANK" in os.environ


@contextmanager
def rank_of(run: Path, limit: float) -> Iterator[Rank]:
    """Watch this process as a rank of the run, and note why it fails. limit: seconds that a collective may take."""
    world = world_size()
    if world == 1:
        yield Rank()
        return
    files = RankFiles(run, int(os.environ["RANK"]))
    files.clear()
    with files.log.open("a", encoding="utf-8") as log:
        faulthandler.enable(log)  # a segmentation fault or an abort of a library leaves the stack
        writer = ProgressWriter(files)
        rank = Rank(writer)
        watchdog = RankWatchdog(run, world, files, writer, limit, int(os.environ.get(LAUNCHER, "0")))
        watchdog.start()
        try:
            yield rank
        except BaseException as error:
            _note(files, rank, error)
            raise
        finally:
            watchdog.stop()
            writer.close()
            faulthandler.enable(sys.__stderr__ or sys.stderr)


def _note(files: RankFiles, rank: Rank, error: BaseException) -> None:
    """Write the failure and its traceback; a launcher of other people's sees one more line on stderr."""
    if isinstance(error, KeyboardInterrupt):
        return
    ours = isinstance(error, ArenaError)
    text = " ".join(str(error).split())
    message = text if ours else f"{type(error).__name__}: {text}" if text else type(error).__name__
    trace = "".join(traceback.format_exception(error))
    bad_input = isinstance(error, BadInput | MissingTool)
    failure = Failure(files.rank, "raised", message, raised_at(error), rank.place, time.time(), bad_input, trace)
    files.note_failure(failure)
    with files.log.open("a", encoding="utf-8") as log:
        print(f"rank {files.rank} failed in {rank.place}:\n{trace}", file=log, flush=True)
    if LAUNCHER not in os.environ and not ours:
        line = f"train: rank {files.rank} failed in {rank.place}: {message}, at {failure.where}; log: {files.log}"
        print(line, file=sys.stderr, flush=True)
