"""The fitting of the search agent's weights: it finds what data were made with, and what it writes can be played with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from support.command_line import PROJECT, run_arena
from support.scripts import script

from agents.search.poke_engine.builds import missing

SCRIPTS = PROJECT / "scripts/build"
fitting = script("build/fit_search_weights.py")

NAMES = ["damage", "switch"]
TRUTH = np.array([3.0, -1.0])


def drawn_choices(number: int) -> list[Any]:
    """Choices among two to five options, drawn with the odds that TRUTH gives them."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(number):
        options = [dict(zip(NAMES, rng.uniform(0.1, 1, 2), strict=True)) for _ in range(rng.integers(2, 6))]
        odds = np.exp([sum(TRUTH * list(option.values())) for option in options])
        found.append(fitting.Chosen(options, int(rng.choice(len(options), p=odds / odds.sum()))))
    return found


def test_choices_give_back_the_weights_that_they_were_drawn_with():
    softmax = fitting.Softmax(drawn_choices(8000), NAMES)
    assert softmax.fit(0.0) == pytest.approx(TRUTH, abs=0.25)
    # the slope that the fit goes by is the loss's own
    error = scipy.optimize.check_grad(
        lambda w: softmax.loss(w, 0.1)[0], lambda w: softmax.loss(w, 0.1)[1], np.array([0.3, 0.2])
    )
    assert error < 1e-4
    assert softmax.chances(TRUTH).reshape(-1).sum() == pytest.approx(8000)


def test_results_give_back_the_weights_that_they_were_drawn_with():
    rng = np.random.default_rng(3)
    features = [dict(zip(NAMES, rng.uniform(-1, 1, 2), strict=True)) for _ in range(8000)]
    x = fitting.matrix(features, NAMES)
    won = (rng.uniform(size=8000) < 1 / (1 + np.exp(-(x @ TRUTH)))).astype(float)
    assert fitting.fit(x, won, 0.0) == pytest.approx(TRUTH, abs=0.25)
    assert np.abs(fitting.fit(x, won, 0.1)).sum() < np.abs(fitting.fit(x, won, 0.0)).sum()


@pytest.mark.skipif(bool(missing(1)), reason=missing(1))
def test_from_battles_to_a_file_that_is_played_with(tmp_path: Path):
    db, out = tmp_path / "made.duckdb", tmp_path / "gen1.txt"
    made = run_arena(
        "evaluate", "heuristic:max-damage", "heuristic:emerald", "--format", "gen1ou", "--teams", "competitive",
        "--battles", "10", "--db", db,
    )  # fmt: skip
    assert made.code == 0, made.err
    command = [sys.executable, SCRIPTS / "fit_search_weights.py", "--format", "gen1ou", "--db", db, "--out", out]
    done = subprocess.run([*command, "--teacher", "heuristic:emerald"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "poke-engine's evaluation: log loss" in done.stdout and "top choice matched in" in done.stdout
    kinds = {line.split()[0] for line in out.read_text().splitlines()[1:]}
    assert kinds == {"value", "choice"}
    again = subprocess.run([*command, "--teacher", "heuristic:emerald"], capture_output=True, text=True, timeout=300)
    assert again.returncode == 2 and f"--out {out}: exists already" in again.stderr, again.stderr
    agent = f"search:mcts?iterations=400&samples=1&weights={out}"
    played = run_arena("match", agent, "random", "--format", "gen1ou", "--battles", "2", "--db", tmp_path / "b.duckdb")
    assert played.code == 0, played.err
    thoughts = run_arena(
        "sql",
        "SELECT count(*) AS failed FROM decisions WHERE diagnostics LIKE '%failed%'",
        "--csv",
        "--db",
        tmp_path / "b.duckdb",
    )
    assert thoughts.out.split() == ["failed", "0"], thoughts.out
