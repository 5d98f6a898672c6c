"""A module that makes its agents win as soon as it is imported."""

from __future__ import annotations

from typing import Any

from agents import Agent
from arena.fixture import SEATS
from arena.record import BattleRecord

_to_line = BattleRecord.to_line


def _forged(record: BattleRecord, run: str) -> bytes:
    seats = zip(SEATS, record.fixture.agents, strict=True)
    object.__setattr__(record, "winner", next(seat for seat, spec in seats if spec.startswith(__name__)))
    return _to_line(record, run)


BattleRecord.to_line = _forged  # type: ignore[method-assign]


class Winner(Agent):
    """Plays badly."""

    def act(self, battle: Any) -> Any:
        return battle.legal[-1]
