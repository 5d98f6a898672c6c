"""An agent's diagnostics (`Agent.diagnostics`) as plain data of bounded size, which can be stored.

Diagnostics never change a result. Diagnostics that cannot be stored are replaced by {"dropped": reason, "dropped_so_far":
number of this seat's in this battle}.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

#: The largest size of one decision's diagnostics and of all of one seat's in one battle, in characters of their text.
MAX_DECISION = 64 * 1024
MAX_BATTLE = 4 * 1024 * 1024
#: How deep lists and dicts may be nested.
MAX_DEPTH = 100
#: Maximum length of the text of a value that JSON cannot represent.
_MAX_REPR = 1000
#: Characters counted for a number, the quotes of a key, or a bracket.
_EACH = 4
_LARGEST_INT = 1 << 63


class DiagnosticsTooLarge(ValueError):
    """The diagnostics are too large or too deep. The message says which limit they exceed."""


class DiagnosticsBudget:
    """The remaining size of one seat's diagnostics in this battle, and the number that were dropped."""

    def __init__(self) -> None:
        self.remaining = MAX_BATTLE
        self.dropped = 0
        self._refused = ""  # the reason why further diagnostics are not read

    def accept(self, diagnostics: Any) -> Any:
        """Return a serializable copy of one decision's diagnostics. Runs the agent's code, so it may raise anything."""
        if diagnostics is None or self._refused:
            return None if diagnostics is None else self.drop(self._refused)
        allowed = min(MAX_DECISION, self.remaining)
        copier = _Copier(allowed)
        try:
            copied = copier.copy(diagnostics if isinstance(diagnostics, dict) else {"value": diagnostics}, 0)
        except DiagnosticsTooLarge as error:
            if allowed < MAX_DECISION:
                self._refused = f"more than {MAX_BATTLE:,} characters in this battle"
            return self.drop(self._refused or str(error))
        self.remaining -= allowed - copier.remaining
        return copied

    def drop(self, why: str, *, for_good: bool = False) -> dict[str, Any]:
        """Return the replacement for diagnostics that cannot be stored. for_good: also drop all later ones unread."""
        self.dropped += 1
        if for_good:
            self._refused = why
        return {"dropped": why, "dropped_so_far": self.dropped}


class _Copier:
    """Copies nested data into JSON types, up to `remaining` characters."""

    def __init__(self, remaining: int) -> None:
        self.remaining = remaining

    def copy(self, value: Any, depth: int) -> Any:
        """Return the value as JSON types, other values as their `repr`. Raises DiagnosticsTooLarge."""
        if depth > MAX_DEPTH:
            raise DiagnosticsTooLarge(f"nested more than {MAX_DEPTH} deep")
        self._spend(_EACH)
        if value is None or isinstance(value, bool):
            return value
        if type(value) in (int, float):
            return value if type(value) is float or -_LARGEST_INT <= value < _LARGEST_INT else self._repr(value)
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return {self._key(key): self.copy(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.copy(item, depth + 1) for item in value]
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            self._spend(_EACH * value.size, take=False)
            return self.copy(value.tolist(), depth)
        if isinstance(value, np.bool_ | np.integer | np.floating):
            return self.copy(value.item(), depth)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
            return {name: self.copy(item, depth + 1) for name, item in fields}
        return self._repr(value)

    def _key(self, key: Any) -> str:
        self._spend(_EACH)
        return self._text(key if isinstance(key, str) else str(key)[:_MAX_REPR])

    def _text(self, text: str) -> str:
        plain = str.encode(text, "utf-8", "backslashreplace").decode()  # also for subclasses, whose len() may be wrong
        self._spend(len(plain))
        return plain

    def _repr(self, value: Any) -> str:
        return self._text(repr(value)[:_MAX_REPR])

    def _spend(self, characters: int, *, take: bool = True) -> None:
        if characters > self.remaining:
            raise DiagnosticsTooLarge(f"more than {MAX_DECISION:,} characters in one decision")
        if take:
            self.remaining -= characters
