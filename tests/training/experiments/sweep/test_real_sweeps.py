"""`train sweep` on real battles of the engine: killed in between, and on stored battles. Nothing stands in."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.command_line import Said, start_arena, wait

pytest.importorskip("torch")
pytest.importorskip("numba")
pytest.importorskip("optuna")

from support.sweeps import ENTROPY, RATE, toy_settings

from agents.policy import checkpoint
from training.runs.run_folder import json_lines

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "toy.yaml"
    path.write_text(yaml.safe_dump(toy_settings(tmp_path / "toy")))
    return path


def test_a_sweep_that_was_killed_twice_ends_in_a_table(config: Path, train_command: Callable[..., Said]) -> None:
    out = config.parent / "toy"
    for mark in ("trials/000/checkpoints/step-*1", "trials/001/checkpoints/step-*0"):
        with start_arena("sweep", config, cwd=config.parent, program="train") as process:
            wait(lambda mark=mark, process=process: list(out.glob(mark)) or process.poll() is not None, 400)
            assert process.poll() is None
            process.send_signal(signal.SIGKILL)
    said = train_command("sweep", config, "--json", cwd=config.parent)
    assert said.code == 0, said.err
    results = json.loads(said.out)
    assert results == json.loads((out / "results.json").read_text())
    assert len(results["trials"]) == 2, "the second was drawn by the process that resumed the first"
    for trial in results["trials"]:
        run = out / "trials" / f"{trial['trial']:03d}"
        assert max(checkpoint.steps_of(run)) == trial["at"] == (2 if trial["state"] == "complete" else 1)
        assert [line["step"] for line in json_lines(run / "metrics.jsonl")] == list(range(1, trial["at"] + 1))
        written = yaml.safe_load(run.with_suffix(".yaml").read_text())
        assert written["learner"]["optimizer"]["learning_rate"]["start"] == trial["settings"][RATE]
        assert written["algorithm"]["entropy"]["start"] == trial["settings"][ENTROPY]
        (block,) = json.loads((run / f"measured-{trial['at']}.json").read_text())["blocks"]
        assert trial["score"] == pytest.approx(sum(block["scores"]) / 4) and trial["battles"] == 8
    assert [row["chosen_by"] for row in results["measurements"]] == [True, False]
    files = {path: path.stat().st_mtime_ns for path in (out / "trials").rglob("checkpoint.json")}
    again = train_command("sweep", config, cwd=config.parent)
    assert again.code == 0 and "biased upwards by the choice" in again.out
    assert files == {path: path.stat().st_mtime_ns for path in (out / "trials").rglob("checkpoint.json")}


def test_a_sweep_over_stored_battles_trains_its_best_and_the_base_anew(
    small: Any, tmp_path: Path, train_command: Callable[..., Said]
) -> None:
    rate = "optimizer.learning_rate"
    settings = toy_settings(tmp_path / "stored", kind="train", workers=2)
    settings |= {"base": small().model_dump(mode="json"), "space": {rate: {"kind": "log", "low": 1e-4, "high": 1e-2}}}
    settings |= {"fixed": {"network.preset": "micro"}, "trials": 2, "length": {"unit": "steps", "total": 2}}
    settings["pruner"]["at"] = []
    settings["final"]["training_seeds"] = [7]
    file = tmp_path / "stored.yaml"
    file.write_text(yaml.safe_dump(settings))
    said = train_command("sweep", file, "--json")
    assert said.code == 0, said.err
    results = json.loads(said.out)
    assert [trial["state"] for trial in results["trials"]] == ["complete", "complete"]
    assert len({trial["settings"][rate] for trial in results["trials"]}) == 2
    assert [row["chosen_by"] for row in results["measurements"]] == [True, False, False, False]
    assert {path.name for path in (tmp_path / "stored" / "final").glob("*.yaml")} == {
        "base-7.yaml",
        f"trial-{results['best']:03d}-7.yaml",
    }
