"""Counts of a run so far, for the live display."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.fixture import SEATS
from arena.record import score


@dataclass
class RunProgress:
    """Counts of this invocation. wins and faults by agent spec.

    moved: battles that the engine could not play, by the reason; they were played in the simulator.
    total: None while the number of battles is unknown. known: battles of the total that were stored before it started.
    remark: a description of the schedule's state. points: format -> (agent, opponent) -> the score of the agent against the
    opponent, over all battles that count for the run, also earlier ones; anchor: agent whose rating is fixed at 1000.
    nodes: the machines of a cluster, each with its workers and the battles that they have played; remarks: what happened to
    machines. began: when it began, by `now`, a clock in seconds. unit: what `points` counts, "battle" or "series".
    """

    total: int | None
    known: int = 0
    played: int = 0
    turns: int = 0
    wins: Counter[str] = field(default_factory=Counter)
    games: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    aborted: int = 0
    moved: Counter[str] = field(default_factory=Counter)
    began: float = field(default_factory=time.monotonic)
    remark: str = ""
    points: dict[str, dict[tuple[str, str], float]] = field(default_factory=dict)
    anchor: str = ""
    nodes: dict[str, tuple[int, int]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    now: Callable[[], float] = time.monotonic
    unit: str = "battle"

    def note(self, header: dict[str, Any]) -> None:
        """Count a finished battle (a worker's header). Its score counts by itself, unless it is one of a series."""
        self.played += 1
        self.turns += header["turns"]
        if "moved" in header:
            self.moved[header["moved"]] += 1
        if header["reason"] == "aborted":
            self.aborted += 1
            return
        self.games.update(header["agents"])
        if header.get("best_of", 1) == 1:
            self.count(header["format"], header["agents"], score(header["winner"], header["reason"]))
        if header["winner"]:
            self.wins[header["agents"][SEATS.index(header["winner"])]] += 1
        if header["fault"] in SEATS:
            self.faults[header["agents"][SEATS.index(header["fault"])]] += 1

    def count(self, format_id: str, agents: Sequence[str], first: float | None) -> None:
        """Add a result to `points`. agents: p1 and p2; first: the score of p1, None for a battle that does not count."""
        if first is None:
            return
        p1, p2 = agents
        points = self.points.setdefault(format_id, {})
        points[p1, p2] = points.get((p1, p2), 0.0) + first
        points[p2, p1] = points.get((p2, p1), 0.0) + 1 - first

    @property
    def done(self) -> int:
        """Number of battles of the total with a known result."""
        return self.known + self.played

    @property
    def speed(self) -> float:
        """Battles per second in this invocation."""
        return self.played / max(self.seconds, 1e-9)

    @property
    def seconds(self) -> float:
        """Seconds since this invocation began."""
        return self.now() - self.began
