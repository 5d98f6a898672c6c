"""What was tried at a decision and what it came to, and the file that keeps it: a line per side of a battle.

A line is written when all decisions of a side have been tried, so that an interrupted command continues with the next side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from training.runs.settings import differences, other_settings


@dataclass(frozen=True)
class TriedChoice:
    """One answer at a decision. action: a choice in the arena's words. plan: what it says it wants to do; "": nothing.

    results: of the battles that were played on from it: 1 won, 0.5 tied, 0 lost. value: where it was valued instead of
    played (an expert's), from 0 to 1. failure: why it was no action: `illegal`, `unparsable` or `timeout`; "": it was one.
    text: a language model's whole answer, or None. shared: attempts of a decision with the same number have the results of
    the same battles; None: of their own.
    """

    action: str
    results: tuple[float, ...] = ()
    plan: str = ""
    value: float | None = None
    failure: str = ""
    text: str | None = None
    shared: int | None = None

    @property
    def score(self) -> float | None:
        """From 0 to 1; None if it was neither played on nor valued."""
        return sum(self.results) / len(self.results) if self.results else self.value


@dataclass(frozen=True)
class TriedDecision:
    """What a language model answered at a decision. answers: not played on yet. hot: at a high temperature."""

    answers: tuple[TriedChoice, ...]
    hot: TriedChoice


@dataclass(frozen=True)
class TriedOutcome:
    """A decision and what was tried there. decision: its index among those of its side. seed: of the tries.

    hot: what the language model that was asked said at a high temperature; it was not played on.
    """

    decision: int
    turn: int
    seed: int
    legal: tuple[str, ...]
    played: str
    attempts: tuple[TriedChoice, ...]
    hot: TriedChoice | None = None


@dataclass(frozen=True)
class TriedSide:
    """The decisions of one side of a battle that were tried. steps: decisions that were played for it, of both seats.

    skipped: why nothing was tried there, or "".
    """

    battle: int
    seat: str
    tried: tuple[TriedOutcome, ...] = ()
    steps: int = 0
    skipped: str = field(default="")


class AttemptsFile:
    """`attempts.jsonl`: the sides that were tried so far. settings: of the tries; a file of other ones is refused.

    It is written with the first side: a command that tries nothing leaves none. Raises `problem` (an exception type) with
    one line.
    """

    def __init__(self, path: Path, settings: dict[str, Any], problem: type[Exception]) -> None:
        self._path, self.done = path, dict[tuple[int, str], TriedSide]()
        self._head = orjson.dumps({"settings": settings})
        lines = path.read_bytes().split(b"\n") if path.exists() else []
        if len(lines) < 3:  # there is none, or the process was killed while it wrote the first side
            return
        changed = differences(orjson.loads(lines[0])["settings"], orjson.loads(self._head)["settings"])
        if changed:
            raise problem(
                f"{path.parent}: {other_settings(changed, 'begun')}: restore them, use --replace, or another --out"
            )
        for line in lines[1:-1]:
            side = _side(orjson.loads(line))
            self.done[side.battle, side.seat] = side
        if lines[-1]:  # cut off by a kill
            path.write_bytes(b"\n".join(lines[:-1]) + b"\n")

    def add(self, side: TriedSide) -> None:
        """Append a side in one write."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab" if self.done else "wb") as file:
            file.write(b"" if self.done else self._head + b"\n")
            file.write(orjson.dumps(asdict(side)) + b"\n")
        self.done[side.battle, side.seat] = side

    def of(self, sides: Sequence[tuple[int, str]]) -> list[TriedSide]:
        """The sides that were tried, in this order."""
        return [self.done[one] for one in sides]


def _side(line: dict[str, Any]) -> TriedSide:
    tried = tuple(
        TriedOutcome(
            **{
                **outcome,
                "legal": tuple(outcome["legal"]),
                "attempts": tuple(map(_attempt, outcome["attempts"])),
                "hot": _attempt(outcome["hot"]) if outcome.get("hot") else None,
            }
        )
        for outcome in line["tried"]
    )
    return TriedSide(**{**line, "tried": tried})


def _attempt(line: dict[str, Any]) -> TriedChoice:
    return TriedChoice(**{**line, "results": tuple(line["results"])})
