"""A configuration is whole or refused with the key's name."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from agents.policy.checkpoint import SHIPPED
from training.experiments.ablation.config import Ablation
from training.experiments.curriculum.config import Curriculum
from training.offline.config import Config
from training.online.config import OnlineConfig
from training.runs.common_settings import RunConfig
from training.runs.config_reader import BadConfig, Section, load, validated
from training.runs.shipped import names, text


@pytest.mark.parametrize("name", names("preset"))
def test_every_preset_is_a_whole_configuration(name: str) -> None:
    assert validated(Config, yaml.safe_load(text(name, "preset")), name).name == name


def told() -> dict[str, dict[str, object]]:
    found = yaml.safe_load(text("tiny", "preset"))
    assert isinstance(found, dict)
    return found


@pytest.mark.torch
@pytest.mark.parametrize("name", sorted(path.name for path in SHIPPED.iterdir()))
def test_a_shipped_networks_configuration_is_a_whole_one(name: str) -> None:
    file = SHIPPED / name / "config.yaml"
    model: type[RunConfig] = OnlineConfig if "league" in yaml.safe_load(file.read_text()) else Config
    assert load(model, file).name == name


def test_a_missing_and_an_unknown_key_are_named() -> None:
    wrong = told()
    del wrong["optimizer"]["max_grad_norm"]
    wrong["data"]["batches"] = 3
    with pytest.raises(
        BadConfig, match=r"my.yaml: data.batches is not a known setting; optimizer.max_grad_norm is missing"
    ):
        validated(Config, wrong, "my.yaml")


@pytest.mark.parametrize(
    ("section", "key", "value", "words"),
    [
        ("optimizer", "learning_rate", -1, "optimizer.learning_rate: .*greater than 0, not -1"),
        ("network", "preset", "huge", "network.preset: .*'tiny'.*, not 'huge'"),
        ("network", "sizes", {"depth": 3}, "network.sizes.depth: .*'token_layers'.*, not 'depth'"),
        ("network", "sizes", {"layers": 0}, "network.sizes.layers: .*greater than or equal to 1, not 0"),
        ("network", "sizes", {"width": 161}, "network: sizes: width=161: must be a multiple of 2"),
        (
            "network",
            "sizes",
            {"window": 10**8},
            "network: sizes: window=100000000, .* is 32,000,000,000: must be at most 1,07",
        ),
        ("data", "train", [], "data.train: .*at least 1"),
        (
            "algorithm",
            "name",
            "magic",
            "algorithm: name 'magic': accepted are cloning, offline-rl, dpo and MODULE:CLASS",
        ),
        ("reference", "coefficient", -0.1, "reference.coefficient: .*greater than or equal to 0, not -0.1"),
        ("network", "freeze", "layers.*", "network.freeze: .*list, not 'layers.\\*'"),
        ("algorithm", "expert_value_weight", 1.5, "algorithm.expert_value_weight: .*less than or equal to 1"),
        ("tracking", "wandb", False, "tracking.wandb: .*'disabled', not False"),
    ],
)
def test_a_senseless_value_is_named(section: str, key: str, value: object, words: str) -> None:
    wrong = told()
    wrong[section][key] = value
    with pytest.raises(BadConfig, match=words):
        validated(Config, wrong, "my.yaml")


def test_a_key_of_before_version_0_1_is_refused_with_todays_name() -> None:
    wrong = told()
    wrong["data"]["batch"] = wrong["data"].pop("batch_size")
    wrong["optimizer"]["last_share"] = wrong["optimizer"].pop("min_lr_ratio")
    expected = r"data.batch is not a known setting: it is batch_size now; .*last_share .*: it is min_lr_ratio now"
    with pytest.raises(BadConfig, match=expected):
        validated(Config, wrong, "my.yaml")


def test_what_is_no_configuration(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="no such file; `train config` prints one"):
        load(Config, tmp_path / "none.yaml")
    (tmp_path / "odd.yaml").write_text("a: [")
    with pytest.raises(BadConfig, match="is not valid YAML"):
        load(Config, tmp_path / "odd.yaml")
    (tmp_path / "list.yaml").write_text("- 1")
    with pytest.raises(BadConfig, match="contains no settings"):
        load(Config, tmp_path / "list.yaml")


@pytest.mark.parametrize("model", [Config, Curriculum, Ablation])
def test_a_bomb_of_aliases_is_refused_by_its_name(model: type[Section], tmp_path: Path) -> None:
    (tmp_path / "bomb.yaml").write_text(
        "a0: &a0 {}\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1},' * 9}]\n" for n in range(1, 20))
    )
    with pytest.raises(
        BadConfig, match=r"bomb\.yaml: contains more than 50,000 values once its aliases are expanded: fix"
    ):
        load(model, tmp_path / "bomb.yaml")


def test_an_exponent_without_a_point_is_a_number(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(text("tiny", "preset").replace("learning_rate: 0.001", "learning_rate: 1e-3"))
    assert load(Config, tmp_path / "a.yaml").optimizer.learning_rate == 0.001
