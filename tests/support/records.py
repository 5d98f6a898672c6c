"""Made-up battle records of one run."""

from __future__ import annotations

from typing import Any

from arena.fixture import Fixture, FixtureTeam
from arena.record import BattleRecord

RUN = "20260101-000000"
TEAMS = tuple(FixtureTeam(f"team{number}", f"name {number}", packed="packed") for number in (1, 2))


def record(
    number: int,
    agents: tuple[str, str] = ("a", "b"),
    winner: str | None = "p1",
    reason: str = "win",
    fault: str | None = None,
    team_set: str = "alpha",
    **more: Any,
) -> BattleRecord:
    """A record made by hand; `number` makes it another fixture."""
    fixture = Fixture("gen1ou", agents, (TEAMS[0], TEAMS[1]), f"gen5,{number:016x}", f"pair{number}", team_set)
    return BattleRecord(fixture, winner, reason, fault, turns=more.pop("turns", 10), started=1e9, **more)
