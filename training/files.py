"""Files that are whole or not there."""

from __future__ import annotations

from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Puts a file in its place when all of it is written; who is killed before leaves the old one. UTF-8. Raises OSError."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
