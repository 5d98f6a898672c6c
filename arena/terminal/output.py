"""What all output passes: control characters of agents, users and files are shown as text, so that no terminal obeys them.

An agent's name, error or diagnostics may hold escape sequences that recolour, overwrite or retitle the operator's terminal.
`plain_output` covers print, click.echo and tracebacks; tables and styles are printed by the class in console.py.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

#: Control characters but tab and newline, separators of lines, and those that change the direction of a text.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def shown(text: str) -> str:
    r"""Return a text with its control characters as escapes: "\x1b[2J" is shown as these six characters."""
    return _CONTROLS.sub(lambda found: _escape(found[0]), text)


def shown_in_json(document: str) -> str:
    """Return a JSON document with its control characters as JSON's escapes, which `shown` leaves as they are."""
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", document)


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"


class _Plain:
    """A text stream that shows control characters as text. Rich consoles write to the stream below it."""

    def __init__(self, stream: IO[str]) -> None:
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        self.rich_proxied_file.write(shown(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __iter__(self) -> Iterator[str]:
        return iter(self.rich_proxied_file)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


@contextmanager
def plain_output() -> Iterator[None]:
    """Show control characters as text in all that is written to stdout and stderr meanwhile."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (
        cast(Any, stream if isinstance(stream, _Plain) or stream is None else _Plain(stream)) for stream in before
    )
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
