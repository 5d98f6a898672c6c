"""Checksums of a folder's files, in `checksums.json` beside them: {name: {"sha256": 64 hex digits, "size": bytes}}."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator
from pathlib import Path

CHECKSUMS = "checksums.json"


def sha256_of(file: Path) -> str:
    """Return the SHA-256 of a file's content. Raises OSError."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def write_checksums(folder: Path) -> None:
    """Write the checksums of all files in a folder and below. Raises OSError."""
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    files.pop(CHECKSUMS, None)
    found = {name: {"sha256": sha256_of(path), "size": path.stat().st_size} for name, path in files.items()}
    (folder / CHECKSUMS).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def differing(folder: Path, only: Collection[str] | None = None) -> Iterator[tuple[Path, str]]:
    """Yield each file that is not as `write_checksums` found it, and how. Yields nothing for a folder without checksums.

    only: names of files that are compared; None: all of them.
    """
    listed = folder / CHECKSUMS
    if not listed.exists():
        return
    try:
        expected = {
            str(name): (str(one["sha256"]), int(one["size"]))
            for name, one in json.loads(listed.read_text(encoding="utf-8")).items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        yield listed, "cannot be read"
        return
    for name, (sha256, size) in expected.items():
        if only is not None and name not in only:
            continue
        path = folder / name
        if not path.is_file():
            yield path, "is missing"
        elif path.stat().st_size != size:
            yield path, f"has {path.stat().st_size:,} bytes, and had {size:,} when it was written"
        elif sha256_of(path) != sha256:
            yield path, "its SHA-256 is not the one with which it was written"
