"""Settings under the names of earlier versions mean the same: in files, `--set`, dotted names and stored runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from teamsets.errors import BadInput
from training.cli import cli
from training.experiments.ablation.config import Ablation, Made, Ordered, cell_settings, read_ablation
from training.experiments.ablation.run import held
from training.experiments.curriculum.config import Curriculum, Stage, attempts, read_curriculum, training_config
from training.experiments.curriculum.store import CurriculumStore
from training.offline import config as configuration
from training.offline.config import (
    BadConfig,
    Config,
    Section,
    checked,
    preset_names,
    preset_text,
    read_config,
    read_yaml,
)
from training.renamed import Renamed, current, current_key
from training.runs.run_folder import RunFolder
from training.runs.settings import parsed
from training.runs.shipped import located, names

FORMER = {
    "batch_size": "batch",
    "max_length": "longest",
    "max_advantage_weight": "largest_weight",
    "td_lambda": "trace",
    "gae_lambda": "advantage_traces",
    "min_lr_ratio": "last_share",
    "max_grad_norm": "clip_norm",
    "max_steps": "most_steps",
    "gradient_accumulation_steps": "accumulate",
    "expert": "watched_by",
    "min_decisions": "least_decisions",
    "max_decisions": "most_decisions",
    "expert_value_weight": "coach_value_share",
    "final_test": "verdict",
}


@pytest.fixture(autouse=True)
def _every_note(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notes are printed once a process: each test begins anew."""
    configuration._note_once.cache_clear()


def in_former_names(told: Any) -> Any:
    """Settings as an earlier version would have written them; dotted names, too."""
    if isinstance(told, list):
        return [in_former_names(item) for item in told]
    if not isinstance(told, dict):
        return told
    return {
        ".".join(FORMER.get(part, part) for part in key.split(".")) if isinstance(key, str) else key: in_former_names(
            value
        )
        for key, value in told.items()
    }


def written(folder: Path, told: Any, name: str = "old.yaml") -> Path:
    (folder / name).write_text(yaml.safe_dump(told, sort_keys=False))
    return folder / name


def sections(model: type[Section]) -> Iterator[type[Section]]:
    yield model
    for one in model.__subclasses__():
        yield from sections(one)


def test_every_former_name_is_listed_here_and_in_the_documentation() -> None:
    listed = {key: former for model in sections(Section) for former, key in model.former_keys.items()}
    assert listed == FORMER
    for model in sections(Section):
        assert set(model.former_keys.values()) <= set(model.model_fields)
        assert not set(model.former_keys) & set(model.model_fields)


