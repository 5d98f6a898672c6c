"""The model server of an isolated agent, which its opponent can neither reach nor replace."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.isolation_playing import facts, fixture, play

torch = pytest.importorskip("torch")

from agents.policy import checkpoint  # noqa: E402
from agents.policy.network import Network  # noqa: E402
from agents.policy.shape import Shape  # noqa: E402
from agents.serving import client  # noqa: E402

#: Where servers are that a run without isolation starts.
OTHERS = f"{tempfile.gettempdir()}/arena-policy-{os.getuid()}/"


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A policy of random weights."""
    monkeypatch.setenv(client.THREADS, "1")
    with tempfile.TemporaryDirectory(prefix="own-") as own:
        monkeypatch.setenv("TMPDIR", own)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield _saved(tmp_path)


def _saved(tmp_path: Path) -> str:
    shape = Shape(16, 1, 1, 24, 1, 1, window=5, expansion=2, bins=51, dropout=0.0)
    checkpoint.save(checkpoint.folder_of(tmp_path / "run", 1), Network(shape), 1)
    return f"policy:{tmp_path / 'run'}@1"


def _of_this_run(loot: list[str]) -> list[str]:
    """Leave out the servers of other tests that run meanwhile, without isolation, in the usual folder."""
    return [each for each in loot if not each.startswith(OTHERS)]


def test_an_isolated_agent_can_neither_reach_nor_replace_its_opponents_server(spec: str) -> None:
    """Both attackers in both seats, at once and one server for all: nothing is reached, and the policy plays on."""
    attackers = ["attackers:Intruder", "attackers:Intruder?replace=True"]
    records = play([fixture(one, spec, seed=seed) for one, seed in itertools.product(attackers, (1, 2))], isolate=True)
    for record in records:
        assert (record.fault, record.detail) == (None, None)
        assert [_of_this_run(loot) for loot in facts(record)["loot"]] == [[]]
        thoughts: list[Any] = [row[6] for row in record.decisions if row[0] == 1]
        assert len(thoughts) > 5 and all(
            "probabilities" in thought or thought == {"forced": True} for thought in thoughts
        )
