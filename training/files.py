"""Atomic file writes."""

from __future__ import annotations

from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file (UTF-8) atomically: a process that is killed meanwhile leaves the previous file. Raises OSError."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
