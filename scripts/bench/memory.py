"""Predicted against measured peak memory of training on the CPU: `train plan --gpus 0` against VmHWM of a real run.

    python scripts/bench/memory.py                         # tiny and small, three batch sizes each
    python scripts/bench/memory.py --presets tiny --batches 8 32

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
from pathlib import Path

import numpy as np
import yaml

from training.config import Config, checked, preset_text
from training.data.shards import DatasetWriter
from training.data.trajectory import COLUMNS, Trajectory

#: Trains by a configuration file, and prints the resident memory after imports and at its peak.
PROGRAM = """
import json, sys
from pathlib import Path
from training.config import read_config
from training.memory.process import resident
from training.trainer import train
base = resident()
train(read_config(Path(sys.argv[1])))
print(json.dumps({"base": base, "peak": resident("VmHWM")}))
"""


def dataset(folder: Path, trajectories: int, length: int) -> None:
    """Write trajectories of random observations with legal actions."""
    generator = np.random.default_rng(0)
    with DatasetWriter(folder, {"where": "random"}) as writer:
        for number in range(trajectories):
            arrays = {
                name: np.full((length, *column.shape), column.padding, column.dtype) for name, column in COLUMNS.items()
            }
            arrays["token_ids"] = generator.integers(1, 100, arrays["token_ids"].shape, np.int16)
            arrays["features"] = generator.random(arrays["features"].shape, np.float32).astype(np.float16)
            arrays["actions"] = generator.integers(0, 9, length).astype(np.int8)
            writer.add(Trajectory(**arrays, result=float(number % 2), about={"format": "gen1ou"}))


def configuration(preset: str, batch: int, length: int, folder: Path) -> Config:
    """Return a preset on the random dataset, in fp32, for three steps."""
    settings = yaml.safe_load(preset_text(preset))
    settings["out"] = str(folder / f"run-{preset}-{batch}")
    settings["data"] |= {"train": [{"path": str(folder / "data"), "weight": 1.0}], "validate_on": []}
    settings["data"] |= {"batch_size": batch, "max_length": length}
    settings["compute"] |= {"precision": "fp32", "threads": 1}
    settings["length"]["max_steps"] = 3
    settings["tracking"]["wandb"] = "disabled"
    return checked(settings, preset)


def measured(config: Config) -> dict[str, int]:
    """Train in a process of its own; returns bytes after imports and at the peak."""
    file = Path(config.out).with_suffix(".yaml")
    file.write_text(yaml.safe_dump(config.model_dump(mode="json")))
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "OMP_NUM_THREADS": "1"}
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(file)], env=environment, capture_output=True, text=True, check=False
    )
    if result.returncode:
        sys.exit(f"{file}: {result.stderr}")
    found: dict[str, int] = json.loads(result.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", nargs="+", default=["tiny", "small"])
    parser.add_argument("--batches", nargs="+", type=int, default=[4, 16, 32])
    parser.add_argument("--length", type=int, default=128)
    options = parser.parse_args()
    from training.memory.estimate import estimate
    from training.memory.fitting import setup_of
    from training.memory.process import data_bytes, trained_once

    base = trained_once()
    print(f"{'preset':8} {'batch':>5} {'predicted':>10} {'measured':>10} {'ratio':>6}   without the process")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dataset(folder / "data", max(options.batches) * 2, options.length)
        for preset in options.presets:
            for batch in options.batches:
                config = configuration(preset, batch, options.length, folder)
                predicted = estimate(setup_of(config, 1, "cpu", base + data_bytes(config))).peak
                found = measured(config)
                peak = found["peak"]
                print(
                    f"{preset:8} {batch:5} {predicted / 1e6:7.0f} MB {peak / 1e6:7.0f} MB {predicted / peak:6.2f}   "
                    f"{(predicted - base) / 1e6:.0f} MB, {(peak - found['base']) / 1e6:.0f} MB",
                    flush=True,
                )


if __name__ == "__main__":
    main()
