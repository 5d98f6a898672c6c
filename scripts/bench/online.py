"""Speed of online training (PPO, self-play in gen1ou, learning included), on the engine and on Showdown in one go.

A line for each network and venue: decisions/s over whole iterations, and the share of the time that each part took. Both
venues play the same settings but for the number of battles. Decisions are those that were learned from, of both seats.

    python scripts/bench/online.py [--iterations 4] [--battles 512] [--showdown-battles 16] [--epochs 1]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter
from typing import Any

from training.online.config import OnlineConfig
from training.online.rules.ppo import PPO
from training.runs.config_reader import read_yaml, validated
from training.runs.settings import Change, changed
from training.runs.shipped import resolve_path

#: Network -> decisions/s on two cores that it should reach.
BARS = {"micro": 8000, "tiny": 1000}


def self_play(preset: str, venue: str, battles: int, epochs: int = 1, device: str = "auto", **more: Any) -> PPO:
    """A trainer of the shipped preset `ppo` in self-play. more: further settings, with __ for each dot."""
    changes: dict[str, Any] = {
        "venue": venue,
        "rollout.battles": battles,
        "algorithm.epochs": epochs,
        "learner.network.preset": preset,
        "compute.device": device,
        "league.members": [{"who": "opponent", "weight": 1.0}],
        "rollout.teams": [{"set": "variety:200", "weight": 1.0}],
    }
    changes |= {key.replace("__", "."): value for key, value in more.items()}
    settings = changed(read_yaml(resolve_path("ppo", "online")), [Change(*each) for each in changes.items()], "ppo")
    return PPO(validated(OnlineConfig, settings, "ppo"))


def measured(trainer: PPO, iterations: int) -> tuple[float, Counter[str], float]:
    """Decisions/s, seconds by part, and peak memory in MiB. The first iteration (compiling, caches) is left out."""
    try:
        trainer.iterate()
        parts: Counter[str] = Counter()
        speeds, memory = [], 0.0
        for _ in range(iterations):
            began = time.perf_counter()
            metrics = trainer.iterate()
            speeds.append(metrics["decisions"] / (time.perf_counter() - began))
            parts.update({key.removeprefix("seconds/"): value for key, value in metrics.items() if "seconds/" in key})
            memory = metrics["memory_mib"]
        return statistics.median(speeds), parts, memory
    finally:
        trainer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=4)
    parser.add_argument("--battles", type=int, default=512)
    parser.add_argument("--showdown-battles", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=1)
    options = parser.parse_args()
    for preset, bar in BARS.items():
        speeds = {}
        for venue, battles in (("engine", options.battles), ("showdown", options.showdown_battles)):
            speed, parts, memory = measured(self_play(preset, venue, battles, options.epochs), options.iterations)
            speeds[venue] = speed
            shares = ", ".join(f"{part} {seconds / parts.total():.0%}" for part, seconds in parts.most_common())
            print(f"{preset} on {venue}: {speed:,.0f} decisions/s ({shares}; {memory:,.0f} MiB)", flush=True)
        reached = "yes" if speeds["engine"] >= bar else "NO"
        ratio = speeds["engine"] / speeds["showdown"]
        print(f"{preset}: at least {bar:,} decisions/s: {reached}; engine / Showdown: {ratio:.1f} times")


if __name__ == "__main__":
    main()
