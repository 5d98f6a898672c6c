"""Training: it goes on as if nothing had happened, stops with clear words, keeps what is good."""

from __future__ import annotations

import errno
import itertools
import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.command_line import Said, run_arena, start_arena
from support.crashing import Crash, crash_in

torch = pytest.importorskip("torch")

from safetensors.torch import load_file  # noqa: E402

from agents.policy import checkpoint  # noqa: E402
from training.data.shards import BadData, Dataset  # noqa: E402
from training.offline import trainer  # noqa: E402
from training.offline.config import Config  # noqa: E402
from training.offline.losses import LOSSES  # noqa: E402
from training.offline.schedule import learning_rate  # noqa: E402
from training.offline.trainer import TrainingFailed, train  # noqa: E402
from training.runs.config_reader import BadConfig  # noqa: E402
from training.runs.run_folder import RunFolder  # noqa: E402

Small = Callable[..., Config]


def metrics(folder: Path) -> list[dict[str, float]]:
    """Every measurement but those of time."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name != "decisions_per_s"} for line in lines]


def weights(folder: Path) -> dict[str, Any]:
    return load_file(checkpoint.find(f"{folder}@last") / checkpoint.WEIGHTS)


def same_weights(one: Path, other: Path) -> bool:
    first, second = weights(one), weights(other)
    return all(torch.equal(first[name], second[name]) for name in first)


#: Everything that has a state of its own: dropout, and a reference whose coefficient follows a target.
STATES: dict[str, dict[str, Any]] = {
    "new": {"network.dropout": 0.1},
    "near": {
        "network.dropout": 0.1,
        "network.start_from": "gen1ou-tiny",
        "network.freeze": ["token_embedding.*"],
        "reference.coefficient": 0.1,
        "reference.target": 0.02,
    },
}


@pytest.fixture(scope="module")
def undisturbed_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for runs that nothing disturbs, one for each of STATES, not to be changed."""
    return tmp_path_factory.mktemp("undisturbed")


