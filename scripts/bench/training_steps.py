"""How fast a network learns: decisions a second of whole training steps, and the memory that they take.

The steps are the trainer's (forward, cloning's loss, backward, clipping, AdamW) on made-up trajectories whose lengths are
spread like those of gen1ou battles. Two ways are compared, taking turns, and the ratio is printed: batches of trajectories
of like length, as the trainer's stream makes them, and batches as they come, whose padding the wide part of the network
pays for.

    python scripts/bench/training_steps.py [--preset tiny] [--batch 32] [--seconds 20] [--precision fp32] [--threads 0]
        [--activation-checkpointing] [--device auto]
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import torch

from agents.observation.actions import ACTIONS
from agents.observation.observation import FEATURES, IDS_PER_TOKEN, TOKENS
from agents.policy.network import Network
from agents.policy.shape import PRESETS
from training.data.stream import Batch, padded
from training.data.trajectory import Trajectory
from training.offline.config import Cloning
from training.offline.losses import LOSSES
from training.offline.tensors import to_device

SETTINGS = Cloning(name="cloning", targets="choices", expert_value_weight=0.0, value_weight=0.25)
SORTED_TOGETHER = 8
PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16}


def trajectory(draw: np.random.Generator, length: int) -> Trajectory:
    return Trajectory(
        draw.integers(1, 4000, (length, TOKENS, IDS_PER_TOKEN)).astype(np.int16),
        draw.standard_normal((length, TOKENS, FEATURES)).astype(np.float16),
        np.ones((length, ACTIONS), np.bool_),
        draw.integers(0, ACTIONS, length).astype(np.int8),
        np.zeros((length, ACTIONS), np.float16),
        np.zeros(length, np.int8),
        np.full(length, np.nan, np.float16),
        float(draw.integers(2)),
    )


def batches(size: int, like: bool, seed: int) -> list[Batch]:
    """Some batches. like: of trajectories of like length."""
    draw = np.random.default_rng(seed)
    lengths = np.clip(draw.gamma(5.0, 8.0, size * SORTED_TOGETHER).astype(int), 5, 128)
    made = [trajectory(draw, int(length)) for length in (sorted(lengths) if like else lengths)]
    return [padded(made[start : start + size]) for start in range(0, len(made), size)]


class Learner:
    def __init__(self, options: argparse.Namespace) -> None:
        self.device = torch.device(options.device)
        self.kind = PRECISIONS[options.precision]
        self.network = Network(PRESETS[options.preset], options.activation_checkpointing).to(self.device)
        self.optimizer = torch.optim.AdamW(self.network.parameters())

    def learn(self, batch: Batch) -> None:
        tensors = to_device(batch, self.device)
        with torch.autocast(self.device.type, self.kind, enabled=self.kind is not torch.float32):
            output = self.network(tensors.token_ids, tensors.features, tensors.legal, tensors.valid_mask)
        loss, _ = LOSSES["cloning"](output, tensors, SETTINGS)
        (loss / batch.decisions).backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()

    def speed(self, some: list[Batch], seconds: float) -> float:
        """Decisions a second over whole rounds of the batches."""
        decisions, began = 0, time.perf_counter()
        while time.perf_counter() - began < seconds:
            for batch in some:
                self.learn(batch)
                decisions += batch.decisions
            if self.device.type == "cuda":
                torch.cuda.synchronize()
        return decisions / (time.perf_counter() - began)


def memory(device: torch.device) -> float:
    """The most that was held at once, in GiB: the GPU's, or this process's."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated() / 2**30
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="tiny", choices=sorted(PRESETS))
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--precision", default="fp32", choices=sorted(PRECISIONS))
    parser.add_argument("--activation-checkpointing", action="store_true")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    if options.device == "auto":
        options.device = "cuda" if torch.cuda.is_available() else "cpu"
    if options.threads:
        torch.set_num_threads(options.threads)
    learner = Learner(options)
    like, mixed = batches(options.batch, True, 0), batches(options.batch, False, 0)
    learner.speed(like, 0.0)
    measured: tuple[list[float], list[float]] = ([], [])
    for _ in range(3):
        for some, speeds in zip((like, mixed), measured, strict=True):
            speeds.append(learner.speed(some, options.seconds / 6))
    by_length, mixed_lengths = max(measured[0]), max(measured[1])
    where = torch.cuda.get_device_name() if learner.device.type == "cuda" else f"cpu, {torch.get_num_threads()} threads"
    what = f"{options.preset} ({learner.network.parameter_count:,} parameters, {options.precision}) on {where}"
    print(
        f"{what}: {by_length:,.0f} decisions/s by length, {mixed_lengths:,.0f} as they come;"
        f" {memory(learner.device):.1f} GiB; ratio {by_length / mixed_lengths:.2f}"
    )


if __name__ == "__main__":
    main()
