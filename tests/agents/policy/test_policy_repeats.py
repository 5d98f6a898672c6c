"""A network's decisions on a CPU depend on its own battle alone: not on who else asks at the time, nor on the workers."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from support.tournaments import first_difference, tournament

from agents.observation.observation import Observations
from agents.policy.checkpoint import SHIPPED, load
from agents.policy.serve import PASS_SIZE, Inference

ROWS = 40


def _answers(name: str, groups: list[list[int]]) -> np.ndarray:
    """The answers [ROWS, 14] to decisions of a few battles, asked in these groups; each at its battle's second decision."""
    network, _ = load(SHIPPED / name, torch.device("cpu"))
    inference = Inference(network, torch.device("cpu"), limit=100)
    numbers = np.random.default_rng(5)
    shape = network.shape
    seen = [
        Observations(
            numbers.integers(0, 200, (ROWS, 19, 12)).astype(np.int16),
            numbers.random((ROWS, 19, 56), np.float32),
            np.ones((ROWS, 13), np.bool_),
        )
        for _ in range(2)
    ]
    assert shape.window > 2
    slots = [inference.slot((1, row)) for row in range(ROWS)]
    found = np.zeros((ROWS, 14), np.float32)
    for position, observations in enumerate(seen):
        for rows in groups:
            asked = [slots[row] for row in rows], [position] * len(rows), observations.take(rows)
            found[rows] = inference.answer(*asked)
    return found


@pytest.mark.parametrize("name", ["gen1ou-tiny", "gen1ou", "gen9ou"])
def test_an_answer_does_not_depend_on_who_else_asks(name: str) -> None:
    rows, draw = list(range(ROWS)), random.Random(3)
    expected = _answers(name, [rows])
    draw.shuffle(rows)
    groups = []
    while rows:
        size = draw.randint(1, PASS_SIZE + 3)
        groups.append(rows[:size])
        rows = rows[size:]
    assert (_answers(name, groups) == expected).all()


@pytest.mark.slow
def test_the_same_run_with_one_and_with_two_workers_is_the_same(tmp_path: Path) -> None:
    agents = ("policy:gen1ou-tiny?device=cpu", "policy:gen1ou-tiny?device=cpu&temperature=1", "random")
    databases = [tmp_path / f"{workers}.duckdb" for workers in (1, 2)]
    for workers, db in enumerate(databases, 1):
        tournament(db, *agents, formats=("gen1ou",), battles=4, workers=workers, think_limit=60.0, max_turns=25)
    assert first_difference(*databases) == ""
