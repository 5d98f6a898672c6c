"""Child processes that an agent's module keeps: one for each of several kinds, started when it is first needed."""

from __future__ import annotations

import atexit
import os
import subprocess
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar


class KeptProcess:
    """A child process, which a subclass starts."""

    _process: subprocess.Popen[Any]

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        """End it."""
        raise NotImplementedError(f"{type(self).__name__}.close")


Kind = TypeVar("Kind", bound=Hashable)
Process = TypeVar("Process", bound=KeptProcess)


class KeptProcesses(Generic[Kind, Process]):
    """The processes by their kind. start: starts that of a kind. They end with this process; a fork of it starts its own."""

    def __init__(self, start: Callable[[Kind], Process]) -> None:
        self._start = start
        self._kept: dict[tuple[int, Kind], Process] = {}
        atexit.register(self.close_all)

    def get(self, kind: Kind) -> Process:
        """Return the process of a kind, (re)starting it if necessary. Raises what `start` raises."""
        key = os.getpid(), kind
        process = self._kept.get(key)
        if process is None or not process.alive:
            process = self._kept[key] = self._start(kind)
        return process

    def close_all(self) -> None:
        """End the processes that this process has started; `get` starts new ones."""
        for key in [key for key in self._kept if key[0] == os.getpid()]:
            self._kept.pop(key).close()
