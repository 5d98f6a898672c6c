"""The number of threads that a run uses."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from support.command_line import PROJECT

pytest.importorskip("torch")
pytest.importorskip("numba")

PROGRAM = """
import sys
import numba, torch
from training.runs.threads import use_threads
cores = use_threads(int(sys.argv[1]))
numba.set_num_threads(1)  # as each step of the engine does
print(torch.get_num_threads(), numba.get_num_threads(), cores)
"""


def threads_used(threads: int, **limits: str) -> list[str]:
    """Of torch, of Numba after a step of the engine, and for the engine; on a machine with two cores.

    In a process of its own: Numba starts its threads once.
    """
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    words = [sys.executable, "-c", PROGRAM, str(threads)]
    environment |= {"NUMBA_NUM_THREADS": "2", **limits}
    done = subprocess.run(words, cwd=PROJECT, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.split()


def test_torch_keeps_its_limit_when_numba_starts_its_threads() -> None:
    """Numba had set torch's limit back to all cores."""
    assert threads_used(1) == ["1", "1", "1"]
    assert threads_used(0, OMP_NUM_THREADS="1") == ["1", "1", "None"]


def test_more_threads_than_cores_are_no_reason_to_refuse_the_engine() -> None:
    assert threads_used(3)[2] == "2"
