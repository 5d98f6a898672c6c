"""Where other people's programs lie on this machine: an environment variable each, or the table [external] of arena.toml."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

#: Name in arena.toml -> environment variable, which goes before it.
VARIABLES = {"foul-play": "ARENA_FOUL_PLAY", "metamon": "ARENA_METAMON"}


def place_of(name: str) -> Path | None:
    """The path that the user gave for a program, whether anything is there or not; None when he gave none."""
    chosen = os.environ.get(VARIABLES[name]) or _from_file(name)
    return Path(chosen).expanduser().absolute() if chosen else None


def _from_file(name: str) -> str:
    try:
        table = tomllib.loads(Path("arena.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # none here, or one that `arena evaluate` will complain about
        return ""
    chosen = table.get("external", {})
    return str(chosen.get(name, "")) if isinstance(chosen, dict) else ""
