"""What it costs to see: CPU milliseconds of one observation (agents/policy), beside what reading the battle's lines costs.

Plays battles of each format and reads each side's log again as a seat does, observing at every decision. Printed: the CPU
time of an observation (median, mean), that of everything else between two decisions (poke-env's parsing and the request),
and the ratio of the two means.

    python scripts/bench/observe.py [--formats gen1ou gen9ou] [--battles 20]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import time

import numpy as np
import orjson

from agents.battle import SeatBattle
from agents.observation.observation import observe
from arena.record import BattleRecord
from arena.run.entrants import load_pools
from arena.schedules.plan import Plan, round_robin
from arena.venue import Rules
from arena.venues.simulator.simulator import play_all
from teamsets.formats import get_format

AGENTS = ("heuristic:max-damage", "heuristic:emerald")


RULES = Rules(think_limit=60.0, max_turns=300)


def play(format_id: str, battles: int) -> list[BattleRecord]:
    plan = Plan(AGENTS, load_pools((format_id,))[0], battles, 0)
    return asyncio.run(play_all(round_robin(plan), RULES))


def costs(record: BattleRecord) -> list[tuple[float, float]]:
    """For each decision of both sides the CPU seconds of the observation, and of reading what came before it."""
    format_id = record.fixture.format
    seconds = []
    for role, log in zip(("p1", "p2"), record.logs, strict=True):
        battle = SeatBattle(f"battle-{format_id}-1", role, role, get_format(format_id).gen, format_id, random.Random(0))
        since = time.process_time()
        for line in log:
            if not line.startswith("|request|"):
                battle.feed([line])
                continue
            battle.ask(orjson.loads(line[9:]))
            if not battle.legal or battle.legal[0].kind == "team":
                continue
            read = time.process_time()
            observe(battle)
            seen = time.process_time()
            seconds.append((seen - read, read - since))
            since = seen
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--formats", nargs="+", default=["gen1ou", "gen9ou"])
    parser.add_argument("--battles", type=int, default=20)
    options = parser.parse_args()
    for format_id in options.formats:
        records = play(format_id, options.battles)
        costs(records[0])  # the caches are filled
        gc.collect()
        gc.disable()  # a worker has all that is loaded out of the collector's sight; its pauses here would be another's
        milliseconds = 1000 * np.array([cost for record in records for cost in costs(record)])
        gc.enable()
        median, mean, reading = float(np.median(milliseconds[:, 0])), *map(float, milliseconds.mean(axis=0))
        print(
            f"{format_id}: {median:.3f} ms an observation (median of {len(milliseconds)}; mean {mean:.3f});"
            f" reading {reading:.3f} ms; ratio {mean / reading:.2f}"
        )


if __name__ == "__main__":
    main()
