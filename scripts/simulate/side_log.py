"""One side's log of a played battle, read step by step beside the other side's: for checks of what a search foresees."""

from __future__ import annotations

import random
from typing import Any

import orjson

from agents.battle import SeatBattle
from agents.battle.choices import Choice


class SideLog:
    """A side's log, read up to a point that both logs have in common.

    requests, choices: by the number of lines before them. choices: the labels of what was chosen ("move tackle").
    """

    def __init__(self, role: str, log: list[str], choices: list[str], gen: int, format_id: str) -> None:
        self.battle = SeatBattle(f"battle-{format_id}-1", role, role, gen, format_id, random.Random(0))
        self.lines: list[str] = []
        self.requests: dict[int, dict[str, Any]] = {}
        for line in log:
            if line.startswith("|request|"):
                self.requests[len(self.lines)] = orjson.loads(line[9:])
            elif not line.startswith(("|error|", "|bigerror|")):
                self.lines.append(line)
        self.choices = dict(zip(sorted(self.requests), choices, strict=False))
        self._read = 0

    def read(self, until: int) -> dict[str, Any] | None:
        """Read the log up to a line, and return the request there, or None."""
        self.battle.feed(self.lines[self._read : until])
        self._read = until
        request = self.requests.get(until)
        if request is not None:
            self.battle.ask(request)
        return request

    def chosen(self, until: int) -> Choice:
        """Return what was chosen there."""
        return next(choice for choice in self.battle.legal if choice.label == self.choices[until])
