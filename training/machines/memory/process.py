"""The memory of this process and of the data that a run keeps, in bytes."""

from __future__ import annotations

import importlib
import os
import subprocess
from pathlib import Path

import numpy as np

from agents.observation.layout import SINGLES, Layout, layout_of
from training.data.shards import SHARD_DECISIONS, opened
from training.data.stream import OPEN_SHARDS
from training.data.trajectory import COLUMNS
from training.offline.config import Config


def decision_bytes(layout: Layout) -> int:
    """Return the bytes of a decision in a shard, in memory."""
    return sum(np.dtype(column.dtype).itemsize * int(np.prod(column.shape(layout))) for column in COLUMNS.values())


def resident(field: str = "VmRSS") -> int:
    """Return this process's resident memory; with `VmHWM`, its peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(f"{field}:"))


def gpu_used() -> dict[str, int]:
    """Return what this process has held of the GPU, in bytes; empty where torch has used none.

    `allocated` and `reserved` are the peaks of torch's allocator. `used` is what the driver counts now, the CUDA context
    included; where nvidia-smi does not know this process by its id, it is what is taken of the whole GPU.
    """
    import torch

    if not torch.cuda.is_initialized():
        return {}
    free, total = torch.cuda.mem_get_info()
    command = ["nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    mine = [line.split(",")[1] for line in listed if line.split(",")[0].strip() == str(os.getpid())]
    used = int(mine[0]) << 20 if mine and mine[0].strip().isdigit() else total - free
    return {
        "allocated": torch.cuda.max_memory_allocated(),
        "reserved": torch.cuda.max_memory_reserved(),
        "used": used,
    }


def trained_once() -> int:
    """Return the resident memory after a step of the smallest network: torch loads much of itself only then."""
    import torch

    from agents.policy.network import Network
    from agents.policy.shape import PRESETS

    importlib.import_module("training.offline.trainer")
    network = Network(PRESETS["micro"])
    optimizer = torch.optim.AdamW(network.parameters())
    ids = torch.zeros(1, 2, SINGLES.tokens, SINGLES.ids, dtype=torch.int64)
    legal, valid = torch.ones(1, 2, SINGLES.actions, dtype=torch.bool), torch.ones(1, 2, dtype=torch.bool)
    network(ids, torch.zeros(1, 2, SINGLES.tokens, SINGLES.features), legal, valid).value.sum().backward()
    optimizer.step()
    return resident()


def data_bytes(config: Config) -> int:
    """Return what the open shards of the datasets need. A dataset that does not exist yet is taken for a large one."""
    total = 0
    for source in config.data.train:
        most = OPEN_SHARDS * SHARD_DECISIONS
        path = Path(source.path)
        dataset = opened(path) if (path / "dataset.json").exists() else None
        held = most if dataset is None else dataset.decisions
        total += min(most, held) * decision_bytes(SINGLES if dataset is None else layout_of(dataset.slots))
    return total
