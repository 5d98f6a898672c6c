"""Which settings of a run fit into a GPU's memory: the largest batch of each way to save memory, and a recommendation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from training.data.shards import opened
from training.machines.memory.estimate import MemoryEstimate, Setup, estimate
from training.offline.config import Config

#: Largest micro-batch of a process that is considered, in trajectories.
_LARGEST = 1 << 14


@dataclass(frozen=True)
class Variant:
    """A way to train. estimate: with the run's batch. most: largest number of trajectories of a micro-batch per process that
    fits; 0: not even one does."""

    name: str
    setup: Setup
    estimate: MemoryEstimate
    most: int

    def fits(self, memory: float) -> bool:
        return self.estimate.peak <= memory


def setup_of(config: Config, processes: int, device: str, process: float | None = None) -> Setup:
    """Return what the memory of a configuration depends on. device: `cuda` or `cpu`."""
    return Setup(
        shape=replace(config.network.shape, dropout=config.network.dropout, slots=_slots(config)),
        processes=processes,
        batch_size=config.data.batch_size,
        max_length=config.data.max_length,
        accumulation=config.compute.gradient_accumulation_steps,
        checkpointing=config.compute.activation_checkpointing,
        precision=config.compute.precision,
        sharding=config.compute.sharding,
        device="cuda" if device == "cuda" else "cpu",
        reference=config.reference.coefficient > 0,
        process=process,
    )


def _slots(config: Config) -> int:
    """Return the slots of a side in the battles of the run's data, as far as it is there: 1 in singles, 2 in doubles."""
    paths = [Path(source.path) for source in config.data.train]
    return max((opened(path).slots for path in paths if (path / "dataset.json").exists()), default=1)


def variants(setup: Setup, memory: float) -> list[Variant]:
    """Return the ways to train, from the fastest to the one that needs the least memory, each with the largest batch."""
    plain = replace(setup, accumulation=1, checkpointing=False, precision="fp32", sharding="none")
    parallel = "DDP" if setup.processes > 1 else "plain"
    half = replace(plain, precision="bf16")
    setups = [
        (f"{parallel} fp32", plain),
        (f"{parallel} bf16", half),
        (f"{parallel} bf16 acc", replace(half, accumulation=_accumulation(half, memory))),
        (f"{parallel} bf16 ckpt", replace(half, checkpointing=True)),
    ]
    both = replace(half, checkpointing=True)
    setups.append((f"{parallel} bf16 ckpt acc", replace(both, accumulation=_accumulation(both, memory))))
    if setup.processes > 1:
        sharded = replace(half, sharding="fsdp2")
        setups.append(("FSDP2 bf16", sharded))
        setups.append(("FSDP2 bf16 ckpt", replace(sharded, checkpointing=True)))
    return [
        Variant(name, candidate, estimate(candidate), largest_batch(candidate, memory)) for name, candidate in setups
    ]


def recommended(options: Sequence[Variant], memory: float) -> Variant | None:
    """Return the first way that fits. Accumulation is before checkpointing, which computes everything once more, and both
    are before sharding, which gathers every layer's weights twice per step. None: nothing fits."""
    return next((variant for variant in options if variant.setup.precision != "fp32" and variant.fits(memory)), None)


def largest_batch(setup: Setup, memory: float) -> int:
    """Return the largest number of trajectories of a micro-batch of one process that fits; 0: not even one does."""

    def fits(count: int) -> bool:
        return estimate(replace(setup, batch_size=count * setup.processes * setup.accumulation)).peak <= memory

    low, high = 0, _LARGEST + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _accumulation(setup: Setup, memory: float) -> int:
    """Return the smallest number of micro-batches with which the batch fits; the largest possible if it never does."""
    most = max(1, setup.batch_size // setup.processes)
    steps = 2
    while steps < most and estimate(replace(setup, accumulation=steps)).peak > memory:
        steps += 1
    return min(steps, most)
