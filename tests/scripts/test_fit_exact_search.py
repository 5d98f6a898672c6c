"""The fitting of the exact search's network: what is trained is what plays, and what it writes can be played with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command_line import PROJECT
from support.compilers import need_compiler
from support.scripts import script

pytest.importorskip("torch")
pytest.importorskip("numba")

import torch

from agents.engine.gen1.state import side_of
from agents.search.exact.features import MOST
from agents.search.exact.fitted_values import logits_of, read_weights
from agents.search.exact.network import correction, judged, read_network, row_of, sums_of
from agents.search.exact.weights import FITTED

fitting = script("build/fit_exact_search.py")


def run(name: str, *args: Any) -> str:
    command = [sys.executable, PROJECT / "scripts/build" / name, *map(str, args)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def battles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out: Path = tmp_path_factory.mktemp("battles")
    run(
        "exact_search_battles.py",
        "--out",
        out,
        "--battles",
        12,
        "--part",
        6,
        "--iterations",
        40,
        "--teams",
        "competitive",
    )
    return out


def test_battles_are_kept_whole_and_a_part_that_exists_is_not_played_again(battles: Path) -> None:
    files = sorted(battles.glob("*.npz"))
    assert [file.name for file in files] == ["0-0.npz", "0-1.npz"]
    with np.load(files[0]) as stored:
        assert set(stored["battle"].tolist()) == set(range(6))
        assert set(np.unique(stored["won"]).tolist()) <= {0.0, 0.5, 1.0}
        totals = stored["visits"].sum(axis=2)
        assert set(np.unique(totals).tolist()) <= {0, 40} and (totals.max(axis=1) == 40).all()
        assert ((stored["value"] >= 0) & (stored["value"] <= 1)).all()
    before = files[0].stat().st_mtime_ns
    run("exact_search_battles.py", "--out", battles, "--battles", 12, "--part", 6, "--iterations", 40)
    assert files[0].stat().st_mtime_ns == before


def model_at_random(world: Any) -> Any:
    torch.manual_seed(1)
    model = fitting._Model(8, 4, world)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.2)
    return model


def test_what_is_trained_is_what_plays(battles: Path, tmp_path: Path) -> None:
    positions = fitting._read(sorted(battles.glob("*.npz")))
    model = model_at_random(fitting.world_of(1))
    with torch.no_grad():
        wins, logits = model(positions)
    model.save(tmp_path / "drawn.npz")
    network = read_network(tmp_path / "drawn.npz")
    _, choice_weights = read_weights(FITTED)
    with np.load(min(battles.glob("*.npz"))) as stored:
        words = stored["words"].astype(np.int32)
    sums, layer = np.zeros((2, 8), np.float32), np.zeros(4, np.float32)
    compared = 0
    for n, row in enumerate(words[::5]):
        sums_of(row, network, np.zeros(MOST, np.int64), np.zeros(MOST, np.float32), sums)
        assert judged(network, sums, layer) == pytest.approx(torch.sigmoid(wins[5 * n]).item(), abs=2e-3)
        for seat in range(2):
            legal = (positions.rows[5 * n, seat] >= 0).nonzero().flatten().tolist()
            fitted = np.zeros(9, np.float32)
            logits_of(row, side_of(seat), sum(1 << action for action in legal), choice_weights, fitted)
            for action in legal:
                table_row = int(positions.rows[5 * n, seat, action])
                assert action < 4 or table_row == row_of(row, side_of(seat), action, False)
                own = network.fitted[0] * fitted[action] + correction(network, sums, seat, table_row)
                assert own == pytest.approx(logits[5 * n, seat, action].item(), abs=0.02)
                compared += 1
    assert compared > 100


def test_it_learns_and_what_it_writes_can_be_played_with(battles: Path, tmp_path: Path) -> None:
    said = run("fit_exact_search.py", *battles.glob("*.npz"), "--out", tmp_path / "n.npz", "--passes", 2, "--batch", 64)
    assert "fitted weights: won" in said and "pass 2: won" in said
    network = read_network(tmp_path / "n.npz")
    assert len(network.bias) == 32
    again = run("exact_search_battles.py", "--out", tmp_path / "more", "--battles", 1, "--weights", tmp_path / "n.npz")
    assert "positions" in again


def test_generation_9_learns_from_its_battles_and_plays_what_was_learned(tmp_path: Path) -> None:
    from agents.search.exact.gen9.network import read_weights, sizes

    need_compiler()
    played = ["--teams", "competitive", "--part", 2, "--iterations", 20]
    run("gen9_search_battles.py", "--out", tmp_path, "--battles", 4, *played)
    positions = fitting._read_ninth(sorted(tmp_path.glob("*.npz")))
    assert positions.places.shape[2] < sizes().most_side and (positions.visits.sum(dim=2) <= 1.001).all()
    out = tmp_path / "n"
    out.mkdir()
    said = run(
        "fit_exact_search.py",
        "--gen",
        9,
        *tmp_path.glob("*.npz"),
        "--out",
        out / "n.npz",
        "--passes",
        30,
        "--batch",
        64,
    )
    first, last = (float(said.partition(f"pass {n}: won ")[2].split(",")[0]) for n in (1, 30))
    assert "fitted weights: won" in said and first != last
    assert read_weights(str(out / "n.npz")).network is not None
    more = run("gen9_search_battles.py", "--out", out, "--battles", 1, "--weights", out / "n.npz", *played)
    assert "positions" in more


def test_what_is_trained_in_generation_9_is_what_plays(tmp_path: Path) -> None:
    from support.gen9_battles import met_at_random

    from agents.search.exact.gen9.network import judge, read_weights

    model = model_at_random(fitting.world_of(9))
    model.save(tmp_path / "drawn.npz")
    weights, fitted = read_weights(str(tmp_path / "drawn.npz")), read_weights("fitted")
    met = met_at_random(4, 30)[::5]
    seen = [judge(words, legal, fitted) for words, legal in met]
    stacked = [torch.from_numpy(np.stack(field)) for field in list(zip(*seen, strict=True))[:4]]
    nothing = torch.zeros(len(met))
    places, amounts, rows, logits = stacked
    positions = fitting.Positions(places, amounts, rows, logits, nothing, nothing, nothing, nothing, nothing)
    with torch.no_grad():
        wins, choices = model(positions)
    for n, (words, legal) in enumerate(met):
        judged = judge(words, legal, weights)
        assert judged.value == pytest.approx(torch.sigmoid(wins[n]).item(), abs=1e-3)
        there = judged.rows >= 0
        assert judged.logits[there] == pytest.approx(choices[n].numpy()[there], rel=1e-3, abs=1e-3)


def test_a_file_of_another_script_is_named(battles: Path, tmp_path: Path) -> None:
    file = battles / "0-0.npz"
    command = [
        sys.executable,
        PROJECT / "scripts/build/fit_exact_search.py",
        "--gen",
        "9",
        file,
        "--out",
        tmp_path / "n",
    ]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and f"{file} holds no battles of gen9_search_battles.py" in done.stderr
    assert "Traceback" not in done.stderr
