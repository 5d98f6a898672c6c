"""Speed of learning from one large minibatch (PPO, one pass over self-play in gen1ou) by the size of the pieces that it is
worked through in (`PIECE_DECISIONS`), in turns.

A line for each network and size: decisions/s of learning, the medians of the rounds, the share of CPU time that the system
took for itself (memory that is given and taken back), and the ratio to the whole minibatch at once.

    python scripts/bench/minibatches.py [--presets micro tiny] [--battles 256] [--rounds 3] [--sizes 128 512 2048]
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

from online import self_play

from training.online import rollout as rollouts
from training.online.rollout import Rollout
from training.online.rules.ppo import PPO
from training.online.trainer import LEARNER

#: Larger than any minibatch here.
WHOLE = 1 << 30


def learned(trainer: PPO, rollout: Rollout, size: int) -> tuple[float, float]:
    """Decisions/s of a pass over the rollout, and the system's share of its CPU time."""
    rollouts.PIECE_DECISIONS = size
    began, before = time.perf_counter(), os.times()
    trainer.learn(trainer.roles[LEARNER], rollout, None)
    spent, after = time.perf_counter() - began, os.times()
    user, system = after.user - before.user, after.system - before.system
    return rollout.decisions / spent, system / max(user + system, 1e-9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presets", nargs="+", default=["micro", "tiny"])
    parser.add_argument("--battles", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="+", default=[128, 512, 2048])
    options = parser.parse_args()
    sizes = [*options.sizes, WHOLE]
    for preset in options.presets:
        trainer = self_play(preset, "engine", options.battles, compute__threads=1, algorithm__minibatch_decisions=WHOLE)
        try:
            rollout = trainer._collect()[LEARNER]
            learned(trainer, rollout, options.sizes[0])
            rounds = [[learned(trainer, rollout, size) for size in sizes] for _ in range(options.rounds)]
        finally:
            trainer.close()
        medians = [
            [statistics.median(numbers) for numbers in zip(*each, strict=True)] for each in zip(*rounds, strict=True)
        ]
        for size, (speed, system) in zip(sizes, medians, strict=True):
            name = f"all {rollout.decisions:,}" if size == WHOLE else f"pieces of {size:,}"
            ratio = speed / medians[-1][0]
            print(f"{preset}, {name}: {speed:,.0f} decisions/s, {system:.0%} system, {ratio:.2f} times", flush=True)


if __name__ == "__main__":
    main()
