"""Files and folders that are complete or not there: written beside their place under another name, then renamed."""

from __future__ import annotations

import glob
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def write_atomic(path: Path, content: str | bytes, *, flush: bool = False) -> None:
    """Writes a file, or replaces it, in one step: a process that is killed meanwhile leaves the old one.

    content: text is written as UTF-8, without a change of line ends. flush: returns when file and name are on the disk,
    so that not even a power cut takes them. The file gets the permissions of any new file. Raises OSError.
    """
    with replacing(path, flush=flush) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def replacing(path: Path, *, flush: bool = False) -> Iterator[IO[bytes]]:
    """The same for content that is written piece by piece, into the file that this yields. Raises OSError."""
    temporary = _beside(path)
    try:
        with open(temporary, "xb") as file:
            yield file
            if flush:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if flush:
        sync(path.parent)


def check_writable(path: Path) -> None:
    """Raises OSError where `write_atomic` could not create a file of that name: before the work of making its content."""
    temporary = _beside(path)
    temporary.touch(exist_ok=False)
    temporary.unlink()


@contextmanager
def atomic_folder(folder: Path, *, replace: bool = False, flush: bool = False) -> Iterator[Path]:
    """A new folder to write into, which is renamed to `folder` when the block ends; after an error nothing is left of it.

    For one process at a time: what a killed one left of the same folder is deleted first. replace: a folder of that name
    is deleted before the rename; else it must not be there. flush: ends when all of it is on the disk. Raises OSError.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    for left in folder.parent.glob(f".{glob.escape(folder.name)}.*.partial"):
        shutil.rmtree(left)
    temporary = _beside(folder)
    temporary.mkdir()
    try:
        yield temporary
        if flush:
            for path in [*(path for path in temporary.rglob("*") if path.is_file()), temporary]:
                sync(path)
        if replace:
            shutil.rmtree(folder, ignore_errors=True)
        temporary.rename(folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    if flush:
        sync(folder.parent)


def sync(path: Path) -> None:
    """Waits until a file's content, or a folder's list of files, is on the disk. Raises OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _beside(path: Path) -> Path:
    """A name in the same folder that no other process or thread uses."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
