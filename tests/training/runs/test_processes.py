"""Training in two processes, each with its part of every batch."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

torch = pytest.importorskip("torch")

from safetensors.torch import load_file  # noqa: E402

from agents.policy import checkpoint  # noqa: E402
from training.offline.config import Config  # noqa: E402
from training.offline.trainer import train  # noqa: E402
from training.runs.run_folder import RunFolder  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

Small = Callable[..., Config]

#: In the second process the gradient of step 4 is not finite, and the loss of step 7.
BREAKING = """
import os, torch
from training.offline.losses import LOSSES
from training.cli import main

plain, calls = LOSSES["cloning"], 0

def breaking(*arguments):
    global calls
    calls += 1
    loss, sums = plain(*arguments)
    if os.environ["RANK"] == "1" and calls == 4:
        loss = loss + torch.sqrt((loss - loss.detach()).clamp(min=0) * 0)
    if os.environ["RANK"] == "1" and calls == 7:
        loss = loss * float("nan")
    return loss, sums

LOSSES["cloning"] = breaking
main()
"""


def in_two(config: Config, *program: str) -> subprocess.CompletedProcess[str]:
    """Trains in two processes of a program, that of `train` unless another is named."""
    told = Path(config.out).with_suffix(".yaml")
    told.write_text(yaml.safe_dump(config.model_dump(mode="json")))
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    return subprocess.run(
        [*launch, *(program or ("-m", "training.cli")), "base", str(told)],
        env={**os.environ, "ACCELERATE_USE_CPU": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": os.getcwd()},
        capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip


def losses(config: Config) -> list[dict[str, float]]:
    lines = [json.loads(line) for line in (Path(config.out) / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name != "decisions_per_s"} for line in lines]


def same_curve(one: list[dict[str, float]], other: list[dict[str, float]]) -> bool:
    assert [line["step"] for line in one] == [line["step"] for line in other]
    return all(a == pytest.approx(b, rel=1e-3, abs=1e-4) for a, b in zip(one, other, strict=True))


def test_two_processes_learn_what_one_does(small: Small, tmp_path: Path) -> None:
    """With dropout they do not: each process draws its own, and the curve is then another one of the same kind."""
    told: dict[str, Any] = {"network.dropout": 0.0, "length.max_steps": 6, "checkpoints.every": 3}
    one, two = (small(out=str(tmp_path / name), **told) for name in ("one", "two"))
    train(one)
    said = in_two(two)
    assert said.returncode == 0, said.stderr[-3000:]
    assert same_curve(losses(one), losses(two))


def test_a_run_divided_by_fsdp2_learns_what_one_process_does_resumes_and_plays(small: Small, tmp_path: Path) -> None:
    told: dict[str, Any] = {"network.dropout": 0.0, "checkpoints.every": 3}
    one = small(out=str(tmp_path / "one"), **told, **{"length.max_steps": 6})
    first, resumed = (
        small(out=str(tmp_path / "two"), **told, **{"length.max_steps": 6, "compute.sharding": "fsdp2"})
        for _ in range(2)
    )
    train(one)
    said = in_two(first)
    assert said.returncode == 0, said.stderr[-3000:]
    assert same_curve(losses(one), losses(first))
    weights = (load_file(RunFolder(run).step_folder(6) / checkpoint.WEIGHTS) for run in (one, first))
    whole, sharded = weights
    assert all(torch.allclose(whole[name], sharded[name], atol=1e-3) for name in whole)
    assert (RunFolder(first).step_folder(6) / "training" / "optimizer_0").is_dir()
    shutil.rmtree(RunFolder(first).step_folder(6))
    said = in_two(resumed)
    assert said.returncode == 0 and "resumed at step 3" in said.stderr, said.stderr[-3000:]
    assert same_curve(losses(one), losses(resumed))
    loaded, about = checkpoint.load(checkpoint.find(f"{first.out}@6"))
    assert about.step == 6 and loaded.parameter_count == sum(tensor.numel() for tensor in whole.values())


def test_a_number_that_is_not_finite_in_one_process_is_met_by_both(small: Small, tmp_path: Path) -> None:
    config = small(out=str(tmp_path / "run"))
    (tmp_path / "breaking.py").write_text(BREAKING)
    said = in_two(config, str(tmp_path / "breaking.py"))
    assert said.returncode != 0
    assert "step 4: the gradient is not finite: step skipped" in said.stderr
    assert said.stderr.count("the gradient is not finite") == 1, "step 7 is none for the first process, either"
    assert "the loss is nan at step 7" in said.stderr and "the last good checkpoint is" in said.stderr
    folder = RunFolder(config)
    assert folder.steps() == [3, 6]
    for step in folder.steps():
        tensors = load_file(folder.step_folder(step) / checkpoint.WEIGHTS).values()
        assert all(bool(torch.isfinite(tensor).all()) for tensor in tensors)
