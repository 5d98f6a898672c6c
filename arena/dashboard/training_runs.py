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
#: Curves have at most so many points; more are averaged. So many are kept of each, and so many metrics of a run.
POINTS, KEPT_POINTS, METRIC_NAMES = 200, 3200, 1000
#: Of one file so many bytes are read at a look: about 0.2 s of work. A longer line is skipped.
READ_BYTES = 4 << 20
#: Larger numbers than this are not drawn: their sums and differences are not finite.
LARGEST = 1e100
#: So many folders below a given one are searched, and so many runs are shown, the latest changed first.
DEPTH, RUNS = 5, 24
#: Seconds after its last line for which a run counts as in progress.
LIVE_SECONDS = 120.0
#: Folders are searched again after so many seconds.
SEARCH_SECONDS = 10.0
_SKIPPED = {"checkpoints", "data", "wandb", "node_modules", "__pycache__"}


def printable(name: object) -> str:
    """Return a path as text that JSON and terminals take: bytes that are not UTF-8 are shown as escapes."""
    return str(name).encode("utf-8", "backslashreplace").decode()


class Curve:
    """One metric over steps, as the means of equally many neighbours: a point each at first, then two, four …"""

    def __init__(self) -> None:
        self.points: list[tuple[float, float]] = []
        self._size = 1  # measurements in a point
        self._open: list[tuple[float, float]] = []  # measurements of the point that is not complete

    def add(self, step: float, value: float) -> None:
        self._open.append((step, value))
        if len(self._open) < self._size:
            return
        self.points.append(_mean(self._open))
        self._open = []
        if len(self.points) >= KEPT_POINTS:
            self.points = [_mean(self.points[k : k + 2]) for k in range(0, KEPT_POINTS, 2)]
            self._size *= 2

    def thinned(self, most: int = POINTS) -> list[list[float]]:
        """[steps, values] with at most `most` points: neighbours are averaged, at the last one's step."""
        points = [*self.points, *([_mean(self._open)] if self._open else [])]
        many = max(1, math.ceil(len(points) / most))
        means = [_mean(points[start : start + many]) for start in range(0, len(points), many)]
        return [[step for step, _ in means], [float(f"{value:.5g}") for _, value in means]]


def _mean(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return points[-1][0], sum(value for _, value in points) / len(points)


class Curves:
    """The metrics of one run, read as they are written. changed: when, as Unix time. read_bytes: at most, in one look."""

    def __init__(self, path: Path, read_bytes: int = READ_BYTES) -> None:
        self._path, self._read_bytes = path, read_bytes
        self.changed = 0.0
        self._begin(0)

    def _begin(self, number: int) -> None:
        """Forgets what was read. number: the inode of the file to be read now."""
        self._number, self._read, self.step = number, 0, 0.0
        self._in_long_line = False
        self.series: dict[str, Curve] = {}
        self._part: tuple[object, bytes] = (None, b"")

    def update(self) -> None:
        """Reads what was appended, at most `read_bytes` of it. A file that is gone keeps its curves."""
        try:
            status = self._path.stat()
            if status.st_size < self._read or status.st_ino != self._number:
                self._begin(status.st_ino)
            self.changed = status.st_mtime
            if status.st_size == self._read:
                return
            with open(self._path, "rb") as file:
                file.seek(self._read)
                text = file.read(self._read_bytes)
        except OSError:
            return
        whole = text[
            : text.rfind(b"\n") + 1
        ]  # the rest of the last line is still being written, or read at the next look
        if not whole and len(text) == self._read_bytes:
            self._read += len(text)
            self._in_long_line = True
            return
        self._read += len(whole)
        lines = whole.splitlines()
        for line in lines[1:] if self._in_long_line else lines:
            self._add(line)
        self._in_long_line = self._in_long_line and not lines

    def part(self) -> bytes:
        """The run as JSON: {"step", "changed", "live", "series": {metric: [steps, values]}}."""
        live = time.time() - self.changed < LIVE_SECONDS
        if self._part[0] != (self._read, live):
            series = {name: curve.thinned() for name, curve in self.series.items()}
            part = {"step": self.step, "changed": self.changed, "live": live, "series": series}
            self._part = ((self._read, live), orjson.dumps(part))
        return self._part[1]

    def _add(self, line: bytes) -> None:
        try:
            metrics = orjson.loads(line)
            step = metrics.pop("step")
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
            return  # NaN is no JSON, and a damaged line costs its own points only
        if not _is_drawn(step):
            return
        self.step = max(self.step, float(step))
        for name, value in metrics.items():
            if _is_drawn(value) and (name in self.series or len(self.series) < METRIC_NAMES):
                self.series.setdefault(name, Curve()).add(float(step), float(value))


def _is_drawn(value: object) -> bool:
    """Whether a value of a line is a number of a size that charts can show."""
    return isinstance(value, int | float) and abs(value) <= LARGEST


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
            folder = folder.relative_to(self._folders[0])
        return printable(folder.as_posix())


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
