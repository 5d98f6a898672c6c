"""How fast the rule players on arrays (agents/rules/batched) decide on one core, and what making their instances costs.

Plays battles of a format, keeps the observations of all decisions, and repeats them to `--batch` decisions; each player then
decides for all of them, `--rounds` times, and the fastest round counts. Instances are made as a run makes them, by the
registry.

    python scripts/bench/arrays.py [--format gen1ou] [--battles 4] [--batch 4096] [--rounds 20] [--instances 10000]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time

import numpy as np
import orjson

from agents import resolve
from agents.battle import SeatBattle
from agents.observation.observation import Observations, observe
from agents.rules.batched import PLAYERS
from arena.record import BattleRecord
from arena.run.entrants import load_pools
from arena.schedules.plan import Plan, round_robin
from arena.venue import Rules
from arena.venues.simulator.simulator import play_all
from teamsets.formats import get_format

AGENTS = ("heuristic:max-damage", "heuristic:balanced")


def observed(record: BattleRecord) -> list[tuple[np.ndarray, ...]]:
    """Return the arrays of each decision of both sides of a battle."""
    format_id, arrays = record.fixture.format, []
    for role, log in zip(("p1", "p2"), record.logs, strict=True):
        battle = SeatBattle(f"battle-{format_id}-1", role, role, get_format(format_id).gen, format_id, random.Random(0))
        for line in log:
            if not line.startswith("|request|"):
                battle.feed([line])
                continue
            battle.ask(orjson.loads(line[9:]))
            if battle.legal and battle.legal[0].kind != "team":
                observation = observe(battle)
                arrays.append((observation.token_ids, observation.features, observation.legal))
    return arrays


def batch_of(format_id: str, battles: int, size: int) -> Observations:
    """Return real observations, repeated to a batch of a size."""
    plan = Plan(AGENTS, load_pools((format_id,))[0], battles, 0)
    records = asyncio.run(play_all(round_robin(plan), Rules(think_limit=60.0, max_turns=300)))
    decisions = [decision for record in records for decision in observed(record)]
    print(f"{format_id}: {len(decisions)} decisions of {len(records)} battles, repeated to {size}")
    rows = np.arange(size) % len(decisions)
    return Observations(*(np.stack(part)[rows] for part in zip(*decisions, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--format", default="gen1ou")
    parser.add_argument("--battles", type=int, default=4)
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--instances", type=int, default=10_000)
    options = parser.parse_args()
    observations = batch_of(options.format, options.battles, options.batch)
    for name, player in PLAYERS.items():
        source = resolve(f"array:{name}")
        began = time.perf_counter()
        agents = [source.make() for _ in range(options.instances)]
        making = time.perf_counter() - began
        deciding = (agents * (1 + options.batch // max(1, len(agents))))[: options.batch]
        player.act_many(deciding, observations)  # type: ignore[arg-type]  # the tables are made
        seconds = []
        for _ in range(options.rounds):
            began = time.perf_counter()
            player.act_many(deciding, observations)  # type: ignore[arg-type]
            seconds.append(time.perf_counter() - began)
        print(
            f"array:{name}: {options.batch / min(seconds):,.0f} decisions/s ({1000 * min(seconds):.2f} ms a batch);"
            f" {options.instances:,} instances in {1000 * making:.0f} ms"
        )


if __name__ == "__main__":
    main()
