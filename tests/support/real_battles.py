"""Real battles of uniformly random choices, in every generation."""

from __future__ import annotations

import asyncio

from arena.battles.guard import StepGuard
from arena.fixture import Fixture, FixtureTeam
from arena.record import BattleRecord
from arena.schedules.plan import DRAWN, Plan, round_robin
from arena.venue import Rules
from arena.venues.simulator.host import Host
from arena.venues.simulator.simulator import Simulator
from teamsets.loading import load_set

RANDOM_FORMATS = [f"gen{gen}randombattle" for gen in range(1, 10)]
FORMATS = [*RANDOM_FORMATS, "gen1ou", "gen4ou", "gen9ou"]
BATTLES = 4  # of each format


def fixtures(format_id: str, number: int) -> list[Fixture]:
    """Battles of uniformly random choices."""
    pool: list[FixtureTeam] = []
    if not format_id.endswith("randombattle"):
        loaded = load_set("competitive", format_id)
        pool = [FixtureTeam(t.id, t.name, packed=t.packed) for t in loaded.teams]
    plan = Plan(("random", "bad_agents:Uniform"), {(format_id, DRAWN): pool}, number, seed=3)
    return list(round_robin(plan))[:number]


async def play_all(stock: bool) -> dict[str, list[BattleRecord]]:
    async with await Host.launch(stock=stock) as host:
        simulator = Simulator(host, StepGuard(), Rules(think_limit=60.0))
        return {
            format_id: await asyncio.gather(
                *(simulator.play(fixture, index) for index, fixture in enumerate(fixtures(format_id, BATTLES)))
            )
            for format_id in FORMATS
        }
