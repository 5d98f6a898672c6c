"""Files that a command writes at the user's request, or "-" for stdout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from teamsets.atomic import check_writable, write_atomic
from teamsets.errors import BadInput

#: The type of an option that takes such a file.
TARGET = click.Path(path_type=Path, dir_okay=False, allow_dash=True)
STDOUT = Path("-")


def check_target(path: Path | None) -> None:
    """Raises BadInput, before the work, if a file of that name cannot be written. None and stdout pass."""
    if path in (None, STDOUT):
        return
    assert path is not None
    try:
        check_writable(path)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}: give a file in a writable folder") from None


def write_target(path: Path, make: Callable[[], str], note: str = "") -> None:
    """Write the text atomically, or print it to stdout. The file's name and size go to stderr, and the note behind them."""
    text = make()
    if path == STDOUT:
        click.echo(text, nl=False)
        return
    try:
        write_atomic(path, text)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}: give another file") from None
    size = len(text.encode())
    click.echo(f"{path}: {size / 1e6:.2f} MB{note}" if size >= 1e5 else f"{path}: {size / 1e3:.1f} kB{note}", err=True)
