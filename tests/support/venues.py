"""Both venues on one event loop, and what must be the same on both."""

from __future__ import annotations

import asyncio
from typing import Any

from arena.battles.guard import StepGuard
from arena.fixture import Fixture
from arena.record import BattleRecord
from arena.venue import Rules
from arena.venues.server.local import LocalServer
from arena.venues.server.venue import ServerVenue
from arena.venues.simulator.host import Host
from arena.venues.simulator.simulator import Simulator

PATIENT = Rules(think_limit=60.0)


class Venues:
    """Both venues on one event loop, for all tests of this file: a server's first battle in a format takes seconds."""

    def __init__(self) -> None:
        self.runner = asyncio.Runner()
        self.host = self.runner.run(Host.launch())
        self.server = self.runner.run(LocalServer.launch())

    def close(self) -> None:
        self.runner.run(self.server.close())
        self.runner.run(self.host.close())
        self.runner.close()

    def simulated(self, fixtures: list[Fixture], rules: Rules) -> list[BattleRecord]:
        simulator = Simulator(self.host, StepGuard(), rules)

        async def play() -> list[BattleRecord]:
            return await asyncio.gather(*(simulator.play(fixture, n) for n, fixture in enumerate(fixtures)))

        return self.runner.run(play())

    def served(self, fixtures: list[Fixture], rules: Rules = PATIENT) -> list[BattleRecord]:
        async def play() -> list[BattleRecord]:
            async with ServerVenue(self.server, StepGuard(), rules) as venue:
                return await asyncio.gather(*(venue.play(fixture, n) for n, fixture in enumerate(fixtures)))

        return self.runner.run(play())


def told(record: BattleRecord) -> dict[str, Any]:
    """Everything of a record that must be the same when the battle is played again."""
    result = (record.winner, record.reason, record.fault, record.detail, record.turns, record.parse_warnings)
    return {
        "result": result,
        "p1": record.logs[0],
        "p2": record.logs[1],
        "input log": record.input_log,
        "decisions": [decision[:5] for decision in record.decisions],
    }
