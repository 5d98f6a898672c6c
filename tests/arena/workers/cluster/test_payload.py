"""What travels to a machine of a cluster, and where it lies there. Without Ray."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.paths import FOLDER, destination, resolve_path
from agents.policy import checkpoint
from arena.workers.cluster.payload import keep, missing_files, pack, unpack


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder: an agent in a package, one in a file with a helper, and a run with a checkpoint."""
    folder = tmp_path / "mine"
    (folder / "travelling_package").mkdir(parents=True)
    (folder / "travelling_package" / "__init__.py").write_text("")
    (folder / "travelling_package" / "player.py").write_text("from travelling_package.tables import T\nclass A: ...\n")
    (folder / "travelling_package" / "tables.py").write_text("T = 1\n")
    (folder / "travelling_package" / "values.json").write_text("[1]")
    (folder / "travelling_alone.py").write_text("import travelling_helper\nimport numpy\nclass B: ...\n")
    (folder / "travelling_helper.py").write_text("")
    (folder / "unrelated.py").write_text("")
    step = folder / "runs" / "one" / "checkpoints" / "step-000000007"
    step.mkdir(parents=True)
    for name in (checkpoint.WEIGHTS, checkpoint.ABOUT, "optimizer.bin"):
        (step / name).write_text(name)
    (folder / "runs" / "one" / "best.json").write_text(json.dumps({"step": 7}))
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def names(*specs: str) -> list[str]:
    return [piece.name for piece in pack(specs).pieces]


def test_an_agent_s_own_modules_and_data_travel_and_nothing_else(mine: Path) -> None:
    package = [f"travelling_package/{name}" for name in ("__init__.py", "player.py", "tables.py", "values.json")]
    assert names("travelling_package.player:A") == package
    assert names("travelling_alone:B") == ["travelling_alone.py", "travelling_helper.py"]
    assert names("random", "heuristic:max-damage", "policy:gen1ou-tiny") == []


def test_a_checkpoint_travels_without_its_optimizer(mine: Path) -> None:
    step = "runs/one/checkpoints/step-000000007"
    expected = ["runs/one/best.json", f"{step}/{checkpoint.ABOUT}", f"{step}/{checkpoint.WEIGHTS}"]
    assert names("policy:runs/one@best?temperature=1") == expected
    nested = "coached?coach=travelling_alone:B%3Fpath=unrelated.py&learner=policy:runs/one@best"
    assert names(nested) == sorted(["travelling_alone.py", "travelling_helper.py", "unrelated.py", *expected])


def test_a_machine_lacks_a_file_once_and_finds_the_same_checkpoint(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = str(mine / "runs" / "one")
    here = pack([f"policy:{spec}@best"])
    assert missing_files(here.pieces) == sorted(here.paths)
    for sha256, path in here.paths.items():
        keep(sha256, path.read_bytes())
    assert missing_files(here.pieces) == []
    folder = unpack(here.pieces)
    assert unpack(here.pieces) == folder, "of another run with the same files"
    (mine / "runs").rename(mine / "elsewhere")
    monkeypatch.setenv(FOLDER, str(folder))
    found = checkpoint.find(f"{spec}@best")
    assert found.is_relative_to(folder) and (found / checkpoint.WEIGHTS).read_text() == checkpoint.WEIGHTS
    with pytest.raises(ValueError, match="arrived damaged"):
        keep("0" * 64, b"other")


def test_where_a_path_lies(mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert destination("runs/./one") == Path("runs/one")
    assert destination("/data/one") == Path("absolute/data/one")
    assert destination("../one") == Path("above/one")
    assert resolve_path("unrelated.py") == Path("unrelated.py"), "where the run was started"
    monkeypatch.setenv(FOLDER, str(tmp_path))
    assert resolve_path("unrelated.py") == Path("unrelated.py"), "it did not travel"
