"""Shared by the tests of the network and of what plays with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.serving import client as serving


@pytest.fixture
def micro() -> Any:
    """The smallest network with everything in it, its window shorter than a battle."""
    pytest.importorskip("torch")
    from agents.policy.shape import Shape

    return Shape(16, 2, 2, 24, 2, 3, window=5, expansion=2, bins=51, dropout=0.0)


@pytest.fixture
def run_folder(tmp_path: Path, micro: Any) -> Path:
    """A run with two untrained checkpoints of that network, at steps 1 and 12."""
    import torch

    from agents.policy import checkpoint
    from agents.policy.network import Network

    run = tmp_path / "a run@home"
    for step in (1, 12):
        torch.manual_seed(step)
        checkpoint.save(checkpoint.folder_of(run, step), Network(micro), step)
    return run


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Servers with one thread; the connections are closed at the end, so that the servers end."""
    monkeypatch.setenv(serving.THREADS, "1")
    yield
    serving.close_all()