@pytest.fixture(params=STATES)
def state(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def settings(state: str) -> dict[str, Any]:
    return STATES[state]


@pytest.fixture
def undisturbed(small: Small, undisturbed_runs: Path, state: str) -> Path:
    run = undisturbed_runs / state
    if not run.exists():
        train(small(out=str(run), **STATES[state]))
    return run


def test_the_loss_falls(small: Small) -> None:
    finished = train(small(**{"length.epochs": 20, "length.max_steps": 40, "checkpoints.every": 40}))
    losses = [line["loss"] for line in metrics(finished.folder) if "loss" in line]
    # Single batches differ by as much as one step teaches; means of ten do not.
    assert len(losses) == 40 and sum(losses[-10:]) < sum(losses[:10]) - 3


@pytest.mark.parametrize("step", [2, 5, 8])
def test_a_run_that_broke_off_goes_on_number_by_number(
    small: Small, undisturbed: Path, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    config = small(**settings)
    with monkeypatch.context() as patch:
        crash_in(step, patch)
        with pytest.raises(Crash):
            train(config)
    finished = train(config)
    assert finished.step == 8
    assert metrics(finished.folder) == metrics(undisturbed)
    assert same_weights(finished.folder, undisturbed)
    assert train(config).step == 8, "a finished run has nothing left to do"
    assert metrics(finished.folder) == metrics(undisturbed)


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_goes_on_number_by_number(
    small: Small, undisturbed: Path, settings: dict[str, Any], tmp_path: Path, train_command: Callable[..., Said]
) -> None:
    config = small(**settings)
    (tmp_path / "my.yaml").write_text(yaml.safe_dump(config.model_dump(mode="json")))
    run, generator = Path(config.out), random.Random(5)
    for kept in (0, 1, 4):  # lines of metrics after which it is killed, and a little later: also in a checkpoint
        with start_arena("base", "my.yaml", cwd=tmp_path, program="train") as process:
            deadline = time.monotonic() + 120
            while time.monotonic() < deadline and process.poll() is None:
                if (run / "metrics.jsonl").exists() and len(metrics_so_far(run)) > kept:
                    break
                time.sleep(0.005)
            time.sleep(generator.uniform(0, 0.2))
            process.send_signal(signal.SIGKILL)
    last = train_command("base", "my.yaml", cwd=tmp_path)
    assert last.code == 0, last.err
    assert metrics(run) == metrics(undisturbed)
    assert same_weights(run, undisturbed)


def metrics_so_far(run: Path) -> list[str]:
    return (run / "metrics.jsonl").read_text().splitlines()


def test_parts_of_a_batch_add_up_to_the_whole(small: Small, tmp_path: Path) -> None:
    whole = train(small(out=str(tmp_path / "whole")))
    parts = train(small(out=str(tmp_path / "parts"), **{"compute.gradient_accumulation_steps": 3}))
    for one, other in zip(metrics(whole.folder), metrics(parts.folder), strict=True):
        assert other == pytest.approx(one, rel=2e-3, abs=1e-5)


def test_a_loss_that_is_no_number_stops_it_and_names_the_last_good_checkpoint(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = small()
    plain, calls = LOSSES["cloning"], 0

    def breaking(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        loss, sums = plain(*arguments)
        return loss * (float("nan") if calls == 5 else 1.0), sums

    with monkeypatch.context() as patch:
        patch.setitem(LOSSES, "cloning", breaking)
        with pytest.raises(
            TrainingFailed,
            match=r"the loss is nan at step 5 \(learning rate 0.0007625\): the last good .*step-000000003; lower opt",
        ):
            train(config)
    assert train(config).step == 8


def test_a_full_disk_stops_it_and_leaves_the_checkpoints_before(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    config = small()

    def full(accelerator: Any, temporary: Path | None, position: dict[str, Any]) -> None:
        if position["step"] == 6:
            raise OSError(errno.ENOSPC, "No space left on device")
        plain(accelerator, temporary, position)

    plain = trainer.save_state
    with monkeypatch.context() as patch:
        patch.setattr(trainer, "save_state", full)
        with pytest.raises(
            TrainingFailed, match=r"the disk is full at step 6: the last good checkpoint is .*step-000000003"
        ):
            train(config)
    assert RunFolder(config).steps() == [3]
    assert train(config).step == 8


def test_a_damaged_shard_stops_it(small: Small, dataset: Dataset, tmp_path: Path) -> None:
    shutil.copytree(dataset.folder, tmp_path / "d")
    for name in dataset.names:
        os.truncate(tmp_path / "d" / name, 100)
    with pytest.raises(BadData, match="cannot be read"):
        train(small(**{"data.train": [{"path": str(tmp_path / "d"), "weight": 1.0}]}))


def test_other_settings_and_a_second_process_are_refused(small: Small) -> None:
    config = small()
    train(config)
    with pytest.raises(
        BadConfig,
        match=r"was started with other settings \(length.max_steps \d+, now 9; optimizer.max_grad_norm .*, now 2.0\)",
    ):
        train(small(**{"length.max_steps": 9, "optimizer.max_grad_norm": 2.0}))
    train(small(**{"tracking.every": 2}))
    with RunFolder(config).locked(), pytest.raises(BadConfig, match="in use by another training process"):
        train(config)


def test_settings_that_do_not_fit_together_are_refused(small: Small) -> None:
    with pytest.raises(BadConfig, match=r"data.batch_size: 4 trajectories cannot be split into 5 parts"):
        train(small(**{"compute.gradient_accumulation_steps": 5}))
    with pytest.raises(BadConfig, match=r"evaluation.every: not a multiple of checkpoints.every"):
        train(small(**{"evaluation.every": 4}))


def test_the_last_checkpoints_and_the_best_are_kept(small: Small, dataset: Dataset) -> None:
    config = small(**{"checkpoints.every": 1, "data.validate_on": [str(dataset.folder)]})
    finished = train(config)
    measured = {
        line["step"]: line["validation/policy_loss"]
        for line in metrics(finished.folder)
        if "validation/policy_loss" in line
    }
    best = min(measured, key=lambda step: measured[step])
    assert finished.best is not None and finished.best["step"] == best
    assert RunFolder(config).steps() == sorted({7, 8, best})
    assert checkpoint.find(f"{finished.folder}@best") == RunFolder(config).step_folder(best)


def test_offline_rl_trains(small: Small) -> None:
    finished = train(small("tiny-offline-rl", **{"length.max_steps": 30, "length.epochs": 30, "checkpoints.every": 30}))
    lines = metrics(finished.folder)
    losses = [line["value_loss"] for line in lines]
    assert sum(losses[-10:]) < sum(losses[:10])  # single steps go up and down
    assert 0 < lines[-1]["weight"] <= 5


def test_a_run_may_start_from_another_and_says_so(small: Small, tmp_path: Path) -> None:
    first = train(small())
    config = small(
        out=str(tmp_path / "second"), **{"network.start_from": f"{first.folder}@last", "optimizer.learning_rate": 1e-9}
    )
    second = train(config)
    about = checkpoint.read(checkpoint.find(f"{second.folder}@last"))
    (parent,) = about.lineage
    start = checkpoint.find(f"{first.folder}@last")
    assert parent == {"checkpoint": str(start), "step": 8, "identity": checkpoint.identity(start)}
    assert about.config["name"] == "tiny"
    assert metrics(second.folder)[0]["loss"] < metrics(first.folder)[0]["loss"]


@pytest.mark.slow
def test_checkpoints_play_during_training_and_the_best_is_the_strongest(small: Small, tmp_path: Path) -> None:
    db = tmp_path / "arena.duckdb"
    config = small(
        **{
            "length.max_steps": 6,
            "evaluation.every": 3,
            "evaluation.opponents": ["heuristic:max-damage", "random"],
            "evaluation.battles": 2,
            "evaluation.database": str(db),
            "evaluation.best_by": "rating",
        }
    )
    finished = train(config)
    told = [json.loads(line) for line in (finished.folder / "evaluations.jsonl").read_text().splitlines()]
    assert [one["step"] for one in told] == [3, 6]
    for one in told:
        rated = one["formats"]["gen1ou"]
        assert rated["low"] <= rated["elo"] <= rated["high"] and rated["against"].keys() == {
            "heuristic:max-damage",
            "random",
        }
    ratings = {one["step"]: one["formats"]["gen1ou"]["elo"] for one in told}
    assert finished.best is not None and finished.best["value"] == max(ratings.values())
    assert sum("evaluation/gen1ou/elo" in line for line in metrics(finished.folder)) == 2
    # The pool's own battles are played once and counted for both.
    said = run_arena("sql", "SELECT count(*) AS n FROM battles", "--db", db, "--json")
    assert json.loads(said.out)[0]["n"] == 2 + 2 * 4


@pytest.mark.slow
def test_a_run_that_goes_on_is_the_same_run_for_wandb(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    config = small(**{"tracking.wandb": "offline"})
    with monkeypatch.context() as patch:
        crash_in(5, patch)
        with pytest.raises(Crash):
            train(config)
    folder = train(config).folder
    names = [path.name for path in (folder / "wandb").glob("offline-run-*")]
    run_id = (folder / "wandb-id").read_text()
    assert names and all(name.endswith(run_id) for name in names)


def test_the_learning_rate_warms_up_and_comes_down(small: Small) -> None:
    config = small(**{"optimizer.warmup_steps": 4, "optimizer.min_lr_ratio": 0.1, "optimizer.learning_rate": 1.0})
    rates = [learning_rate(config, step, 104) for step in range(105)]
    assert rates[:4] == [0.25, 0.5, 0.75, 1.0]
    assert rates[54] == pytest.approx(0.55) and rates[104] == pytest.approx(0.1)
    assert all(later <= earlier for earlier, later in itertools.pairwise(rates[3:]))
    constant = small(**{"optimizer.schedule": "constant", "optimizer.warmup_steps": 0, "optimizer.learning_rate": 1.0})
    assert {learning_rate(constant, step, 10) for step in range(11)} == {1.0}
