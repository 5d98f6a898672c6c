"""The number of threads that a run uses."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.command_line import PROJECT

pytest.importorskip("torch")
pytest.importorskip("numba")

PROGRAM = """
import numba, torch
from training.runs.threads import use_threads
use_threads(1)
numba.set_num_threads(1)  # as each step of the engine does
print(torch.get_num_threads(), numba.get_num_threads())
"""


def test_torch_keeps_its_limit_when_numba_starts_its_threads() -> None:
    """In a process of its own: Numba starts them once. It had set torch's limit back to all cores."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "1"]
