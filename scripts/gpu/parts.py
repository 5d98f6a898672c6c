"""What `measure.py` measures: each part yields rows of results, in a process of its own."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from teamsets.loading import load_set
from teamsets.locking import file_lock
from training.runs.settings import Change, changed

PROJECT = Path(__file__).parents[2]
Row = dict[str, Any]


class Job(NamedTuple):
    """work: folder that the parts share. rehearse: everything at toy size, on the CPU. seconds: that the part has."""

    work: Path
    rehearse: bool
    seconds: float

    @property
    def device(self) -> str:
        return "cpu" if self.rehearse else "cuda"

    def folder(self, name: str) -> Path:
        made = self.work / name
        made.mkdir(exist_ok=True)
        return made

    def gpu_alone(self) -> Any:
        """While a time is taken on the GPU: other parts that take one wait."""
        return file_lock(self.work / "gpu.lock")


def pairs() -> list[tuple[str, str]]:
    """Pairs of packed gen1ou teams; no Node is needed for these."""
    teams = [team.packed for team in load_set("competitive", "gen1ou").teams]
    return list(zip(teams, teams[1:] + teams[:1], strict=True))


def doctor(job: Job) -> Iterator[Row]:
    """`train doctor`: its lines, and its exit code."""
    command = [sys.executable, "-m", "training.cli", "doctor", "--timeout", "90", "--logs", str(job.folder("doctor"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for line in [*done.stdout.splitlines(), *done.stderr.splitlines()[-3:]]:
        yield {"says": line}
    yield {"exit code": done.returncode}


def memory(job: Job) -> Iterator[Row]:
    """Predicted and measured peak memory of three steps of each preset, by its own settings, in GB."""
    from memory import compared, configuration, dataset, trained_once

    folder, length = job.folder("memory"), 16 if job.rehearse else 128
    batches = {"tiny": 4} if job.rehearse else {"small": 64, "medium": 128, "large": 128}
    dataset(folder / "data", 2 * max(batches.values()), length)
    for preset, batch in batches.items():
        for precision in ("fp32",) if job.rehearse else ("fp32", "bf16"):
            config = configuration(preset, batch, length, folder, precision)
            yield {
                "preset": preset,
                "batch": batch,
                "precision": precision,
                **compared(config, trained_once() if job.rehearse else None),
            }


def fsdp2(job: Job) -> Iterator[Row]:
    """The losses of a run whose weights FSDP2 has, on one GPU (two processes on the CPU), beside those of a plain one."""
    from memory import configuration, dataset

    from training.runs.distributed.launch import launch
    from training.runs.run_folder import RunFolder

    folder = job.folder("fsdp2")
    dataset(folder / "data", 16, 16)
    losses = {}
    for sharding in ("none", "fsdp2"):
        config = configuration("tiny", 8, 16, folder)
        settings = config.model_dump(mode="json")
        settings["out"] = str(folder / sharding)
        settings["compute"]["sharding"] = sharding
        settings["tracking"]["every"] = 1
        file = folder / f"{sharding}.yaml"
        file.write_text(yaml.safe_dump(settings))
        processes = 2 if job.rehearse and sharding == "fsdp2" else 1
        code = launch(["base", str(file)], folder / sharding, processes)
        lines = [json.loads(line) for line in (folder / sharding / "metrics.jsonl").read_text().splitlines()]
        losses[sharding] = [line["loss"] for line in lines]
        state = RunFolder(config.model_copy(update={"out": settings["out"]})).step_folder(3) / "training"
        sharded = (state / "optimizer_0").is_dir()
        yield {"sharding": sharding, "exit code": code, "optimizer is sharded": sharded, "losses": losses[sharding]}
    differences = np.abs(np.subtract(losses["none"], losses["fsdp2"]))
    yield {"largest relative difference": float((differences / np.abs(losses["none"])).max())}


def speeds(job: Job) -> Iterator[Row]:
    """Decisions/s of whole training steps by preset and precision (tf32: fp32 whose products may be in TF32)."""
    import torch
    from training_steps import Learner, batches

    sizes = {"micro": 2} if job.rehearse else {"tiny": 128, "small": 128, "medium": 64, "large": 32}
    for preset, size in sizes.items():
        some = batches(size, True, 0)
        for precision in ("fp32", "tf32", "bf16"):
            torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
            options = argparse.Namespace(
                device=job.device,
                precision="fp32" if precision == "tf32" else precision,
                preset=preset,
                activation_checkpointing=False,
            )
            learner = Learner(options)
            with job.gpu_alone():
                learner.speed(some, 0.01)
                speed = learner.speed(some, 0.1 if job.rehearse else 2.5)
            row: Row = {"preset": preset, "batch": size, "precision": precision, "decisions/s": speed}
            if job.device == "cuda":
                row["allocated GB"] = torch.cuda.max_memory_allocated() / 1e9
                del learner
                torch.cuda.empty_cache()
                torch.cuda.reset_peak_memory_stats()
            yield row


def compiling(job: Job) -> Iterator[Row]:
    """Seconds until the CPU's engine is compiled, for all that follows, and until it is loaded from the cache."""
    from engine import compile_seconds

    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    for which in ("first", "again"):
        yield {"start": which, "seconds": compile_seconds(cache, pairs()[0])}


