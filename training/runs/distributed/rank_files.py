"""What each rank of a training run leaves in the run's folder, so that another process can say what happened to it.

RUN/ranks/rank-N.log            what it printed (not that of rank 0), and the stacks of its threads after a crash or a hang
RUN/ranks/rank-N.progress       where it is now: one line of JSON, overwritten in place
RUN/ranks/rank-N.failure.json   why it ended, if it failed
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from teamsets.atomic import write_atomic

#: Size of a progress file in bytes. It is overwritten by one write of this size.
_PROGRESS_BYTES = 512


@dataclass(frozen=True)
class RankProgress:
    """Where a rank is. count: phases that it has entered; ranks that are at the same place have equal counts.

    since: Unix time, in seconds. patient: the phase may take hours (battles, validation), so nobody is missed in it.
    """

    rank: int
    host: str
    pid: int
    count: int
    step: int
    phase: str
    since: float
    patient: bool

    @property
    def place(self) -> str:
        return f"step {self.step}, {self.phase}"


@dataclass(frozen=True)
class Failure:
    """Why a rank ended. kind: `raised`, or `hung` (a watchdog ended it). where: FILE:LINE in FUNCTION.

    message: one line, with the exception's type. place: step and phase. bad_input: the message is complete, for a user.
    time: Unix time in seconds.
    """

    rank: int
    kind: str
    message: str
    where: str
    place: str
    time: float
    bad_input: bool = False
    trace: str = ""


class RankFiles:
    """The files of one rank. run: the run's folder."""

    def __init__(self, run: Path, rank: int) -> None:
        self.rank, self.folder = rank, run / "ranks"
        self.log = self.folder / f"rank-{rank}.log"
        self.progress = self.folder / f"rank-{rank}.progress"
        self.failure = self.folder / f"rank-{rank}.failure.json"

    def clear(self) -> None:
        """Create the folder, and remove what an earlier start has left of this rank, but for its log."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.progress.unlink(missing_ok=True)
        self.failure.unlink(missing_ok=True)

    def note_failure(self, failure: Failure) -> None:
        """Write the failure, unless one is noted already: the first is the cause."""
        if not self.failure.exists():
            write_atomic(self.failure, json.dumps(asdict(failure), indent=1) + "\n")

    def read_failure(self) -> Failure | None:
        """Return the rank's failure; None if it has noted none."""
        try:
            return Failure(**json.loads(self.failure.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def read_progress(self) -> RankProgress | None:
        """Return where the rank is; None if it has not started, or is writing just now."""
        try:
            return RankProgress(**json.loads(self.progress.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None


class ProgressWriter:
    """Overwrites a rank's progress file. A write takes microseconds: it goes to the page cache, not to the disk."""

    def __init__(self, files: RankFiles) -> None:
        self._rank, self._host, self._pid = files.rank, socket.gethostname(), os.getpid()
        self._file = os.open(files.progress, os.O_WRONLY | os.O_CREAT, 0o644)
        self.now = RankProgress(files.rank, self._host, self._pid, 0, 0, "starting", time.time(), False)
        self._write()

    def enter(self, step: int, phase: str, patient: bool) -> None:
        """Note that the rank has entered a phase."""
        count = self.now.count + 1
        self.now = RankProgress(self._rank, self._host, self._pid, count, step, phase, time.time(), patient)
        self._write()

    def _write(self) -> None:
        os.pwrite(self._file, json.dumps(asdict(self.now)).encode().ljust(_PROGRESS_BYTES), 0)

    def close(self) -> None:
        os.close(self._file)


def all_ranks(run: Path, world: int) -> Iterator[RankFiles]:
    """Yield the files of every rank."""
    return (RankFiles(run, rank) for rank in range(world))
