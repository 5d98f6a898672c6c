"""The fitted weights of both searches: values and priors of positions by generation, and the network of the exact search.

They are made by scripts/build/fit_search_weights.py and scripts/build/fit_exact_search.py (docs/search.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from zipfile import BadZipFile

from teamsets.errors import BadInput

FOLDER = Path(__file__).with_name("weights")
#: What numpy raises for a file that is no archive of the arrays that are looked for in it.
NO_ARRAYS = (OSError, ValueError, KeyError, EOFError, AttributeError, TypeError, BadZipFile)
#: Characters of a line that an error quotes.
_QUOTED = 60


def lines_of(file: Path) -> Iterator[str]:
    """Yield the lines of a file of fitted weights, without empty ones and comments. Raises BadInput if it is no text."""
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file}: cannot be read as fitted weights: {error}") from None
    for line in text.splitlines():
        if line and not line.startswith("#"):
            yield line


def wrong_line(file: Path, line: str, problem: str) -> BadInput:
    """Return the error for a line that is no weight. problem: what it says of the line."""
    return BadInput(f"{file}: {line[:_QUOTED]!r}{'…' if len(line) > _QUOTED else ''} {problem}")
