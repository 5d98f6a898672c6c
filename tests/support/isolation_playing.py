"""Battles of chosen agents in this process, with and without isolation; as a program, without it and as JSON."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import orjson

from arena.battles.guard import StepGuard
from arena.fixture import Fixture, FixtureTeam, showdown_seed
from arena.record import BattleRecord
from arena.venue import Rules
from arena.venues.isolation.process import MAX_IDLE
from arena.venues.isolation.seat import Isolation
from arena.venues.simulator.host import Host
from arena.venues.simulator.simulator import Simulator

FORMAT = "gen1randombattle"
MAX_TURNS = 20


def fixture(first: str, second: str, format_id: str = FORMAT, seed: int = 0) -> Fixture:
    """A battle whose teams the format draws."""
    teams = [FixtureTeam(name, name, seed=showdown_seed(name, seed)) for name in ("one", "two")]
    return Fixture(format_id, (first, second), (teams[0], teams[1]), showdown_seed("battle", seed), "pair", "drawn")


def play(
    fixtures: list[Fixture], *, isolate: bool, at_once: int = 100, max_idle: int = MAX_IDLE, think_limit: float = 60.0
) -> list[BattleRecord]:
    """So many at once on one host; the records in the order of the fixtures."""

    async def played() -> list[BattleRecord]:
        isolation = Isolation(max_idle=max_idle) if isolate else None
        async with await Host.launch() as host:
            simulator = Simulator(host, StepGuard(), Rules(think_limit=think_limit, max_turns=MAX_TURNS), isolation)
            room = asyncio.Semaphore(at_once)

            async def one(serial: int) -> BattleRecord:
                async with room:
                    return await simulator.play(fixtures[serial], serial)

            records = await asyncio.gather(*map(one, range(len(fixtures))))
        if isolation is not None:
            isolation.end()
        return records

    return asyncio.run(played())


def play_elsewhere(*pairings: tuple[str, str]) -> list[dict[str, Any]]:
    """Battles without isolation in another process, for agents that spoil it, one after the other: `facts` of each."""
    command = [sys.executable, "-P", __file__, orjson.dumps(pairings).decode()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    facts: list[dict[str, Any]] = orjson.loads(done.stdout.splitlines()[-1])
    return facts


def facts(record: BattleRecord) -> dict[str, Any]:
    """What the tests look at. won: by the simulator's log; answers, loot: by seat."""
    by_seat = {seat: [row for row in record.decisions if row[0] == index] for index, seat in enumerate(("p1", "p2"))}
    return {
        "winner": record.winner,
        "won": next((line[5:] for line in record.logs[0] if line.startswith("|win|")), None),
        "answers": {seat: [[row[3], row[4]] for row in rows] for seat, rows in by_seat.items()},
        "loot": [row[6]["loot"] for row in by_seat["p1"] if row[6] and "loot" in row[6]],
    }


if __name__ == "__main__":
    found = [
        facts(record) for pairing in orjson.loads(sys.argv[1]) for record in play([fixture(*pairing)], isolate=False)
    ]
    print(orjson.dumps(found).decode())
