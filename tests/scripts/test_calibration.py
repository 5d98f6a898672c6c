"""Declared chances to win against what came of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from support.command_line import PROJECT
from support.scripts import script

_module = script("calibration.py")
calibration = _module.calibration


def made(seed: int, battles: int, *, bent: float = 0.0) -> Any:
    """Battles of 20 decisions with a chance each, which is said as it is, or `bent` towards 1."""
    rng = np.random.default_rng(seed)
    chances = rng.uniform(0.05, 0.95, battles)
    found = [
        (f"pair-{number // 2}", float(rng.random() < chance), np.full(20, chance + bent * (1 - chance)))
        for number, chance in enumerate(chances)
    ]
    return calibration("policy:x", found)


def test_by_hand() -> None:
    one = calibration("policy:x", [("a", 1.0, np.array([0.9, 0.7])), ("b", 0.0, np.array([0.5]))])
    assert one.brier == pytest.approx((0.01 + 0.09 + 0.25) / 3)
    assert one.base_rate == pytest.approx(2 / 3 * 1 / 3) and one.gain[0] == pytest.approx(one.base_rate - one.brier)
    assert (one.battles, one.decisions) == (2, 3) and one.won == pytest.approx(2 / 3)
    assert [(each.decisions, each.won) for each in one.bins] == [(1, 0.0), (1, 1.0), (1, 1.0)]


def test_honest_chances_lie_on_the_diagonal_and_bent_ones_do_not() -> None:
    honest, bent = made(1, 4000), made(1, 4000, bent=0.5)
    off = [abs(each.predicted - each.won) for each in honest.bins]
    assert np.mean(off) < 0.03 and honest.gain[1] > 0
    assert all(each.predicted - each.won > 0.1 for each in bent.bins if each.predicted < 0.8)
    assert bent.brier > honest.brier


@pytest.mark.slow
def test_intervals_are_of_pairs_and_hold_the_truth() -> None:
    # The expected gain of honest chances, uniform from 0.05 to 0.95: their variance.
    truth = 0.9**2 / 12
    found = [made(seed, 200).gain for seed in range(200)]
    held = sum(low <= truth <= high for _, low, high in found)
    assert 178 <= held <= 199, "95% of 200, give or take"
    widths = [high - low for _, low, high in found]
    # Were the 20 decisions of a battle taken as independent, the intervals would be several times too narrow.
    assert np.mean(widths) > 2 * np.std([gain for gain, *_ in found])


@pytest.mark.slow
def test_the_script_reads_stored_battles_and_draws_them(tmp_path: Path) -> None:
    from support.tournaments import tournament

    db, out = tmp_path / "arena.duckdb", tmp_path / "plot.svg"
    tournament(db, "chance_agents:Declares", "random", battles=4, think_limit=60.0)
    command = [sys.executable, str(PROJECT / "scripts" / "calibration.py"), str(db)]
    said = subprocess.run([*command, "--agents", "chance_agents:%", "--out", str(out)], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    line = said.stdout.splitlines()[1].split(" · ")
    assert line[0] == "chance_agents:Declares" and line[1] == "4" and float(line[3]) == 0.25
    words = "".join(ElementTree.parse(out).getroot().itertext())
    assert "chance_agents:Declares" in words and "Brier" in words
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode == 2 and "no agent LIKE 'policy:%' predicted a win probability" in said.stderr


def test_a_plot_has_a_dot_for_each_bin() -> None:
    one = made(3, 400)
    figure = _module.calibration_figure([one, one])
    assert [len(panel.collections[1].get_offsets()) for panel in figure.axes] == [len(one.bins)] * 2
