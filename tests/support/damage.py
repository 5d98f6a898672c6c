"""Ways in which a file may be damaged, and what a command must do then: end, with one line."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click
from click.testing import CliRunner

from teamsets.errors import ArenaError

#: A command that takes longer hangs.
_SECONDS = 60


def _rewritten(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.write_bytes(change(path.read_bytes()))

    return damage


def _flipped(content: bytes) -> bytes:
    """Four bytes in the second half have other bits."""
    at = len(content) * 2 // 3
    return content[:at] + bytes(byte ^ 0x15 for byte in content[at : at + 4]) + content[at + 4 :]


def _replaced(make: Callable[[Path], Any]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.unlink()
        make(path)

    return damage


DAMAGES: dict[str, Callable[[Path], None]] = {
    "empty": _rewritten(lambda content: b""),
    "truncated": _rewritten(lambda content: content[: len(content) // 2]),
    "flipped": _rewritten(_flipped),
    "binary": _rewritten(lambda content: bytes(range(256)) * 4),
    "other JSON": _rewritten(lambda content: b"[[1, null]]\n"),
    "nested": _rewritten(lambda content: b"[" * 100_000),
    "pipe": _replaced(os.mkfifo),
    "folder": _replaced(Path.mkdir),
    "gone": _replaced(lambda path: None),
}


@contextmanager
def damaged(path: Path, how: str) -> Iterator[None]:
    """Damage a file, and restore it in the end."""
    whole = path.read_bytes()
    DAMAGES[how](path)
    try:
        yield
    finally:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        path.write_bytes(whole)


@contextmanager
def _time_limit(words: object) -> Iterator[None]:
    def late(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"{words}: hangs")

    assert threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def ends_in_order(act: Callable[[], Any], words: object) -> None:
    """Assert that `act` returns, or raises an error that is shown as one line, within the time limit."""
    with _time_limit(words):
        try:
            act()
        except (ArenaError, click.ClickException) as error:
            assert "\n" not in str(error), (words, str(error))
        except Exception as error:
            raise AssertionError(f"{words}: a traceback") from error


def command_ends_in_order(group: click.Command, words: list[str]) -> None:
    """The same for a command, in this process."""

    def run() -> None:
        found = CliRunner().invoke(group, words)
        if found.exception is not None and not isinstance(found.exception, SystemExit):
            raise found.exception

    ends_in_order(run, words)
