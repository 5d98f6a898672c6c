"""Datasets whose values are an expert's scores, as they were made once: for the ablation `targets`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.command_line import PROJECT
from support.tournaments import tournament

from arena.testing import StandInVenue
from training.data.build import build_once
from training.data.gates import Gates
from training.data.shards import all_trajectories, opened

SCRIPT = [sys.executable, str(PROJECT / "scripts" / "scores_as_values.py")]


@pytest.mark.slow
def test_scores_cut_to_0_and_1_are_the_values(tmp_path: Path) -> None:
    db, out = tmp_path / "arena.duckdb", tmp_path / "scores"
    tournament(db, "heuristic:expert", "random", battles=2)
    where = "agent = 'heuristic:expert'"
    subprocess.run(
        [*SCRIPT, "--db", str(db), "--where", where, "--expert", "--out", str(out)],
        check=True,
    )
    scores = np.concatenate([one.values for one in all_trajectories(opened(out))])
    said = scores[np.isfinite(scores)]
    assert len(said) > 10 and said.min() >= 0.0 and (said == 1.0).sum() > len(said) / 2, "against random most exceed 1"
    today = build_once(db, where, tmp_path / "now", Gates(drop_faulty=True), 0.0, workers=1).datasets[0]
    now = np.concatenate([one.values for one in all_trajectories(today)])
    assert len(now) == len(scores) and not np.isfinite(now).any(), "a score is no chance to win"


@pytest.mark.slow
def test_a_wrong_condition_is_one_line(tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    tournament(db, "heuristic:expert", "random", battles=1, cluster=StandInVenue(lambda fixture: "p1"))
    ended = subprocess.run(
        [*SCRIPT, "--db", str(db), "--where", "nobody = 1", "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 2 and ended.stderr.count("\n") == 1 and "nobody" in ended.stderr, ended.stderr
    assert not (tmp_path / "out").exists()
