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
use_threads(int(sys.argv[1]))
numba.set_num_threads(1)  # as each step of the engine does
print(torch.get_num_threads(), numba.get_num_threads())
"""


@pytest.mark.parametrize(("threads", "of_torch"), [(1, None), (0, "1")])
def test_torch_keeps_its_limit_when_numba_starts_its_threads(threads: int, of_torch: str | None) -> None:
    """In a process of its own: Numba starts them once. It had set torch's limit back to all cores."""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    environment |= {"NUMBA_NUM_THREADS": "2"} | ({"OMP_NUM_THREADS": of_torch} if of_torch else {})
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(threads)], cwd=PROJECT, capture_output=True, text=True, check=True,
        env=environment,
    )  # fmt: skip
    assert done.stdout.split() == ["1", "1"]
