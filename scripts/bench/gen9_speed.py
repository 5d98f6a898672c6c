"""Speed of the generation-9 engine beside Showdown's bare `Battle`, on the same ten sets and cores: bench/engine.py's part.

All choices are drawn evenly from the legal ones. "observed": stepped from Python, with the observations and masks of both
sides at each step, from which a network's action is drawn and translated; after a first part, in which damage estimates of
Pokémon that come up for the first time are worked out. Speeds are for a second of CPU time, as machines are shared, and for
one of elapsed time. The figures take turns in each round; the last lines compare the medians, and two of them with what they
should be: turns a CPU second of one thread as a multiple of Showdown's, and decisions a second of elapsed time on all cores,
observed. The second is lower where other programs use the cores.

    python scripts/bench/engine.py --gen 9 [--rounds 3] [--seconds 4] [--battles 1024]
"""

from __future__ import annotations

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
from bars import against_bar
from numpy.typing import NDArray

from agents.engine.gen9.engine import CORES, UNDECIDED, Engine, initial_rows
from arena.fixture import Fixture, FixtureTeam
from teamsets.showdown import node, package
from training.envs.gen9_battles import Gen9Battles

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "parity"))

from gen9_parity import SETS  # noqa: E402

STEPS = 50
#: Of the engine; on a machine with one core there is one figure.
THREADS = sorted({1, CORES})


class Speed(NamedTuple):
    """Of a second of CPU time; elapsed_turns, elapsed_choices: of a second of elapsed time."""

    battles: float
    turns: float
    choices: float
    elapsed_turns: float
    elapsed_choices: float


def bare(threads: int) -> str:
    """What the engine's figure is called that is played without observations."""
    return f"engine, {threads} {'thread' if threads == 1 else 'threads'}"


def observed(threads: int) -> str:
    return f"{bare(threads)}, observed"


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
    used, elapsed = cpu_seconds() - used, time.monotonic() - started
    finished, choices, turns = counts
    return Speed(finished / used, turns / used, choices / used, turns / elapsed, choices / elapsed)


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
    used, elapsed = cpu_seconds() - used, time.monotonic() - started
    finished, turns, choices = counts
    return Speed(finished / used, turns / used, choices / used, turns / elapsed, choices / elapsed)


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
    return Speed(*per_cpu, *(played[what] / played["seconds"] for what in ("turns", "choices")))


def compare(rounds: int = 3, seconds: float = 4.0, battles: int = 1024) -> None:
    """Measure and print all of them. seconds: of each turn; battles: in the engine's batch."""
    speeds: dict[str, list[Speed]] = {}
    for number in range(1, rounds + 1):
        for threads in THREADS:
            speeds.setdefault(bare(threads), []).append(engine_speed(battles, threads, seconds))
        for threads in THREADS:
            speeds.setdefault(observed(threads), []).append(observed_speed(battles, threads, seconds))
        speeds.setdefault("showdown, 1 process", []).append(showdown_speed(number, seconds))
        for name, measured in speeds.items():
            last = measured[-1]
            print(
                f"round {number}: {name}: {last.battles:,.1f} battles, {last.turns:,.0f} turns, {last.choices:,.0f} choices "
                f"a CPU second; {last.elapsed_turns:,.0f} turns/s, {last.elapsed_choices:,.0f} choices/s",
                flush=True,
            )

    def median(name: str, figure: str) -> float:
        return statistics.median(getattr(speed, figure) for speed in speeds[name])

    one_core = median("showdown, 1 process", "turns")
    print(f"{observed(1)} / showdown on one core: {median(observed(1), 'turns') / one_core:,.1f} times")
    print(f"{observed(1)}: {median(observed(1), 'choices'):,.0f} decisions a CPU second")
    print(against_bar("engine / showdown, on one core", median(bare(1), "turns") / one_core, 100, "times"))
    decisions = median(observed(CORES), "elapsed_choices")
    print(against_bar(f"engine, both sides observed, {CORES} cores", decisions, 20_000, "decisions/s"))
