"""Checkpoints: what is written comes back, what is half written is none, and what does not fit is refused in words."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.command_line import PROJECT

torch = pytest.importorskip("torch")

from agents.policy import checkpoint  # noqa: E402
from agents.policy.network import Network  # noqa: E402
from agents.policy.shape import Shape  # noqa: E402
from teamsets.errors import BadInput  # noqa: E402


def test_a_network_comes_back_with_what_was_said_of_it(tmp_path: Path, micro: Shape) -> None:
    network = Network(micro)
    folder = checkpoint.folder_of(tmp_path, 7)
    about: dict[str, Any] = {"lineage": ["a", 1], "config": {"rate": 0.1}, "metrics": {"loss": 2.5}}

    def extra(temporary: Path) -> None:
        (temporary / "optimiser.pt").write_bytes(b"state")

    assert checkpoint.save(folder, network, 7, **about, extra=extra) == folder
    found, told = checkpoint.load(folder)
    assert (told.step, told.lineage, told.config, told.metrics) == (7, *about.values())
    assert found.shape == micro and not found.training
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, found.state_dict()[name])
    assert all(parameter.requires_grad for parameter in found.parameters())
    files = ["checkpoint.json", "checksums.json", "model.safetensors", "optimiser.pt"]
    assert sorted(path.name for path in folder.iterdir()) == files
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    with pytest.raises(BadInput, match="exists already"):
        checkpoint.save(folder, network, 7)


def test_an_error_or_a_kill_while_writing_leaves_no_checkpoint(tmp_path: Path, micro: Shape) -> None:
    folder = checkpoint.folder_of(tmp_path, 3)

    def fails(temporary: Path) -> None:
        raise ValueError("disk")

    with pytest.raises(ValueError, match="disk"):
        checkpoint.save(folder, Network(micro), 3, extra=fails)
    assert list(folder.parent.iterdir()) == []
    code = f"""import os, pathlib, signal
from agents.policy.checkpoint import writing
with writing(pathlib.Path({str(folder)!r})) as temporary:
    (temporary / "checkpoint.json").write_text("{{}}")
    os.kill(os.getpid(), signal.SIGKILL)"""
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=False)
    assert done.returncode == -signal.SIGKILL and len(list(folder.parent.iterdir())) == 1
    assert checkpoint.steps_of(tmp_path) == []
    checkpoint.save(folder, Network(micro), 3)
    assert os.listdir(folder.parent) == [folder.name], "what the killed one left is cleared away"


def test_a_spec_names_a_run_or_a_checkpoint(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, last = (checkpoint.folder_of(run_folder, step) for step in (1, 12))
    assert checkpoint.find(str(run_folder)) == checkpoint.find(f"{run_folder}@last") == last
    assert checkpoint.find(f"{run_folder}@1") == checkpoint.find(str(first)) == first
    # Where nothing was measured the best is the last, and that is said once.
    assert checkpoint.find(f"{run_folder}@best") == checkpoint.find(f"{run_folder}@best") == last
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "has no best checkpoint, as it was not evaluated" in said and "step 12" in said
    checkpoint.set_best(run_folder, 1)
    assert checkpoint.find(f"{run_folder}@best") == first
    (run_folder / "best.json").write_text("{")
    with pytest.raises(BadInput, match=r"@last or @STEP"):
        checkpoint.find(f"{run_folder}@best")
    with pytest.raises(BadInput, match=r"no checkpoint of step 5; there are 1, 12"):
        checkpoint.find(f"{run_folder}@5")
    with pytest.raises(
        BadInput, match=r"nowhere': no such folder, .*: give a run's folder, .*, or one of gen1ou, .*gen9ou"
    ):
        checkpoint.find(f"{run_folder}/nowhere")
    with pytest.raises(BadInput, match=r"/checkpoints has no checkpoints: give a run's folder, a checkpoint's folder"):
        checkpoint.find(f"{run_folder}/checkpoints")
    with pytest.raises(
        BadInput, match=r"'gen9ouu': no such folder, and .*: did you mean gen9ou .*\? give .* one of gen1ou, "
    ):
        checkpoint.find("gen9ouu")
    assert checkpoint.identity(first) != checkpoint.identity(last)


@pytest.mark.parametrize(("name", "value"), [("observation", 0), ("vocabulary", "0123"), ("actions", 9), ("format", 2)])
def test_what_was_made_for_something_else_is_refused(run_folder: Path, name: str, value: Any) -> None:
    folder = checkpoint.find(str(run_folder))
    told = json.loads((folder / "checkpoint.json").read_text())
    needed = told[name]
    (folder / "checkpoint.json").write_text(json.dumps({**told, name: value}))
    with pytest.raises(BadInput) as refused:
        checkpoint.load(folder)
    for word in (str(folder), name, str(value), str(needed)):
        assert word in str(refused.value)


def test_damaged_files_are_refused_by_name(run_folder: Path) -> None:
    folder = checkpoint.find(str(run_folder))
    weights, about = folder / "model.safetensors", folder / "checkpoint.json"
    whole, words = weights.read_bytes(), about.read_text()

    def refused(match: str) -> None:
        with pytest.raises(BadInput, match=match) as error:
            checkpoint.load(folder)
        assert "\n" not in str(error.value) and str(folder) in str(error.value)

    for left in (len(whole) - 4, 100, 4, 0):
        weights.write_bytes(whole[:left])
        refused("truncated or damaged")
    weights.unlink()
    refused(r"has no model\.safetensors")
    weights.write_bytes(whole)
    about.write_text(json.dumps({**json.loads(words), "shape": {**json.loads(words)["shape"], "width": 48}}))
    refused("cannot be read")
    about.write_text(words[:50])
    refused(r"checkpoint\.json cannot be read")
    about.unlink()
    refused(r"has no checkpoint\.json")