@pytest.mark.parametrize("name", preset_names())
def test_a_file_of_an_earlier_version_is_the_same_run_and_one_line_names_the_new_names(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = yaml.safe_load(preset_text(name))
    path = written(tmp_path, in_former_names(told))
    assert read_config(path) == checked(told, name)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{path}: settings with new names (the former are still read): ")
    assert "data.batch is now batch_size" in line and "optimizer.last_share is now min_lr_ratio" in line
    assert ("algorithm.trace is now td_lambda" in line) == (name == "tiny-offline-rl")
    read_config(located(name, "preset"))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", names("curriculum"))
def test_a_curriculum_with_its_overrides_and_retries(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = read_yaml(located(name, "curriculum"))
    told["stages"][0] |= {
        "overrides": {"length.max_steps": 7, "optimizer": {**told["training"]["optimizer"], "min_lr_ratio": 0.5}},
        "retries": [{"quality.min_decisions": 3, "learner.temperature": 0.1, "overrides": {"data.batch_size": 9}}],
    }
    present = read_curriculum(written(tmp_path, told, "new.yaml"))
    assert capsys.readouterr().err == ""
    path = written(tmp_path, in_former_names(told))
    assert read_curriculum(path).model_dump() == present.model_dump()
    (line,) = capsys.readouterr().err.splitlines()
    for words in (
        "stages.learner.watched_by is now expert",
        "stages.overrides.length.most_steps is now max_steps",
        "stages.retries.quality.least_decisions is now min_decisions",
        "stages.retries.overrides.data.batch is now batch_size",
        "training.data.longest is now max_length",
    ):
        assert line.count(words) == 1
    retry = attempts(present.stages[0])[1]
    made = training_config(present, retry, out=tmp_path, parent="p", seed=0, sources=[_source()], validate_on=[])
    assert (retry.quality.min_decisions, made.data.batch_size, made.length.max_steps) == (3, 9, 7)
    assert made.optimizer.min_lr_ratio == 0.5


def _source() -> configuration.Source:
    return configuration.Source(path="x", weight=1)


@pytest.mark.parametrize("name", ["data", "targets", "iterate"])
def test_an_ablation_with_its_grid_and_its_base(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = read_yaml(located(name, "ablation"))
    prefix = "training." if told["kind"] == "curriculum" else ""
    told["grid"]["more"] = {
        "few": {f"{prefix}length.max_steps": 5},
        "many": {f"{prefix}length": {**({} if prefix else {"epochs": 1}), "max_steps": 50}},
    }
    present = read_ablation(written(tmp_path, told, "new.yaml"))
    former = in_former_names(told) | {"data": {each: in_former_names(made) for each, made in told["data"].items()}}
    assert read_ablation(written(tmp_path, former)).model_dump() == present.model_dump()
    assert f"grid.more.few.{prefix}length.most_steps is now max_steps" in capsys.readouterr().err
    # A base in a file of its own, with former names, and a grid with present ones; and the other way round.
    for grid, base in ((told["grid"], former["base"]), (former["grid"], told["base"])):
        base_file = written(tmp_path, base, "base.yaml")
        mixed = read_ablation(written(tmp_path, {**told, "grid": grid, "base": str(base_file)}, "mixed.yaml"))
        for variant in ("few", "many"):
            first = next(iter(next(iter(told["grid"].values()))))
            of_file = cell_settings(mixed, f"{first}+{variant}", 1)
            assert of_file == cell_settings(present, f"{first}+{variant}", 1)


def test_a_change_on_the_command_line_may_have_the_former_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = [parsed("optimizer.last_share=0.3"), parsed("length={epochs: 1, most_steps: 4}")]
    told = yaml.safe_load(preset_text("tiny"))
    for path in (written(tmp_path, told, "new.yaml"), written(tmp_path, in_former_names(told))):
        config = read_config(path, changes)
        assert (config.optimizer.min_lr_ratio, config.length.max_steps) == (0.3, 4)
    lines = capsys.readouterr().err.splitlines()
    note = (
        "--set optimizer.last_share: the new name of this setting is optimizer.min_lr_ratio (the former is still read)"
    )
    assert lines.count(note) == 1
    for path in (tmp_path / "new.yaml", tmp_path / "old.yaml"):
        assert read_config(path, [parsed("optimizer.min_lr_ratio=0.2")]).optimizer.min_lr_ratio == 0.2
    curriculum = read_curriculum(
        located("gen1ou-cpu", "curriculum"),
        [parsed("stages.1.quality.least_decisions=2"), parsed("training.data.batch=8")],
    )
    assert (curriculum.stages[1].quality.min_decisions, curriculum.training["data"]["batch_size"]) == (2, 8)
    said = CliRunner().invoke(cli, ["config", "tiny", "--set", "data.longest=99"])
    assert said.exit_code == 0 and "  max_length: 99 " in said.stdout
    with pytest.raises(BadInput, match=r"--set optimizer.lst_share: .* has no such key"):
        read_config(tmp_path / "old.yaml", [parsed("optimizer.lst_share=1")])


def test_both_names_of_a_setting_are_an_error_that_names_them(tmp_path: Path) -> None:
    told = yaml.safe_load(preset_text("tiny"))
    told["length"]["most_steps"] = 3
    with pytest.raises(
        BadConfig, match=r"^.*old.yaml: length.most_steps is the former name of max_steps: give max_steps al"
    ):
        read_config(written(tmp_path, told))
    with pytest.raises(
        BadConfig, match=r"^here: length.most_steps is the former name of max_steps: give max_steps alone$"
    ):
        checked(told, "here")
    curriculum = read_yaml(located("gen1ou-cpu", "curriculum"))
    curriculum["stages"][0]["overrides"] = {"data.batch": 3, "data.batch_size": 4}
    with pytest.raises(
        BadConfig, match=r"stages.overrides.data.batch is the former name of data.batch_size: give data.b"
    ):
        read_curriculum(written(tmp_path, curriculum))


def test_a_wrong_value_under_a_former_name_is_named_by_the_new_one(tmp_path: Path) -> None:
    told = yaml.safe_load(preset_text("tiny"))
    told["data"]["batch"] = 0
    del told["data"]["batch_size"]
    with pytest.raises(BadConfig, match=r"data.batch_size: .*, not 0"):
        checked(told, "here")


def test_what_runs_have_kept_of_their_settings_is_read_without_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = checked({**yaml.safe_load(preset_text("tiny")), "out": str(tmp_path / "run")}, "tiny")
    (tmp_path / "run" / "checkpoints" / "step-000000001").mkdir(parents=True)
    stored = in_former_names(config.model_dump(mode="json"))
    path = written(tmp_path / "run", stored, "config.yaml")
    with RunFolder(config).locked():
        pass
    changed = checked({**config.model_dump(mode="json"), "seed": 9}, "changed")
    with (
        pytest.raises(BadConfig, match=r"started with other settings \(seed \d+, now 9\)"),
        RunFolder(changed).locked(),
    ):
        pass
    assert read_config(path) == config
    ablation = read_ablation(located("data", "ablation"), [parsed(f"out={tmp_path / 'ablation'}")])
    (tmp_path / "ablation").mkdir()
    kept = written(tmp_path / "ablation", in_former_names(ablation.model_dump(mode="json")), "ablation.yaml")
    with held(ablation):
        pass
    assert kept.read_text() == yaml.safe_dump(ablation.model_dump(mode="json"), sort_keys=False)
    assert capsys.readouterr().err == ""


def test_a_curriculum_in_the_store_is_the_one_that_was_begun(tmp_path: Path) -> None:
    changes = [parsed(f"out={tmp_path}"), parsed("stages.0.overrides={length.most_steps: 5}")]
    config = read_curriculum(located("gen1ou-cpu", "curriculum"), changes)
    book = CurriculumStore(config.db, config.name)
    tmp_path.mkdir(exist_ok=True)
    book.begin(config, "base")
    stage = config.stages[0].model_dump(mode="json")
    one = book.begin_attempt(1, 1, "first", "base", in_former_names(stage))
    assert one.settings == stage
    stored = json.dumps(in_former_names(config.model_dump(mode="json")))
    assert '"most_steps"' in stored and '"length.most_steps"' in stored
    book._write("UPDATE curricula SET config = ?", [stored])
    book.begin(config, "base")
    book._write("UPDATE curricula SET config = ?", [stored])
    other = config.model_copy(update={"seed": 77})
    with pytest.raises(BadConfig, match=r"started with other settings \(seed \d+, now 77\)"):
        book.begin(other, "base")


@pytest.mark.parametrize(
    ("models", "former", "present"),
    [
        ((Config,), "data.longest", "data.max_length"),
        ((Config,), "algorithm.trace", "algorithm.td_lambda"),
        ((Curriculum,), "stages.0.overrides.optimizer.last_share", "stages.0.overrides.optimizer.min_lr_ratio"),
        ((Curriculum,), "stages.3.retries.0.quality.least_decisions", "stages.3.retries.0.quality.min_decisions"),
        ((Config, Curriculum), "training.compute.accumulate", "training.compute.gradient_accumulation_steps"),
        ((Stage,), "learner.watched_by", "learner.expert"),
        ((Ablation,), "data.some.most_decisions", "data.some.max_decisions"),
        ((Ablation,), "base.training.length.most_steps", "base.training.length.max_steps"),
        ((Config,), "nothing.longest.0", "nothing.longest.0"),
    ],
)
def test_dotted_names(models: tuple[type[Section], ...], former: str, present: str) -> None:
    assert current_key(models, former) == present and current_key(models, present) == present


@pytest.mark.parametrize("told", [None, 3, "x", [], {"data": 3}, {"data": [1]}, {"stages": {"a": None}}, {1: {2: 3}}])
@pytest.mark.parametrize("model", [Config, Curriculum, Ablation, Made, Ordered])
def test_what_is_no_configuration_stays_as_it_is(model: type[Section], told: Any) -> None:
    assert current(model, told) == told


@pytest.mark.parametrize(
    ("model", "settings", "named"),
    [
        (Config, {"algorithm": {"name": "cloning", "targets": "shares"}}, "algorithm.targets: shares"),
        (Curriculum, {"training": {"algorithm": {"targets": "shares"}}}, "training.algorithm.targets: shares"),
        (
            Curriculum,
            {"stages": [{"overrides": {"algorithm.targets": "shares"}}]},
            "stages.overrides.algorithm.targets: shares",
        ),
        (Ablation, {"grid": {"a": {"b": {"algorithm.targets": "shares"}}}}, "grid.a.b.algorithm.targets: shares"),
    ],
)  # fmt: skip
def test_former_values_are_read_and_named(model: type[Section], settings: Any, named: str) -> None:
    found: list[Renamed] = []
    renamed = current(model, settings, found)
    assert renamed == yaml.safe_load(yaml.safe_dump(settings).replace("shares", "target_policy"))
    assert found == [Renamed(named, "target_policy")]
