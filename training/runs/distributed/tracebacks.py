"""Where an exception was raised, in the code that a user can change."""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Sequence
from pathlib import Path

_LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))


def raised_at(error: BaseException) -> str:
    """Return FILE:LINE in FUNCTION of the innermost frame that is of no installed library."""
    frames = traceback.extract_tb(error.__traceback__)
    return place_of([(frame.filename, frame.lineno or 0, frame.name) for frame in frames])


def place_of(stack: Sequence[tuple[str, int, str]]) -> str:
    """Return the same of a stack (file, line, function), outermost first; the innermost frame if all are of libraries."""
    if not stack:
        return "an unknown place"
    own = [frame for frame in stack if not frame[0].startswith((*_LIBRARIES, "<frozen"))]
    file, line, function = (own or stack)[-1]
    if Path(file).is_relative_to(Path.cwd()):
        file = str(Path(file).relative_to(Path.cwd()))
    return f"{file}:{line} in {function}"
