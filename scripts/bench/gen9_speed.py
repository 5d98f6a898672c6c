"""Speed of the generation-9 engine beside Showdown's bare `Battle`, on the same ten sets, in turns on the same cores.

All choices are drawn evenly from the legal ones. "observed": stepped from Python, with the observations and masks of both
sides at each step, from which a network's action is drawn and translated; after a first part, in which damage estimates of
Pokémon that come up for the first time are worked out. Speeds are for a second of CPU time, as machines are shared, and for
one of elapsed time.

    python scripts/bench/gen9_speed.py [--rounds 3] [--seconds 4] [--battles 1024]
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.engine.gen9.engine import CORES, UNDECIDED, Engine, initial_rows
from arena.fixture import Fixture, FixtureTeam
from teamsets.showdown import node, package
from training.envs.gen9_battles import Gen9Battles

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "parity"))

from gen9_parity import SETS  # noqa: E402

STEPS = 50


class Speed(NamedTuple):
    """Of a second of CPU time; elapsed: turns of a second of time."""

    battles: float
    turns: float
    choices: float
    elapsed: float


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def engine_speed(battles: int, threads: int, seconds: float) -> Speed:
    random = np.random.default_rng(1)
    teams = ["]".join(SETS[n] for n in random.permutation(len(SETS))[:6]) for _ in range(2 * battles)]
    pairs, seeds = list(zip(teams[::2], teams[1::2], strict=True)), [f"gen5,{n + 1:016x}" for n in range(battles)]
    fresh, engine = initial_rows(pairs, seeds, battles), Engine(battles, threads)
    engine.reset(pairs, seeds)
    states = np.arange(1, battles + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    engine.rollout(fresh, states, 2 * STEPS)
    counts, started, used = np.zeros(3), time.monotonic(), cpu_seconds()
    while time.monotonic() - started < seconds:
        counts += engine.rollout(fresh, states, STEPS)
    finished, choices, turns = counts / (cpu_seconds() - used)
    return Speed(finished, turns, choices, counts[2] / (time.monotonic() - started))


def observed_speed(battles: int, threads: int, seconds: float) -> Speed:
    """Of battles as environments and online training play them (training/envs/gen9_battles.py)."""
    random = np.random.default_rng(1)
    teams = [
        FixtureTeam("", "", "]".join(SETS[n] for n in random.permutation(len(SETS))[:6])) for _ in range(2 * battles)
    ]
    venue, numbers, rows = Gen9Battles(battles, "gen9ou", threads), itertools.count(1), np.arange(battles)

    def begin(rows: NDArray[np.int64]) -> None:
        pairs = [(teams[2 * row], teams[2 * row + 1]) for row in rows.tolist()]
        fixtures = [Fixture("gen9ou", ("", ""), pair, f"gen5,{next(numbers):016x}", "", "") for pair in pairs]
        venue.begin(rows, fixtures, [(None, None)] * len(rows))

    def step() -> tuple[int, int, int]:
        places, seats = np.nonzero(venue.needs_decision(rows))
        legal = venue.observe(places, seats).legal
        actions = np.full((battles, 2), -1)
        actions[places, seats] = (legal * random.random(legal.shape, np.float32)).argmax(axis=1)
        venue.play(rows, actions)
        over = np.flatnonzero(venue.winners != UNDECIDED)
        turns = int(venue.turns[over].sum())
        begin(over)
        return len(over), turns, len(places)

    begin(rows)
    for _ in range(2 * STEPS):
        step()
    counts, started, used = np.zeros(3), time.monotonic(), cpu_seconds()
    while time.monotonic() - started < seconds:
        counts += step()
    finished, turns, choices = counts / (cpu_seconds() - used)
    return Speed(finished, turns, choices, counts[1] / (time.monotonic() - started))


def showdown_speed(seed: int, seconds: float) -> Speed:
    command = [
        node(),
        str(HERE / "bare_battle.mjs"),
        str(seconds),
        str(seed),
        str(package()),
        "gen9ou",
        json.dumps(SETS),
    ]
    played = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    per_cpu = (played[what] / played["cpu"] for what in ("battles", "turns", "choices"))
    return Speed(*per_cpu, played["turns"] / played["seconds"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each turn")
    parser.add_argument("--battles", type=int, default=1024, help="in the engine's batch")
    options = parser.parse_args()
    speeds: dict[str, list[Speed]] = {}
    for number in range(1, options.rounds + 1):
        speeds.setdefault("engine, 1 thread", []).append(engine_speed(options.battles, 1, options.seconds))
        speeds.setdefault(f"engine, {CORES} threads", []).append(engine_speed(options.battles, CORES, options.seconds))
        for threads in (1, CORES):
            name = f"engine, {threads} {'thread' if threads == 1 else 'threads'}, observed"
            speeds.setdefault(name, []).append(observed_speed(options.battles, threads, options.seconds))
        speeds.setdefault("showdown, 1 process", []).append(showdown_speed(number, options.seconds))
        for name, measured in speeds.items():
            last = measured[-1]
            print(
                f"round {number}: {name}: {last.battles:,.1f} battles, {last.turns:,.0f} turns, {last.choices:,.0f} choices "
                f"a CPU second; {last.elapsed:,.0f} turns/s",
                flush=True,
            )
    turns = {name: statistics.median(speed.turns for speed in measured) for name, measured in speeds.items()}
    for name in ("engine, 1 thread", "engine, 1 thread, observed"):
        print(f"{name} / showdown on one core: {turns[name] / turns['showdown, 1 process']:,.0f} times")


if __name__ == "__main__":
    main()
