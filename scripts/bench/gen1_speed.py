"""Speed of the generation-1 engine, beside Showdown's, poke-env's and libpkmn's, on the same cores: bench/engine.py's part.

All play gen1randombattle with choices drawn evenly from the legal ones. They take turns, so that a machine whose speed
drifts slows all; a line for each turn, then the medians, their ratios and what they should be:

- showdown: Showdown's bare `Battle` in one Node process for each core, with no client, no log and no observation;
- poke-env: two RandomPlayers by `battle_against` over a local Showdown server (bench/throughput.py);
- engine: whole battles in one call on all cores (agents/engine/gen1/rollout.py), no observation;
- engine, observed: a batch stepped from Python; both sides' observations and masks are made at each step, and a network's
  action is drawn from each mask and translated;
- libpkmn: with an interpreter that has oak-lab (`uv pip install oak-lab`), one process for each core, by bench/libpkmn.py,
  which says how. Without it, libpkmn's own figures are printed, which were not measured here.

Compile times come first: cold (an empty cache) and cached.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from bars import against_bar
from throughput import poke_env_speed

from agents.engine.gen1.engine import Engine, initial
from agents.engine.gen1.layout import SEED, TURN, UNDECIDED, WINNER
from agents.engine.gen1.rollout import rollout
from agents.observation.engine_observation import observe_rows
from teamsets.drawn import drawn_teams
from teamsets.showdown import node, package

HERE = Path(__file__).parent
STEPS = 200
CORES = len(os.sched_getaffinity(0))
_FIRST = """
import numpy as np
from agents.engine.gen1.engine import Engine
from agents.engine.gen1.rollout import rollout
from agents.observation.engine_observation import observe_rows
engine, row = Engine(1), np.zeros(1, np.int64)
engine.reset([{pair!r}], ["gen5,0000000000000001"])
engine.legal(), observe_rows(engine, row, row), engine.translate(row, row, row)
engine.step(np.zeros((1, 2), np.int32))
rollout(engine.words, engine.words.copy(), np.ones(1, np.uint64), 1)
"""
#: Printed without --libpkmn.
PUBLISHED = """libpkmn: not measured here. Its authors' own figure (github.com/pkmn/engine, docs/TESTING.md, one core of an
AMD EPYC 7B12): 3.72 ms for what takes Showdown's patched DirectBattle 13.3 s, 3,578 times as fast."""


class Speed(NamedTuple):
    """Turns and choices (decisions) a second."""

    turns: float
    choices: float


def compile_seconds(cache: str, pair: tuple[str, str]) -> float:
    """Seconds until a new process has everything compiled or loaded, its imports included."""
    started = time.monotonic()
    command = [sys.executable, "-c", _FIRST.format(pair=pair)]
    env = {**os.environ, "XDG_CACHE_HOME": cache, "PYTHONPYCACHEPREFIX": cache}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # else the modules' own bytecode would be compiled anew each time
    subprocess.run(command, check=True, env=env)
    return time.monotonic() - started


def on_every_core(command: list[str], seed: int, *rest: str) -> list[dict[str, float]]:
    """What a command prints as JSON, run once for each core with seeds of its own."""
    running = [
        subprocess.Popen([*command, str(seed * 100 + core), *rest], stdout=subprocess.PIPE, text=True)
        for core in range(CORES)
    ]
    return [json.loads(process.communicate()[0]) for process in running]


def showdown(seconds: float, seed: int) -> Speed:
    measured = on_every_core([node(), str(HERE / "bare_battle.mjs"), str(seconds)], seed, str(package()))
    return Speed(*(sum(t[what] / t["seconds"] for t in measured) for what in ("turns", "choices")))


def libpkmn(python: str, seconds: float, seed: int) -> Speed:
    """Turns of random play-outs; choices are not counted."""
    measured = on_every_core([python, str(HERE / "libpkmn.py"), str(seconds)], seed)
    return Speed(sum(t["playouts"] / t["seconds"] * t["turns_a_playout"] for t in measured), 0)


def random_teams(number: int) -> list[tuple[str, str]]:
    """Pairs of packed teams of Showdown's random battles."""
    teams = drawn_teams("gen1randombattle", [f"gen5,{n + 1:016x}" for n in range(2 * number)])
    return list(zip(teams[::2], teams[1::2], strict=True))


