"""Where the runs of a sweep are trained, several at once: processes on this machine, or the machines of a Ray cluster."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from training.machines.cluster.run_payload import Run
from training.machines.cluster.scheduling import Shares
from training.offline.config import Config
from training.runs.process import last_words, train_arguments, write_run

#: Seconds between two looks at the processes, and those that a process has for its end.
_POLL_SECONDS, _END_SECONDS = 0.2, 10.0


class Trainers(Protocol):
    """Trains runs, each to its end, or resumes them."""

    def start(self, run: Run) -> None:
        """Begin a run, or queue it."""

    def wait(self) -> list[tuple[Run, str]]:
        """Wait until a run has ended; returns what has, each with what failed on one line, or ""."""

    def close(self) -> None:
        """End what is under way. Its checkpoints stay."""


class LocalTrainers:
    """A process for each run. Its settings are written to FOLDER.yaml, what it prints to FOLDER.log."""

    def __init__(self) -> None:
        self._under_way: list[tuple[Run, subprocess.Popen[bytes]]] = []

    def start(self, run: Run) -> None:
        """Begin a run."""
        settings = write_run(run)
        command = "base" if isinstance(run, Config) else "online"
        with _log(run).open("ab") as log:
            process = subprocess.Popen(
                train_arguments(command, str(settings)), stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self._under_way.append((run, process))

    def wait(self) -> list[tuple[Run, str]]:
        """Wait until a process has ended."""
        while True:
            ended = [(run, process) for run, process in self._under_way if process.poll() is not None]
            if ended or not self._under_way:
                break
            time.sleep(_POLL_SECONDS)
        self._under_way = [each for each in self._under_way if each not in ended]
        return [(run, last_words(_log(run), process.returncode)) for run, process in ended]

    def close(self) -> None:
        """End all processes."""
        for _, process in self._under_way:
            process.terminate()
        for _, process in self._under_way:
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._under_way.clear()


class ClusterTrainers:
    """The machines of the Ray cluster to which this process is connected (training/machines/cluster)."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._shares = Shares(say)

    def start(self, run: Run) -> None:
        """Queue a run, with its folder as far as it was trained already."""
        write_run(run)
        self._shares.add(run)

    def wait(self) -> list[tuple[Run, str]]:
        """Wait until the folder of a run is home."""
        ended: list[tuple[Run, str]] = []
        while not ended and (self._shares.waiting or self._shares.under_way):
            ended = self._shares.look()
        return ended

    def close(self) -> None:
        """Cancel what is under way."""
        self._shares.close()


def _log(run: Run) -> Path:
    return Path(run.out).with_suffix(".log")
