"""Paths of external programs: from environment variables, or from the table [external] of arena.toml."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

#: Name in arena.toml -> environment variable, which takes precedence.
VARIABLES = {"foul-play": "ARENA_FOUL_PLAY", "metamon": "ARENA_METAMON"}


def program_path(name: str) -> Path | None:
    """Return the configured path of a program, whether it exists or not; None if it is not configured."""
    chosen = os.environ.get(VARIABLES[name]) or _from_file(name)
    return Path(chosen).expanduser().absolute() if chosen else None


def _from_file(name: str) -> str:
    try:
        table = tomllib.loads(Path("arena.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # no file, or an invalid one, which `arena evaluate` reports
        return ""
    chosen = table.get("external", {})
    return str(chosen.get(name, "")) if isinstance(chosen, dict) else ""
