"""What the dashboard shows of training runs: the curves in `metrics.jsonl` of their folders, which are plain files.

Whatever appends lines such as {"step": 100, "loss": 0.7, "validation/loss": 0.8} to a `metrics.jsonl` is shown, whether
it is our trainer or not. A file is read on from where the last reading ended, and anew where it was cut (a run resumed).
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import orjson

METRICS = "metrics.jsonl"
#: Curves have at most so many points; more are averaged.
POINTS = 200
#: So many folders below a given one are searched, and so many runs are shown, the latest changed first.
DEPTH, RUNS = 5, 24
#: Seconds after its last line for which a run counts as in progress.
LIVE_SECONDS = 120.0
#: Folders are searched again after so many seconds.
SEARCH_SECONDS = 10.0
_SKIPPED = {"checkpoints", "data", "wandb", "node_modules", "__pycache__"}


class Curves:
    """The metrics of one run, read as they are written. changed: when, as Unix time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.changed = 0.0
        self._begin(0)

    def _begin(self, number: int) -> None:
        """Forgets what was read. number: the inode of the file to be read now."""
        self._number, self._read, self.step = number, 0, 0.0
        self.series: dict[str, list[tuple[float, float]]] = {}
        self._part: tuple[object, bytes] = (None, b"")

    def update(self) -> None:
        """Reads what was appended. A file that is gone keeps its curves."""
        try:
            status = self._path.stat()
            if status.st_size < self._read or status.st_ino != self._number:
                self._begin(status.st_ino)
            self.changed = status.st_mtime
            if status.st_size == self._read:
                return
            with open(self._path, "rb") as file:
                file.seek(self._read)
                text = file.read()
        except OSError:
            return
        whole = text[: text.rfind(b"\n") + 1]  # the rest of the last line is still being written
        self._read += len(whole)
        for line in whole.splitlines():
            self._add(line)

    def part(self) -> bytes:
        """The run as JSON: {"step", "changed", "live", "series": {metric: [steps, values]}}."""
        live = time.time() - self.changed < LIVE_SECONDS
        if self._part[0] != (self._read, live):
            series = {name: thinned(points) for name, points in self.series.items()}
            told = {"step": self.step, "changed": self.changed, "live": live, "series": series}
            self._part = ((self._read, live), orjson.dumps(told))
        return self._part[1]

    def _add(self, line: bytes) -> None:
        try:
            metrics = orjson.loads(line)
            step = float(metrics.pop("step"))
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError):
            return  # NaN is no JSON, and a damaged line costs its own points only
        self.step = max(self.step, step)
        for name, value in metrics.items():
            if isinstance(value, int | float) and math.isfinite(value):
                self.series.setdefault(name, []).append((step, float(value)))


def thinned(points: Sequence[tuple[float, float]], most: int = POINTS) -> list[list[float]]:
    """[steps, values] of a curve with at most `most` points: neighbours are averaged, at the last one's step."""
    many = max(1, math.ceil(len(points) / most))
    groups = [points[start : start + many] for start in range(0, len(points), many)]
    values = [sum(value for _, value in group) / len(group) for group in groups]
    return [[group[-1][0] for group in groups], [float(f"{value:.5g}") for value in values]]


class TrainingRuns:
    """The training runs in some folders."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)
        self._known: dict[Path, Curves] = {}
        self._next = 0.0

    def read(self) -> dict[str, bytes]:
        """name -> `Curves.part` of the latest runs, the latest changed first."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + SEARCH_SECONDS
            found = dict.fromkeys(path for folder in self._folders for path in search(folder))
            self._known = {path: self._known.get(path) or Curves(path) for path in found}
        for curves in self._known.values():
            curves.update()
        latest = sorted(self._known.items(), key=lambda item: -item[1].changed)[:RUNS]
        return {self._name(path): curves.part() for path, curves in latest if curves.series}

    def _name(self, path: Path) -> str:
        """The run's folder, without what all of them share where only one folder is searched."""
        folder = path.parent
        if len(self._folders) == 1 and folder != self._folders[0]:
            return folder.relative_to(self._folders[0]).as_posix()
        return folder.as_posix()


def search(folder: Path, depth: int = DEPTH) -> Iterator[Path]:
    """The `metrics.jsonl` in a folder and in those below it, not following links."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:  # not there yet, or not ours to read
        return
    for entry in entries:
        if entry.name == METRICS and entry.is_file():
            yield Path(entry.path)
        elif depth and entry.name not in _SKIPPED and entry.is_dir(follow_symlinks=False):
            yield from search(Path(entry.path), depth - 1)
