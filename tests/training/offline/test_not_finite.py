"""What is not finite, not readable or does not fit on the disk never becomes, or replaces, a good checkpoint."""

from __future__ import annotations

import errno
import io
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from support.crashing import Crash, crash_in

torch = pytest.importorskip("torch")

from rich.console import Console  # noqa: E402
from safetensors import SafetensorError  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

from agents.policy import checkpoint  # noqa: E402
from teamsets.errors import BadInput  # noqa: E402
from training.offline import trainer  # noqa: E402
from training.offline.config import Config  # noqa: E402
from training.offline.losses import LOSSES  # noqa: E402
from training.offline.run_data import RunData  # noqa: E402
from training.offline.trainer import TrainingFailed, train  # noqa: E402
from training.runs.config_reader import BadConfig  # noqa: E402
from training.runs.run_folder import RunFolder  # noqa: E402
from training.runs.state import STATE, report_disk_full  # noqa: E402
from training.runs.tracking import Pace, Tracking  # noqa: E402

Small = Callable[..., Config]


def finite(folder: Path) -> bool:
    tensors = load_file(folder / checkpoint.WEIGHTS).values()
    return all(bool(torch.isfinite(tensor).all()) for tensor in tensors)


def test_a_learning_rate_of_a_million_keeps_no_weights_that_are_not_finite(small: Small) -> None:
    config = small(**{"optimizer.learning_rate": 1e6, "length.max_steps": 40, "length.epochs": 40})
    with pytest.raises(TrainingFailed, match=r"at step \d+ \(learning rate .*; lower optimizer.learning_rate") as error:
        train(config)
    assert "\n" not in str(error.value)
    assert all(finite(RunFolder(config).step_folder(step)) for step in RunFolder(config).steps())