class Batch:
    """An engine's batch in the midst of battles, stepped by both of its ways."""

    def __init__(self, battles: int, pairs: list[tuple[str, str]]) -> None:
        teams = [pairs[n % len(pairs)] for n in range(battles)]
        seeds = [f"gen5,{n + 1:016x}" for n in range(battles)]
        self.fresh = np.stack([initial(pair, seed) for pair, seed in zip(teams, seeds, strict=True)])
        self.engine = Engine(battles)
        self.engine.reset(teams, seeds)
        self.begun = self.engine.words.copy()
        self.states = np.arange(1, battles + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        rollout(self.engine.words, self.fresh, self.states, STEPS)

    def play(self, seconds: float) -> Speed:
        """Whole battles without a look at them."""
        started, turns, choices = time.monotonic(), 0, 0
        while (elapsed := time.monotonic() - started) < seconds:
            _, chosen, turned = rollout(self.engine.words, self.fresh, self.states, STEPS)
            turns, choices = turns + turned, choices + chosen
        return Speed(turns / elapsed, choices / elapsed)

    def play_observed(self, seconds: float, seed: int) -> Speed:
        """Both sides' observations and masks at each step; a decision is one of a seat that has to choose."""
        state, random = self.engine.words, np.random.default_rng(seed)
        count = len(state)
        rows, seats = np.repeat(np.arange(count), 2), np.tile(np.arange(2), count)
        seen = observe_rows(self.engine, rows, seats)
        self.engine.translate(rows, seats, np.zeros(2 * count, np.int64))  # compiled now, not in the loop
        started, turns, choices = time.monotonic(), 0, 0
        while (elapsed := time.monotonic() - started) < seconds:
            observe_rows(self.engine, rows, seats, seen)
            drawn = (random.random(seen.legal.shape, np.float32) * seen.legal).argmax(axis=1)
            actions = self.engine.translate(rows, seats, drawn)
            choices += int(seen.legal.any(axis=1).sum())
            self.engine.step(np.maximum(actions, 0).reshape(count, 2))
            (over,) = np.nonzero(state[:, WINNER] != UNDECIDED)
            turns += int(state[over, TURN].sum())
            state[over] = self.begun[over]
            state[over, SEED : SEED + 4] = random.integers(0, 1 << 16, (len(over), 4))
        return Speed(turns / elapsed, choices / elapsed)


def compare(
    rounds: int = 3,
    seconds: float = 5.0,
    battles: int = 4096,
    server_battles: int = 60,
    libpkmn_python: str | None = None,
    compile_times: bool = True,
) -> None:
    """Measure and print all of them.

    seconds: of each turn; battles: in the engine's batch; server_battles: of poke-env in each round; libpkmn_python: an
    interpreter that has oak-lab, or None; compile_times: whether these are measured, some two minutes.
    """
    pairs = random_teams(64)
    cold = cached = None
    if compile_times:
        with tempfile.TemporaryDirectory() as cache:
            cold, cached = compile_seconds(cache, pairs[0]), compile_seconds(cache, pairs[0])
        print(f"compile: cold {cold:.1f} s, cached {cached:.1f} s (a new process, with its imports)", flush=True)
    batch = Batch(battles, pairs)
    ways: dict[str, Callable[[int], Speed]] = {
        "showdown": lambda seed: showdown(seconds, seed),
        "poke-env": lambda seed: Speed(poke_env_speed("gen1randombattle", server_battles, 10, seed).turns, 0),
        "engine": lambda seed: batch.play(seconds),
        "engine, observed": lambda seed: batch.play_observed(seconds, seed),
    }
    if libpkmn_python:
        ways["libpkmn"] = lambda seed: libpkmn(libpkmn_python, seconds, seed)
    speeds: dict[str, list[Speed]] = {name: [] for name in ways}
    for number in range(1, rounds + 1):
        for name, way in ways.items():
            speed = way(number)
            speeds[name].append(speed)
            choices = f", {speed.choices:,.0f} choices/s" if speed.choices else ""
            print(f"round {number}: {name} {speed.turns:,.0f} turns/s{choices} ({CORES} cores)", flush=True)
    turns = {name: statistics.median(speed.turns for speed in measured) for name, measured in speeds.items()}
    observed = statistics.median(speed.choices for speed in speeds["engine, observed"])
    print(against_bar("engine / showdown", turns["engine"] / turns["showdown"], 250, "times"))
    print(f"engine / poke-env over a server: {turns['engine'] / turns['poke-env']:,.0f} times")
    print(against_bar("engine", turns["engine"], 1e6, "turns/s"))
    print(against_bar("engine, both sides observed", observed, 1e5, "decisions/s"))
    if cold is not None and cached is not None:
        print(against_bar("compile, cold", cold, 120, "s", at_most=True))
        print(against_bar("compile, cached", cached, 3, "s", at_most=True))
    if libpkmn_python:
        ratio = turns["engine"] / turns["libpkmn"]
        print(f"engine / libpkmn (play-outs of a search, see bench/libpkmn.py): {ratio:.2f} times")
    else:
        print(PUBLISHED)
