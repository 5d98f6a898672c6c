"""The console by which tables and styles are printed: it shows control characters in texts as text (output.py)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import rich.console
from rich.segment import Segment
from rich.text import Text

from arena.terminal.output import shown


class Console(rich.console.Console):
    """A console whose styles and cursor movements reach the terminal, and those in the texts that it prints do not."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(shown(text), **options)

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        """Render what is written next: all that was not a plain string before has become segments by now."""
        return super()._render_buffer(
            part if part.control else Segment(shown(part.text), part.style) for part in buffer
        )
