"""The user's cache folder: small JSON files that may be deleted at any time."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from teamsets.atomic import write_atomic
from teamsets.errors import MissingTool


def folder() -> Path:
    """$XDG_CACHE_HOME/battle-arena, or ~/.cache/battle-arena."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "battle-arena"


def not_writable(path: Path, error: OSError) -> MissingTool:
    """The exception, in one line, for a part of the cache folder in which what must be kept cannot be written."""
    return MissingTool(
        f"the cache folder {path} is not writable: {error.strerror or error}: make it writable, or set XDG_CACHE_HOME to "
        "another folder"
    )


def read(name: str) -> Any:
    """Return the cached value of a name, or None if there is none or it cannot be read."""
    try:
        return json.loads((folder() / name).read_bytes())
    except (OSError, ValueError):
        return None


def write(name: str, value: Any) -> None:
    """Cache a value under a name, atomically. If the folder cannot be written, nothing is cached."""
    target = folder() / name
    with contextlib.suppress(OSError):
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(target, json.dumps(value))
