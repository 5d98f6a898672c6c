"""The user's cache folder: small JSON files that may be deleted at any time."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any


def folder() -> Path:
    """$XDG_CACHE_HOME/battle-arena, or ~/.cache/battle-arena."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "battle-arena"


def read(name: str) -> Any:
    """The value kept under a name, or None when there is none or it cannot be read."""
    try:
        return json.loads((folder() / name).read_bytes())
    except (OSError, ValueError):
        return None


def write(name: str, value: Any) -> None:
    """Keep a value under a name, whole or not at all. A folder that cannot be written only means no cache."""
    target = folder() / name
    with contextlib.suppress(OSError):
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
        try:
            with open(handle, "w", encoding="utf-8") as file:
                json.dump(value, file)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
