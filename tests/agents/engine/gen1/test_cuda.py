"""The engine's CUDA kernels: equal to the CPU in CUDA's simulator and on a GPU where there is one, and compiled to PTX."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

import numba

from agents.engine.gen1 import cuda as gpu
from agents.engine.gen1.engine import Engine, initial
from agents.engine.gen1.layout import SIDES, UNDECIDED, WINNER
from agents.engine.gen1.rollout import rollout
from teamsets.errors import BadInput

PROJECT = Path(__file__).parents[4]
TEAMS = tuple(
    "]".join(
        f"|{species}||noability|{moves}||252,252,252,252,252,252||30,30,30,30,30,30|||"
        for species, moves in (
            ("tauros", f"bodyslam,hyperbeam,{own},blizzard"),
            ("mew", "metronome,transform,substitute,rest"),
        )
    )
    for own in ("fireblast", "wrap")
)
needs_numba_cuda = pytest.mark.skipif(find_spec("numba_cuda") is None, reason="numba-cuda is not installed")
needs_gpu = pytest.mark.skipif(bool(gpu.missing()), reason=gpu.missing() or "-")


def seeds(battles: int) -> list[str]:
    return [f"gen5,{0x9E3779B97F4A7C15 * (n + 1) % (1 << 64):016x}" for n in range(battles)]


def some_actions(legal: Any, step: int) -> Any:
    """A legal action of each seat, another at each step."""
    actions = np.zeros(legal.shape, np.int32)
    for place in np.argwhere(legal):
        options = [action for action in range(9) if legal[tuple(place)] >> action & 1]
        actions[tuple(place)] = options[(7 * step + 3 * int(place[0]) + int(place[1])) % len(options)]
    return actions


def played(engine: Any, battles: int, steps: int) -> list[Any]:
    """The words of battles after each step, by either engine."""
    host = np.asarray if isinstance(engine, Engine) else lambda array: array.copy_to_host()
    device = np.asarray if isinstance(engine, Engine) else gpu.cuda.to_device
    engine.reset([(TEAMS[n % 2], TEAMS[0]) for n in range(battles)], seeds(battles))
    found = [host(engine.words).copy()]
    for step in range(steps):
        engine.step(device(some_actions(host(engine.legal()), step)))
        found.append(host(engine.words).copy())
    return found


def simulated(path: str) -> None:
    """What the simulator's process does: every method, its results to a file."""
    engine = gpu.CudaEngine(4)
    steps = played(engine, 4, 30)
    engine.check()
    rows, sides = gpu.cuda.to_device(np.array([1, 3, 0])), gpu.cuda.to_device(np.array([0, 1, 1]))
    translated = engine.translate(rows, sides, gpu.cuda.to_device(np.array([0, 5, 12]))).copy_to_host()
    fork = engine.fork([2, 2])
    fork.reset([(TEAMS[1], TEAMS[1])], seeds(9)[8:], rows=[1])
    fresh, states = gpu.cuda.to_device(fresh_battles(2)), gpu.cuda.to_device(np.array([1, 2], np.uint64))
    counts = fork.rollout(fresh, states, 40).copy_to_host()
    refused = ""
    try:
        engine.step(gpu.cuda.to_device(np.full((4, 2), 3 + 5, np.int32)))
        engine.check()
    except BadInput as error:
        refused = str(error)
    np.savez(path, steps=steps, translated=translated, fork=fork.words.copy_to_host(), counts=counts, refused=refused)


def fresh_battles(count: int) -> Any:
    return np.stack([initial((TEAMS[1], TEAMS[1]), seed) for seed in seeds(count)])


def test_the_kernels_play_the_battles_of_the_cpu_in_the_simulator(tmp_path: Path) -> None:
    path = tmp_path / "simulated.npz"
    code = f"import test_cuda; test_cuda.simulated({str(path)!r})"
    paths = os.pathsep.join([str(PROJECT), str(Path(__file__).parent)])
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with np.load(path) as found:
        engine = Engine(4)
        expected = played(engine, 4, 30)
        assert (np.stack(expected) == found["steps"]).all()
        rows, sides = np.array([1, 3, 0]), np.array([0, 1, 1])
        assert (engine.translate(rows, sides, np.array([0, 5, 12])) == found["translated"]).all()
        fork = engine.fork([2, 2])
        fork.reset([(TEAMS[1], TEAMS[1])], seeds(9)[8:], rows=[1])
        battles, choices, turns = rollout(fork.words, fresh_battles(2), np.array([1, 2], np.uint64), 40)
        assert (fork.words == found["fork"]).all()
        assert found["counts"].sum(axis=0).tolist() == [battles, choices, turns]
        assert "an action was not legal" in str(found["refused"])


@pytest.mark.skipif(not gpu.missing(), reason="there is a GPU")
def test_without_a_gpu_it_says_what_is_missing() -> None:
    with pytest.raises(BadInput, match=r"engine-cuda|plays on the CPU"):
        gpu.CudaEngine(1)


def ptx(kernel: Any, signature: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> str:
    """A kernel's PTX for compute capability 8.0. numba-cuda asks a GPU which one it is, so a stand-in answers."""
    from numba.cuda import dispatcher

    monkeypatch.setattr(dispatcher, "get_current_device", lambda: SimpleNamespace(compute_capability=(8, 0)))
    with gpu.tables_in_global_memory():
        made, _ = gpu.cuda.compile_ptx(kernel.py_func, signature, cc=(8, 0))
    return made if isinstance(made, str) else made.decode()


@needs_numba_cuda
@pytest.mark.parametrize("name", ["translate", pytest.param("step", marks=pytest.mark.slow)])
def test_a_kernel_compiles_to_ptx_with_each_table_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words, numbers, found = numba.int32[:, ::1], numba.int64[::1], numba.int32[::1]
    signatures = {"translate": (words, numbers, numbers, numbers, found), "step": (words, words, found)}
    text = ptx(getattr(gpu, f"{name}_kernel"), signatures[name], monkeypatch)
    assert ".entry" in text
    assert "_cudapy_cmem" not in text  # constant memory is too small for the tables
    tables = [
        line.split(" table_")[1].split("[")[0] for line in text.splitlines() if ".global" in line and " table_" in line
    ]
    assert len(tables) == len(set(tables)) > 0


@needs_gpu
def test_cpu_equals_cuda_on_2000_battles() -> None:
    engine, device = Engine(2000), gpu.CudaEngine(2000)
    for ours, theirs in zip(played(engine, 2000, 150), played(device, 2000, 150), strict=True):
        assert (ours == theirs).all()
    assert (engine.words[:, WINNER] != UNDECIDED).mean() > 0.5
    states = np.arange(1, 2001, dtype=np.uint64)
    on_device, fresh = gpu.cuda.to_device(states), gpu.cuda.to_device(fresh_battles(2000))
    counts = device.rollout(fresh, on_device, 200).copy_to_host().sum(axis=0).tolist()
    assert counts == list(rollout(engine.words, fresh_battles(2000), states, 200))
    assert (engine.words == device.words.copy_to_host()).all()
    assert (states == on_device.copy_to_host()).all()


@needs_gpu
@pytest.mark.torch
def test_torch_shares_the_memory_of_the_words() -> None:
    torch = pytest.importorskip("torch")
    engine = gpu.CudaEngine(2)
    engine.reset([(TEAMS[0], TEAMS[1])] * 2, seeds(2))
    words = torch.as_tensor(engine.words, device="cuda")
    words[1, SIDES] = 77
    assert engine.words.copy_to_host()[1, SIDES] == 77
