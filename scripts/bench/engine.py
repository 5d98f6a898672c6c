"""Turns a second of random generation-1 battles: the engine against Showdown's bare `Battle`, on the same cores in one go.

Both play gen1randombattle teams with choices drawn evenly from the legal ones. Showdown runs in one Node process for each
core, with no client, no log and no observation; the engine steps a batch on all cores. The two take turns; a line for each
turn, and the ratio of the medians. Compile times come first: cold (an empty cache) and cached.

    python scripts/bench/engine.py [--rounds 3] [--seconds 5] [--battles 4096]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from agents.engine.engine import Engine, initial
from agents.engine.rollout import rollout
from teamsets.drawn import drawn_teams
from teamsets.showdown import node, package

HERE = Path(__file__).parent
STEPS = 200
_FIRST = (
    "from agents.engine import engine, rollout; import numpy as np\nwords = np.zeros((1, engine.WORDS), np.int32)\n"
)
_FIRST += "engine._start(words), engine._legal(words, words), rollout.rollout(words, words, np.ones(1, np.uint64), 0)"


def compile_seconds(cache: str) -> float:
    """Seconds until a new process has everything compiled or loaded, its imports included."""
    started = time.monotonic()
    subprocess.run([sys.executable, "-c", _FIRST], check=True, env={**os.environ, "XDG_CACHE_HOME": cache})
    return time.monotonic() - started


def showdown(seconds: float, processes: int, seed: int) -> tuple[float, float]:
    """Turns and choices a second over all processes."""
    command = [node(), str(HERE / "bare_battle.mjs"), str(seconds)]
    running = [
        subprocess.Popen([*command, str(seed * 100 + k), str(package())], stdout=subprocess.PIPE, text=True)
        for k in range(processes)
    ]
    told = [json.loads(process.communicate()[0]) for process in running]
    return sum(t["turns"] / t["seconds"] for t in told), sum(t["choices"] / t["seconds"] for t in told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each turn")
    parser.add_argument("--battles", type=int, default=4096, help="in the engine's batch")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        cold, cached = compile_seconds(cache), compile_seconds(cache)
        print(f"compile: cold {cold:.1f} s, cached {cached:.1f} s (a new process, with its imports)")
    cores = len(os.sched_getaffinity(0))
    teams = drawn_teams("gen1randombattle", [f"gen5,{n + 1:016x}" for n in range(128)])
    pairs = list(zip(teams[::2], teams[1::2], strict=True))
    fresh = np.stack([initial(pairs[n % 64], f"gen5,{n + 1:016x}") for n in range(arguments.battles)])
    engine = Engine(arguments.battles)
    engine.reset(
        [pairs[n % 64] for n in range(arguments.battles)], [f"gen5,{n + 1:016x}" for n in range(arguments.battles)]
    )
    states = np.arange(1, arguments.battles + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    rollout(engine.words, fresh, states, STEPS)  # into the midst of battles
    speeds: dict[str, list[float]] = {"showdown": [], "engine": []}
    for number in range(arguments.rounds):
        turns, choices = showdown(arguments.seconds, cores, number + 1)
        speeds["showdown"].append(turns)
        print(f"round {number + 1}: showdown {turns:,.0f} turns/s, {choices:,.0f} choices/s ({cores} processes)")
        started, turned, chosen = time.monotonic(), 0, 0
        while (elapsed := time.monotonic() - started) < arguments.seconds:
            _, choices, turns = rollout(engine.words, fresh, states, STEPS)
            turned, chosen = turned + turns, chosen + choices
        speeds["engine"].append(turned / elapsed)
        speed = f"{turned / elapsed:,.0f} turns/s, {chosen / elapsed:,.0f} choices/s"
        print(f"round {number + 1}: engine {speed} ({cores} cores)")
    medians = {name: statistics.median(values) for name, values in speeds.items()}
    print(f"engine / showdown: {medians['engine'] / medians['showdown']:.0f} times")


if __name__ == "__main__":
    main()
