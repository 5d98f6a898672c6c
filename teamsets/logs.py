"""Logs of the processes that the arena starts: one file each in the cache folder; only the latest are kept."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from teamsets import cache
from teamsets.errors import last_error


def new_log(kind: str, kept: int) -> Path:
    """A new file in the folder `kind`, where the last `kept` stay."""
    logs = cache.folder() / kind
    logs.mkdir(parents=True, exist_ok=True)
    for old in sorted(logs.glob("*.log"))[: -kept + 1]:
        old.unlink(missing_ok=True)
    handle, path = tempfile.mkstemp(".log", time.strftime("%Y%m%d-%H%M%S-"), logs)
    os.close(handle)
    return Path(path)


def last_line(log: Path) -> str:
    """The last non-empty line; of a Node process that ended by an error, the line with the error."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 4096))
        return last_error(file.read().decode(errors="replace"))
