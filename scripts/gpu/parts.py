"""What `measure.py` measures: each part yields rows of results, in a process of its own."""

from __future__ import annotations

import argparse
import json
import os
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
    from gen1_speed import compile_seconds

    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    for which in ("first", "again"):
        yield {"start": which, "seconds": compile_seconds(cache, pairs()[0])}


def engine(job: Job) -> Iterator[Row]:
    """The CPU's engine on all cores: random play, and with both sides' observations."""
    from gen1_speed import Batch

    battles, seconds = (64, 0.2) if job.rehearse else (8192, 4.0)
    batch = Batch(battles, pairs())
    for way in ("play", "play_observed"):
        speed = batch.play(seconds) if way == "play" else batch.play_observed(seconds, 0)
        yield {"way": way, "battles": battles, "turns/s": speed.turns, "decisions/s": speed.choices}


def online(job: Job) -> Iterator[Row]:
    """PPO in self-play: decisions/s of play alone and with learning, and shares of the time."""
    from online import measured, self_play

    cases = [
        ("tiny", "cuda", 1024, "tf32", False),
        ("tiny", "cuda", 1024, "tf32", True),
        ("tiny", "cuda", 4096, "tf32", False),
        ("tiny", "cuda", 4096, "tf32", True),
        ("tiny", "cuda", 16384, "tf32", True),
        ("tiny", "cpu", 256, "fp32", False),
        ("small", "cuda", 2048, "tf32", True),
    ]
    for preset, device, battles, precision, graphs in [("micro", "cpu", 4, "fp32", True)] if job.rehearse else cases:
        more = {
            "compute__precision": precision,
            "compute__cuda_graphs": graphs,
            "algorithm__minibatch_decisions": 16384 if device == "cuda" else 1024,
        }
        trainer = self_play(preset, "engine", battles, 1, device, **more)
        speed, parts, mib = measured(trainer, 1 if job.rehearse else 3)
        playing = 1 - parts["learn"] / parts.total()
        shares = {f"{part} %": 100 * seconds / parts.total() for part, seconds in parts.most_common()}
        about = {"preset": preset, "device": device, "battles": battles, "precision": precision, "graphs": graphs}
        yield {**about, "decisions/s": speed, "of play": speed / playing, **shares, "MiB": mib}


def profile(job: Job) -> Iterator[Row]:
    """Where online learning's time on the GPU goes, and whether what it plays there is what it learns there.

    The largest difference of log-probabilities and values between play (`step`) and learning (`forward_packed`), the
    slowest kernels of both, and decisions/s of learning steps by precision.
    """
    import torch
    from online import self_play
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as profiler

    from agents.policy.distributions import log_prob_of
    from training.envs.network_players import behaviour_log_probs, returns_of
    from training.online.rollout import Rollout, forward_in_loss, forward_packed

    battles, minibatch = (8, 400) if job.rehearse else (2048, 16384)
    trainer = self_play(
        "micro" if job.rehearse else "tiny", "engine", battles, 1, job.device, compute__cuda_graphs=True
    )
    network = trainer.roles["learner"].network
    played: list[Rollout] = []

    def remember(role: Any, rollout: Rollout, reference: Any) -> dict[str, float]:
        played.append(rollout)
        return {}

    trainer.learn = remember  # type: ignore[method-assign]
    trainer.iterate()
    rollout = played[-1]
    with torch.no_grad():
        index, output = forward_packed(network, rollout, torch.arange(min(256, len(rollout.lengths))))
    log_policy = behaviour_log_probs(output.logits, rollout.legal[index], rollout.manner)
    log_prob = log_prob_of(log_policy, rollout.actions[index])
    yield {
        "largest difference": "play and learning",
        "of log-probabilities": float((log_prob - rollout.log_probs[index]).abs().max()),
        "of values": float((returns_of(output.value) - rollout.values[index]).abs().max()),
    }
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-9, fused=job.device == "cuda")

    def learn(part: torch.Tensor) -> int:
        index, output = forward_in_loss(network, rollout, part)
        logits = output.logits.masked_fill(~rollout.legal[index], 0.0)
        (output.value.square().mean() + logits.square().mean()).backward()
        optimizer.step()
        optimizer.zero_grad()
        return len(index)

    def wait() -> None:
        if job.device == "cuda":
            torch.cuda.synchronize()

    parts = list(rollout.minibatches(minibatch, torch.Generator().manual_seed(0)))
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if job.device == "cuda" else [])]
    order = f"self_{'device' if job.device == 'cuda' else 'cpu'}_time_total"
    works: dict[str, Callable[[], Any]] = {"learning": lambda: learn(parts[0]), "play": trainer.iterate}
    for where, work in works.items():
        work()
        with profiler(activities=activities) as seen:
            work()
            wait()
        for event in sorted(seen.key_averages(), key=lambda event: -getattr(event, order))[:12]:
            yield {"where": where, "kernel": event.key[:70], "ms": getattr(event, order) / 1000, "calls": event.count}
    for way in ("as it is", "tf32", "tf32 and bf16"):
        torch.set_float32_matmul_precision("highest" if way == "as it is" else "high")
        with torch.autocast(job.device, torch.bfloat16, enabled=way.endswith("bf16")):
            learn(parts[0])
            learn(parts[-1])
            wait()
            began = time.perf_counter()
            decisions = sum(learn(part) for part in parts)
            wait()
        yield {"learning": way, "decisions/s": decisions / (time.perf_counter() - began)}


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


