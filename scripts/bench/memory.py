"""Predicted against measured peak memory of training: `train plan` against a real run.

On the CPU the measure is VmHWM; with --gpu it is what nvidia-smi says that the process holds of the GPU at its end, which is
its peak, because torch gives nothing back.

    python scripts/bench/memory.py                         # tiny and small, three batch sizes each
    python scripts/bench/memory.py --presets tiny --batches 8 32
    python scripts/bench/memory.py --gpu --presets small medium --batches 64 --precisions fp32 bf16

Each measurement is `train base` in a process of its own, three steps, on a dataset of random trajectories that all have
`data.max_length` decisions: the case that is predicted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import numpy as np
import yaml

from agents.observation.layout import SINGLES
from training.data.shards import DatasetWriter
from training.data.trajectory import COLUMNS, Trajectory
from training.machines.memory.estimate import estimate
from training.machines.memory.fitting import setup_of
from training.machines.memory.process import data_bytes, trained_once
from training.offline.config import Config
from training.runs.config_reader import validated
from training.runs.shipped import text

#: Trains by a configuration file, and prints the resident memory after imports and at its peak, and the GPU's.
PROGRAM = """
import json, sys
from pathlib import Path
from training.offline.config import Config
from training.runs.config_reader import load
from training.machines.memory.process import gpu_used, resident
from training.offline.trainer import train
base = resident()
train(load(Config, Path(sys.argv[1])))
print(json.dumps({"base": base, "peak": resident("VmHWM"), **gpu_used()}))
"""


def dataset(folder: Path, trajectories: int, length: int) -> None:
    """Write trajectories of random observations with legal actions."""
    generator = np.random.default_rng(0)
    with DatasetWriter(folder, {"where": "random"}) as writer:
        for number in range(trajectories):
            arrays = {
                name: np.full((length, *column.shape(SINGLES)), column.padding, column.dtype)
                for name, column in COLUMNS.items()
            }
            arrays["token_ids"] = generator.integers(1, 100, arrays["token_ids"].shape, np.int16)
            arrays["features"] = generator.random(arrays["features"].shape, np.float32).astype(np.float16)
            arrays["actions"] = generator.integers(0, 9, length).astype(np.int8)
            writer.add(Trajectory(**arrays, result=float(number % 2), about={"format": "gen1ou"}))


def configuration(preset: str, batch: int, length: int, folder: Path, precision: str = "fp32") -> Config:
    """Return a preset on the random dataset for three steps."""
    settings = yaml.safe_load(text(preset, "preset"))
    settings["out"] = str(folder / f"run-{preset}-{batch}-{precision}")
    settings["data"] |= {"train": [{"path": str(folder / "data"), "weight": 1.0}], "validate_on": []}
    settings["data"] |= {"batch_size": batch, "max_length": length}
    settings["compute"] |= {"precision": precision, "threads": 1}
    settings["length"]["max_steps"] = 3
    settings["tracking"]["wandb"] = "disabled"
    return validated(Config, settings, preset)


def measured(config: Config) -> dict[str, int]:
    """Train in a process of its own; returns bytes after imports and at the peak."""
    file = Path(config.out).with_suffix(".yaml")
    file.write_text(yaml.safe_dump(config.model_dump(mode="json")))
    paths = os.pathsep.join(filter(None, [os.getcwd(), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(file)], env=environment, capture_output=True, text=True, check=False
    )
    if result.returncode:
        sys.exit(f"{file}: {result.stderr}")
    measured: dict[str, int] = json.loads(result.stdout.splitlines()[-1])
    return measured


def compared(config: Config, base: int | None) -> dict[str, float]:
    """Measure a run on the CPU against `base`, the bytes of a process before it trains; on the GPU if that is None.

    Returns GB: `predicted`, `measured`, and on a GPU what torch's allocator had `allocated` and `reserved` at most.
    """
    device, process = ("cuda", None) if base is None else ("cpu", base + data_bytes(config))
    predicted = estimate(setup_of(config, 1, device, process)).peak
    usage = measured(config)
    on_gpu = {name: usage[name] / 1e9 for name in ("allocated", "reserved") if base is None}
    peak = usage["used"] if base is None else usage["peak"]
    return {"predicted": predicted / 1e9, "measured": peak / 1e9, "ratio": predicted / peak, **on_gpu}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", nargs="+", default=["tiny", "small"])
    parser.add_argument("--batches", nargs="+", type=int, default=[4, 16, 32])
    parser.add_argument("--precisions", nargs="+", choices=["fp32", "bf16"], default=["fp32"])
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--gpu", action="store_true", help="the GPU's memory, not the machine's")
    options = parser.parse_args()
    base = None if options.gpu else trained_once()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dataset(folder / "data", max(options.batches) * 2, options.length)
        for preset, batch, precision in product(options.presets, options.batches, options.precisions):
            usage = compared(configuration(preset, batch, options.length, folder, precision), base)
            line = ", ".join(f"{what} {value:.2f}{'' if what == 'ratio' else ' GB'}" for what, value in usage.items())
            print(f"{preset:8} {batch:5} {precision}  {line}", flush=True)


if __name__ == "__main__":
    main()
