"""Where the files that a spec names lie on a machine of a cluster, to which a run has sent them (arena/workers/cluster)."""

from __future__ import annotations

import os
from pathlib import Path

#: Environment variable: the folder with a run's files. Not set where the run was started.
FOLDER = "ARENA_TRAVELLED"


def destination(path: str | Path) -> Path:
    """Return where a file that a spec names lies below the folder: at the same place as below the current folder, or, for
    an absolute path or one above the current folder, in a folder of its own."""
    normal = Path(os.path.normpath(path))
    if normal.is_absolute():
        return Path("absolute", *normal.parts[1:])
    return Path(*("above" if part == ".." else part for part in normal.parts))


def resolve_path(path: str | Path) -> Path:
    """Return where a path that a spec names lies on this machine."""
    folder = os.environ.get(FOLDER)
    if folder:
        sent = Path(folder, destination(path))
        if sent.exists():
            return sent
    return Path(path)
