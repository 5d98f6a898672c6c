"""A line of `train doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """level: `ok`; `note`, which may matter; `NO`, which stops a run. fix: what to do about it."""

    level: Literal["ok", "note", "NO"]
    name: str
    text: str
    fix: str = ""

    @property
    def line(self) -> str:
        return f"{self.level:4} {self.name:18} {self.text}{f': {self.fix}' if self.fix else ''}"
