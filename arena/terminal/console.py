"""The console by which tables and styles are printed: it shows control characters in texts as text (output.py)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

import rich.console
from rich.segment import Segment
from rich.text import Text

from arena.terminal.output import shown


class Console(rich.console.Console):
    """A console whose styles and cursor movements reach the terminal, and those in the texts that it prints do not."""

    @property
    def file(self) -> IO[str]:
        """The stream below all that stand in for it: a live display puts one before that of `plain_output`."""
        file = super().file
        while (below := getattr(file, "rich_proxied_file", None)) is not None:
            file = below
        return file

    @file.setter
    def file(self, new_file: IO[str]) -> None:
        self._file = new_file

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(shown(text), **options)

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        """Render what is written next: all that was not a plain string before has become segments by now."""
        return super()._render_buffer(
            part if part.control else Segment(shown(part.text), part.style) for part in buffer
        )