#: What makes a run of `train online` short in a rehearsal.
_TOY_ROLLOUT: dict[str, Any] = {
    "rollout.battles": 4,
    "rollout.max_turns": 8,
    "rollout.teams": [{"set": "variety:20", "weight": 1.0}],
    "checkpoints.every": 1,
}


def ppo(job: Job) -> Iterator[Row]:
    """`train online` from policy:gen1ou for as long as the part has, its learning rate falling to 0; checkpoints in ppo.tar.

    Two iterations before it say how many there is time for; iterations become longer, so for a quarter less of them. A run
    that is not done 20 s before the end is ended there, and counts as far as its last checkpoint.
    """
    began = time.monotonic()
    changes: dict[str, Any] = {"compute.device": job.device}
    if job.rehearse:
        changes |= _TOY_ROLLOUT
    last = trained_online(job, "ppo-trial", changes | {"iterations": 2})[-1]
    trial = time.monotonic() - began
    seconds = last["decisions"] / last["decisions_per_s"]
    left = job.seconds - trial - 20
    count = 2 if job.rehearse else max(2, int((left - (trial - 2 * seconds)) / (1.25 * seconds)))
    yield {"seconds to start": trial - 2 * seconds, "seconds an iteration": seconds, "iterations": count}
    rate = {"kind": "linear", "start": 0.0003, "end": 0.0, "steps": count}
    changes |= {"iterations": count, "learner.optimizer.learning_rate": rate}
    if not job.rehearse:
        changes["checkpoints.every"] = max(1, round(60 / seconds))
    lines = trained_online(job, "ppo", changes, left)
    shown = ("total_decisions", "decisions_per_s", "entropy", "value_error", "approximate_kl", "gradient_noise_scale")
    for line in lines[:: max(1, len(lines) // 10)]:
        yield {"iteration": line["step"], **{name: line[name] for name in shown if name in line}}
    pack_checkpoints(job.work / "ppo", job.work / "ppo.tar")
    yield {"iterations": lines[-1]["step"]}


#: Runs of the part `arms`: changes of ppo.yaml and the learner's decisions. All begin at policy:gen1ou.
_SELF_PLAY = {"league.members": [{"who": "opponent", "weight": 1.0}]}
_FROZEN = {"who": "checkpoint", "weight": 1.0, "checkpoint": "gen1ou", "temperature": 1.0}
ARMS: dict[str, tuple[dict[str, Any], int]] = {
    "large": (_SELF_PLAY | {"learner.optimizer.average": 0.99}, 12_000_000),
    "small": (_SELF_PLAY | {"algorithm.minibatch_decisions": 1024, "algorithm.gae_lambda": 0.95}, 12_000_000),
    "best-response": ({"league.members": [_FROZEN]}, 4_000_000),
}


def arms(job: Job) -> Iterator[Row]:
    """`train online` with large minibatches and short credit against small ones, on equal decisions; and a best response.

    Each run has a third of the time at most; what it came to is kept in NAME.tar, to be evaluated on the engine.
    """
    for name, (changes, decisions) in ARMS.items():
        iterations = 2 if job.rehearse else decisions // 290_000
        rate = {"kind": "linear", "start": 0.0003, "end": 0.0, "steps": iterations}
        fixed = {"compute.device": job.device, "iterations": iterations, "learner.optimizer.learning_rate": rate}
        size = _TOY_ROLLOUT if job.rehearse else {}
        lines = trained_online(job, name, changes | fixed | size, job.seconds / len(ARMS) - 5)
        pack_checkpoints(job.work / name, job.work / f"{name}.tar")
        shown = ("step", "total_decisions", "decisions_per_s", "return", "entropy", "gradient_noise_scale")
        yield {"arm": name, **{key: lines[-1][key] for key in shown if key in lines[-1]}}


def pack_checkpoints(run: Path, packed: Path) -> None:
    """Settings, metrics and three checkpoints of a run of `train online`, the last among them, without optimizer states."""
    kept = sorted(run.glob("checkpoints/step-*/model.safetensors"), key=lambda path: path.stat().st_mtime)
    places = sorted({round(place) for place in np.linspace(0, len(kept) - 1, 4)})[1:]
    with tarfile.open(packed, "w") as tar:
        for path in [run / "config.yaml", run / "metrics.jsonl", *(kept[place].parent for place in places)]:
            tar.add(
                path,
                str(path.relative_to(run)),
                filter=lambda found: None if found.name.endswith("online.pt") else found,
            )


def trained_online(job: Job, name: str, changes: dict[str, Any], seconds: float | None = None) -> list[Row]:
    """Run `train online` by ppo.yaml with some settings changed, in a folder of this name. Returns its metrics.

    seconds: after which it is ended; None: at its last iteration.
    """
    out, file = job.work / name, job.work / f"{name}.yaml"
    file.write_text(yaml.safe_dump(with_changes(Path(__file__).with_name("ppo.yaml"), changes | {"out": str(out)})))
    command = [sys.executable, "-m", "training.cli", "online", str(file)]
    try:
        subprocess.run(command, cwd=PROJECT, check=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        print(f"{name}: ended after {seconds:.0f} s")
    return [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]


PARTS: dict[str, Callable[[Job], Iterator[Row]]] = {
    "compiling": compiling,
    "doctor": doctor,
    "memory": memory,
    "fsdp2": fsdp2,
    "llm-dpo": llm_dpo,
    "speeds": speeds,
    "engine": engine,
    "online": online,
    "profile": profile,
    "ppo": ppo,
    "arms": arms,
}