def cuda_engine(job: Job) -> Iterator[Row]:
    """The CUDA engine: what compiling takes, random play by the number of battles, and the tests that need a GPU."""
    if job.rehearse:
        os.environ |= {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
    import pytest

    from agents.engine.gen1 import cuda as gpu
    from agents.engine.gen1.engine import initial
    from agents.engine.gen1.rollout import rollout

    cuda, some = gpu.cuda, pairs()
    fresh = np.stack([initial(some[n % len(some)], f"gen5,{n + 1:016x}") for n in range(2 if job.rehearse else 512)])

    def batch(battles: int) -> tuple[Any, Any, Any]:
        engine = gpu.CudaEngine(len(fresh))
        engine.reset(
            [some[n % len(some)] for n in range(len(fresh))], [f"gen5,{n + 1:016x}" for n in range(len(fresh))]
        )
        engine = engine.fork((np.arange(battles) % len(fresh)).tolist())
        states = np.arange(1, battles + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        return engine, cuda.to_device(fresh[np.arange(battles) % len(fresh)]), cuda.to_device(states)

    def seconds(play: Callable[[], Any]) -> float:
        cuda.synchronize()
        began = time.perf_counter()
        play()
        cuda.synchronize()
        return time.perf_counter() - began

    engine, starts, states = batch(len(fresh))
    yield {"compiling": "rollout", "seconds": seconds(lambda: engine.rollout(starts, states, 1))}
    sizes = (2,) if job.rehearse else (1 << 12, 1 << 14, 1 << 16, 1 << 18)
    for battles in sizes:
        engine, starts, states = batch(battles)
        steps = 2 if job.rehearse else 100
        with job.gpu_alone():
            engine.rollout(starts, states, steps)  # into their midst
            counts: list[Any] = []
            took = seconds(lambda: counts.append(engine.rollout(starts, states, steps)))  # noqa: B023
        choices, turns = counts[0].copy_to_host().sum(axis=0)[1:].tolist()
        speed = {"steps/s": battles * steps / took, "choices/s": choices / took, "turns/s": turns / took}
        row: Row = {"battles": battles, **speed}
        if battles == sizes[0]:
            copied, *others = batch(battles)
            first, begun, numbers = (array.copy_to_host() for array in (copied.words, *others))
            rollout(first, begun, numbers, steps)
            same = rollout(first, begun, numbers, steps)[1:] == (choices, turns)
            row["equal to the CPU"] = same and bool((first == engine.words.copy_to_host()).all())
        yield row
    yield {"compiling": "legal", "seconds": seconds(engine.legal)}
    actions = cuda.to_device(np.full((battles, 2), -1, np.int32))
    yield {"compiling": "step", "seconds": seconds(lambda: engine.step(actions))}
    if job.rehearse:
        return
    log = job.work / "cuda-tests.txt"
    tests = ["tests/agents/engine/gen1/test_cuda.py", "-k", "2000 or torch_shares", "-rA", "-p", "no:cacheprovider"]
    with log.open("w") as file:
        stdout, sys.stdout = sys.stdout, file
        try:
            code = pytest.main(tests)
        finally:
            sys.stdout = stdout
    print(log.read_text())
    yield {"tests": " ".join(tests), "exit code": int(code), "says": log.read_text().strip().splitlines()[-1]}


def engine(job: Job) -> Iterator[Row]:
    """The CPU's engine on all cores: random play, and with both sides' observations."""
    from engine import Batch

    battles, seconds = (64, 0.2) if job.rehearse else (8192, 4.0)
    batch = Batch(battles, pairs())
    for way in ("play", "play_observed"):
        speed = batch.play(seconds) if way == "play" else batch.play_observed(seconds, 0)
        yield {"way": way, "battles": battles, "turns/s": speed.turns, "decisions/s": speed.choices}


def online(job: Job) -> Iterator[Row]:
    """Decisions/s of PPO in self-play (learning included), and the share of the time that each part took."""
    from online import measured

    cases = [("tiny", "cuda", 256), ("tiny", "cuda", 1024), ("tiny", "cpu", 256), ("small", "cuda", 1024)]
    for preset, device, battles in [("micro", "cpu", 4)] if job.rehearse else cases:
        speed, parts, mib = measured(preset, "engine", battles, 1 if job.rehearse else 3, 1, device)
        shares = {f"{part} %": 100 * seconds / parts.total() for part, seconds in parts.most_common()}
        yield {"preset": preset, "device": device, "battles": battles, "decisions/s": speed, **shares, "MiB": mib}


def llm_dpo(job: Job) -> Iterator[Row]:
    """`train llm-dpo`: a LoRA adapter on a tiny language model of random weights, which learns to prefer one answer."""
    from tiny_language_model import make

    from training.llm.config import LlmConfig
    from training.llm.run import train_llm
    from training.runs.config_reader import validated
    from training.runs.shipped import resolve_path

    os.environ["HF_HUB_OFFLINE"] = "1"
    folder = job.folder("llm")
    texts = ["Turn 7. Your legal choices:\n- move surf\n- switch tauros", "Action: move surf", "Action: switch tauros"]
    make(folder / "tiny", texts, seed=0, vocabulary=400, width=32, layers=2, length=1024)
    pairs = [{"prompt": f"Turn {n}.\n", "chosen": texts[1], "rejected": texts[2], "part": "action"} for n in range(16)]
    for name in ("pairs.jsonl", "pairs-held-out.jsonl"):
        (folder / name).write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    changes = {
        "out": str(folder / "run"), "model.path": str(folder / "tiny"), "data.pairs": [str(folder)],
        "optimizer.learning_rate": 0.01, "optimizer.warmup_steps": 0, "compute.gradient_accumulation_steps": 1,
        "length.epochs": 5, "checkpoints.every": 5, "tracking.every": 4, "tracking.wandb": "disabled",
    }  # fmt: skip
    train_llm(validated(LlmConfig, with_changes(resolve_path("llm-dpo", "llm"), changes), "llm-dpo"))
    for line in (folder / "run" / "metrics.jsonl").read_text().splitlines():
        yield json.loads(line)


def with_changes(file: Path, changes: dict[str, Any]) -> Any:
    """The settings of a YAML file with some of them changed."""
    return changed(yaml.safe_load(file.read_text()), [Change(*each) for each in changes.items()], file.name)


def ppo(job: Job) -> Iterator[Row]:
    """`train online` from policy:gen1ou for as long as the part has, stopped by SIGINT; its checkpoints in ppo.tar."""
    out = job.work / "ppo"
    changes: dict[str, Any] = {"out": str(out), "compute.device": job.device}
    if job.rehearse:
        changes |= {"rollout.battles": 8, "rollout.teams": [{"set": "variety:20", "weight": 1.0}]}
        changes |= {"checkpoints.every": 1, "iterations": 2}
    file = job.work / "ppo.yaml"
    file.write_text(yaml.safe_dump(with_changes(Path(__file__).with_name("ppo.yaml"), changes)))
    process = subprocess.Popen([sys.executable, "-m", "training.cli", "online", str(file)], cwd=PROJECT)
    try:
        process.wait(job.seconds - 15)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        process.wait(10)
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    shown = ("total_decisions", "decisions_per_s", "entropy", "value_error", "approximate_kl")
    for line in lines[:: max(1, len(lines) // 10)]:
        yield {"iteration": line["step"], **{name: line[name] for name in shown if name in line}}
    kept = sorted((path for path in out.glob("checkpoints/*/model.safetensors")), key=lambda path: path.stat().st_mtime)
    places = sorted({round(place) for place in np.linspace(0, len(kept) - 1, 4)})[1:]
    with tarfile.open(job.work / "ppo.tar", "w") as tar:
        for path in [out / "config.yaml", out / "metrics.jsonl", *(kept[place].parent for place in places)]:
            tar.add(
                path,
                str(path.relative_to(out)),
                filter=lambda found: None if found.name.endswith("online.pt") else found,
            )
    yield {"iterations": lines[-1]["step"], "exit code": process.returncode}


PARTS: dict[str, Callable[[Job], Iterator[Row]]] = {
    "compiling": compiling,
    "cuda-engine": cuda_engine,
    "doctor": doctor,
    "memory": memory,
    "fsdp2": fsdp2,
    "llm-dpo": llm_dpo,
    "speeds": speeds,
    "engine": engine,
    "online": online,
    "ppo": ppo,
}
