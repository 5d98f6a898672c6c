"""metamon itself, for the tests that compare with it: `ARENA_METAMON=…/bin/python METAMON_CACHE_DIR=… pytest FILE`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agents.external.metamon import environment
from support.command_line import PROJECT

#: On PYTHONPATH: our own code that runs in metamon's environment.
_INSIDE = PROJECT / "agents" / "external" / "metamon" / "inside"
_PYTHON = os.environ.get("ARENA_METAMON")
needs_metamon = pytest.mark.skipif(
    _PYTHON is None or environment.package(Path(_PYTHON)) is None,
    reason="metamon is not installed: ARENA_METAMON names its Python",
)


def run_in_metamon(*command: str, text: str = "") -> str:
    """Run a program in metamon's environment, without the suite's cache; returns its output. text: its input."""
    variables = {
        **os.environ,
        "PYTHONPATH": str(_INSIDE),
        "METAMON_CACHE_DIR": os.environ.get("METAMON_CACHE_DIR", "/tmp"),
    }
    done = subprocess.run(
        [str(_PYTHON), *command], input=text, capture_output=True, text=True, check=False, env=variables
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