def test_a_gradient_that_is_not_finite_changes_nothing_and_too_many_of_them_stop_the_run(
    small: Small, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From step 4 on the loss is finite and its gradient is not, as that of sqrt at 0."""
    plain, calls = LOSSES["cloning"], 0

    def breaking(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        loss, sums = plain(*arguments)
        return (loss + torch.sqrt((loss - loss.detach()).clamp(min=0) * 0) if calls >= 4 else loss), sums

    monkeypatch.setitem(LOSSES, "cloning", breaking)
    config = small(**{"length.max_steps": 40, "length.epochs": 20, "checkpoints.every": 10})
    with pytest.raises(
        TrainingFailed,
        match=r"not finite in 20 steps in a row at step 23 \(learning rate .*\): .*step-000000020; lower",
    ):
        train(config)
    assert "step 4: the gradient is not finite: step skipped" in capsys.readouterr().err
    ten, twenty = (load_file(RunFolder(config).step_folder(step) / checkpoint.WEIGHTS) for step in (10, 20))
    assert all(torch.isfinite(ten[name]).all() and torch.equal(ten[name], twenty[name]) for name in ten)


def test_weights_that_are_not_finite_are_not_kept(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = trainer._Run._save_checkpoint

    def spoiled(run: Any) -> None:
        if run.step == 6:
            next(iter(run.network.parameters())).data.fill_(float("nan"))
        plain(run)

    monkeypatch.setattr(trainer._Run, "_save_checkpoint", spoiled)
    config = small()
    with pytest.raises(
        TrainingFailed, match=r"the weights are not finite.* at step 6 .*the last good checkpoint is .*03;"
    ):
        train(config)
    assert RunFolder(config).steps() == [3]


def test_a_gradient_that_is_not_finite_in_one_part_of_a_batch_changes_nothing(
    small: Small, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first of step 4's two parts; the second is sound, and so is every loss."""
    plain, calls = LOSSES["cloning"], 0

    def breaking(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        loss, sums = plain(*arguments)
        return (loss + torch.sqrt((loss - loss.detach()).clamp(min=0) * 0) if calls == 7 else loss), sums

    monkeypatch.setitem(LOSSES, "cloning", breaking)
    config = small(**{"compute.gradient_accumulation_steps": 2})
    assert train(config).step == 8
    said = capsys.readouterr().err
    assert said.count("the gradient is not finite") == 1 and "step 4: the gradient is not finite" in said
    assert all(finite(RunFolder(config).step_folder(step)) for step in RunFolder(config).steps())


@pytest.mark.parametrize("name", ["policy_loss", "value_loss"])
def test_held_out_measurements_that_are_not_finite_name_no_best(
    name: str, small: Small, dataset: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = RunData.validated

    def spoiled(data: RunData, *arguments: Any) -> dict[str, float]:
        return {**plain(data, *arguments), "policy_loss": 0.0, name: float("nan")}

    config = small(**{"data.validate_on": [str(dataset.folder)]})
    with monkeypatch.context() as patch:
        crash_in(4, patch)
        with pytest.raises(Crash):
            train(config)
    monkeypatch.setattr(RunData, "validated", spoiled)
    with pytest.raises(
        TrainingFailed, match=rf"{name} on the held-out data is not finite.* at step 6 .*step-000000003;"
    ):
        train(config)
    best = RunFolder(config).best
    assert RunFolder(config).steps() == [3] and best is not None and best["step"] == 3


def test_a_rating_that_is_not_finite_names_no_best(small: Small) -> None:
    folder = RunFolder(small())
    folder.update_best(3, "rating", float("nan"))
    assert folder.best is None


def test_weights_that_are_not_finite_are_no_start(small: Small, tmp_path: Path) -> None:
    """As versions wrote them that never looked at the norm of the gradient."""
    start = tmp_path / "start"
    shutil.copytree(checkpoint.find("gen1ou-tiny"), start)
    tensors = {
        name: torch.full_like(tensor, float("nan")) for name, tensor in load_file(start / checkpoint.WEIGHTS).items()
    }
    save_file(tensors, start / checkpoint.WEIGHTS)
    with pytest.raises(BadConfig, match=r"start: contains non-finite weights: .*start from an earlier one"):
        train(small(**{"network.start_from": str(start)}))


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)"),
    ],
    ids=["full", "quota", "safetensors"],
)
def test_a_full_disk_is_one_line_and_the_checkpoint_before_stays(
    error: Exception, small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    import safetensors.torch

    plain, calls = safetensors.torch.save_file, 0

    def full(*arguments: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise error
        plain(*arguments)

    config = small()
    with monkeypatch.context() as patch:
        patch.setattr(safetensors.torch, "save_file", full)
        with pytest.raises(
            TrainingFailed, match=r"^the disk is full at step 6: the last good .*step-000000003; make room"
        ):
            train(config)
    assert [path.name for path in RunFolder(config).checkpoints.iterdir()] == ["step-000000003"]
    assert train(config).step == 8


def test_what_is_no_full_disk_stays_what_it_is(tmp_path: Path) -> None:
    for error in (
        OSError(errno.EACCES, "Permission denied"),
        RuntimeError("CUDA error"),
        SafetensorError("bad header"),
    ):
        with pytest.raises(type(error)), report_disk_full(tmp_path):
            raise error


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for one checkpoint of the preset tiny (13 MB), and not for two."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_really_full(small: Small, tiny_disk: Path) -> None:
    config = small(out=str(tiny_disk / "run"))
    with pytest.raises(TrainingFailed, match="the disk is full at step 6"):
        train(config)
    assert RunFolder(config).steps() == [3]


@pytest.mark.parametrize("name", ["optimizer.bin", "position.pt", "random_states_0.pkl"])
def test_a_damaged_or_missing_file_of_the_state_is_named(name: str, small: Small) -> None:
    config = small(**{"length.max_steps": 4})
    train(config)
    path = RunFolder(config).step_folder(4) / STATE / name
    whole = path.read_bytes()
    for content in (b"", whole[: len(whole) // 2], b"\x80" * 200):
        path.write_bytes(content)
        with pytest.raises(TrainingFailed, match=rf"{name}: is damaged .*: delete .*step-000000004 to resume") as error:
            train(config)
        assert "\n" not in str(error.value)
    path.unlink()
    with pytest.raises(TrainingFailed, match=rf"{name}: is missing, so the run cannot be resumed as it was: delete"):
        train(config)
    path.write_bytes(whole)
    assert train(config).step == 4


@pytest.mark.parametrize(
    "name", [f"{STATE}/optimizer.bin", f"{STATE}/position.pt", "model.safetensors", "checkpoint.json"]
)
def test_changed_bytes_in_a_checkpoint_are_noticed_when_a_run_is_resumed(name: str, small: Small) -> None:
    config = small(**{"length.max_steps": 4})
    train(config)
    folder = RunFolder(config).step_folder(4)
    path = folder / name
    whole = path.read_bytes()
    at = whole.rindex(b"0" if name.endswith(".json") else whole[-400:-396])
    path.write_bytes(whole[:at] + bytes(byte ^ 1 for byte in whole[at : at + 1]) + whole[at + 1 :])
    with pytest.raises((TrainingFailed, BadInput), match=rf"{path.name}:? is damaged .*: (delete|use another)"):
        train(config)
    path.write_bytes(whole)
    assert train(config).step == 4
    (folder / "checksums.json").unlink()  # as a checkpoint of an older version
    assert train(config).step == 4


def test_a_held_out_set_that_is_not_there_says_how_to_make_it(small: Small) -> None:
    with pytest.raises(
        BadConfig,
        match=r"data/b-held-out does not exist: build it with `train data build --out data/b --hold-out .*validate_on=\[\]",
    ):
        train(small(**{"data.validate_on": ["data/b-held-out"]}))


def test_a_run_has_curves_and_a_live_line(small: Small, dataset: Any, capsys: pytest.CaptureFixture[str]) -> None:
    finished = train(small(**{"data.validate_on": [str(dataset.folder)]}))
    words = "".join(ElementTree.parse(finished.folder / "curves.svg").getroot().itertext())
    assert "step 8" in words and "accuracy" in words and "gradient norm" in words and "held out" in words
    first, passes, second, *_ = capsys.readouterr().err.splitlines()
    assert "parameters, 8 steps of 4 trajectories on cpu" in first and passes.startswith("passes over the data: ")
    assert second.startswith("1/8 · loss ")


def test_the_live_line_says_all_of_it_within_80_columns(small: Small, tmp_path: Path) -> None:
    now = [0.0]
    pace = Pace(lambda: now[0])
    for _ in range(4):
        now[0] += 0.5
        pace.stepped(2000)
    out = io.StringIO()
    tracking = Tracking(small(), tmp_path, 0, 604, Console(file=out, width=80))
    tracking.advance(4, {"loss": 2.31456, "agreement": 0.314}, pace)
    tracking.advance(5, {"loss": 2.0, "agreement": 0.4}, pace)
    assert out.getvalue() == "4/604 · loss 2.315 · accuracy 31% · 4,000 decisions/s · 5 min 00 s left\n", "one a while"
    shown = io.StringIO()
    terminal = Console(file=shown, width=80, force_terminal=True)
    with Tracking(small(), tmp_path, 0, 604, terminal) as tracking:
        tracking.advance(4, {"loss": 2.31456, "agreement": 0.314}, pace)
    assert "4,000 decisions/s · 5 min 00 s left" in shown.getvalue()


def test_what_was_set_is_in_the_runs_configuration(small: Small, tmp_path: Path) -> None:
    import yaml

    from training.offline.config import Config
    from training.runs.config_reader import load
    from training.runs.settings import parsed

    (tmp_path / "my.yaml").write_text(yaml.safe_dump(small().model_dump(mode="json")))
    config = load(
        Config, tmp_path / "my.yaml", [parsed("optimizer.learning_rate=0.0123"), parsed("length.max_steps=1")]
    )
    finished = train(config)
    assert yaml.safe_load((finished.folder / "config.yaml").read_text())["optimizer"]["learning_rate"] == 0.0123
    assert json.loads((finished.folder / "metrics.jsonl").read_text().splitlines()[-1])["step"] == 1
