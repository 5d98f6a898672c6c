"""Writes a dataset and its held-out part, `NAME-held-out`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from training.data.rebuild_command import HELD_OUT
from training.data.shards import BadData, DatasetWriter
from training.data.trajectory import Trajectory


class SplitWriter:
    """`with SplitWriter(out, about, 0.1) as writer: writer.add(trajectory, held_out=True)`. An error leaves no files behind.

    out: the dataset's folder. about: how it is built. fraction: what is held out; 0: there is no second dataset. replace:
    an existing dataset is replaced (the held-out part always is: without the other it was left by a killed process).
    Raises BadData, also if a fraction selects nothing for the held-out part.
    """

    def __init__(self, out: Path, about: dict[str, Any], fraction: float, *, replace: bool) -> None:
        held_out = out.with_name(out.name + HELD_OUT)
        self.folders: tuple[Path, ...] = (out, held_out) if fraction else (out,)
        self._fraction = fraction
        self._writers = [DatasetWriter(out, about, replace=replace)]
        if fraction:
            self._writers.append(DatasetWriter(held_out, {**about, "held_out": True}, replace=True))
        self._written = [0, 0]
        self._stack = ExitStack()

    def __enter__(self) -> SplitWriter:
        for writer in self._writers:  # left in the reverse order: the training part is renamed last
            self._stack.enter_context(writer)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._stack.__exit__(kind, error, trace)
            return
        with self._stack:
            learned, measured = self._written
            if self._fraction and learned + measured and not (learned and measured):
                problem = (
                    "selects no side: hold out more, or 0" if learned else "selects every side: hold out less, or 0"
                )
                raise BadData(f"dataset {self.folders[-1]}: a fraction of {self._fraction:g} {problem}")

    def add(self, trajectory: Trajectory, *, held_out: bool) -> None:
        """Write a trajectory to one of the two."""
        self._writers[held_out].add(trajectory)
        self._written[held_out] += 1
