"""The networks that come with the project can be read here, are small, and play better than chance."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from support.tournaments import tournament

from agents import resolve
from agents.policy import checkpoint
from arena.store import rows

NAMES = sorted(path.name for path in checkpoint.SHIPPED.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_network_is_whole_small_and_says_how_it_was_made(name: str) -> None:
    folder = checkpoint.find(name)
    assert checkpoint.read(folder).config["name"] == name
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 8e6
    assert {"README.md", "config.yaml", "metrics.jsonl"} <= {path.name for path in folder.iterdir()}


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_network_has_its_weights(name: str) -> None:
    from safetensors.torch import load_file

    network, _ = checkpoint.load(checkpoint.find(name))
    stored = load_file(checkpoint.find(name) / checkpoint.WEIGHTS)
    loaded = network.state_dict()
    assert {key: float(tensor.sum()) for key, tensor in stored.items()} == {
        key: float(tensor.sum()) for key, tensor in loaded.items()
    }


def test_a_folder_of_that_name_goes_before_a_shipped_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert checkpoint.find(NAMES[0]) == checkpoint.SHIPPED / NAMES[0]
    (tmp_path / NAMES[0] / "checkpoints" / "step-000000007").mkdir(parents=True)
    assert checkpoint.find(NAMES[0]) == Path(NAMES[0]) / "checkpoints" / "step-000000007"


@pytest.mark.torch
def test_it_wins_nearly_all_battles_against_random(tmp_path: Path) -> None:
    assert not resolve("policy:gen1ou-tiny").missing("gen1ou")
    tournament(tmp_path / "a.duckdb", "policy:gen1ou-tiny", "random", formats=("gen1ou",), battles=20, think_limit=60.0)
    won = rows("SELECT avg(score), count(*) FROM results WHERE agent = 'policy:gen1ou-tiny'", tmp_path / "a.duckdb")
    # 97% or more is what it wins; 16 of 20 or fewer then happen once in 5,000 times.
    assert won[0][1] == 20 and won[0][0] > 0.8


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed")
def test_without_torch_it_says_how_to_get_it() -> None:
    assert "make training" in resolve("policy:gen1ou-tiny").missing("gen1ou")
