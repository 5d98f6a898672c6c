"""A curriculum's file: everything is in it, and what is wrong is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.stand_in_curriculum import SHIPPED, toy

from training.experiments.curriculum.config import Curriculum, attempts, training_config
from training.offline.config import Source
from training.runs.config_reader import BadConfig, load

Change = Callable[[dict[str, Any]], object]
#: Of the shipped curricula.
_STAGES = {"gen1ou-cpu": 4, "gen1ou-story": 4, "gen9ou-cpu": 2, "qabra": 5}


def read(told: dict[str, Any], folder: Path) -> Curriculum:
    path = folder / "c.yaml"
    path.write_text(yaml.safe_dump(told, sort_keys=False))
    return load(Curriculum, path)


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_shipped_ones_are_whole(path: Path) -> None:
    config = load(Curriculum, path)
    assert config.name == path.stem and len(config.stages) == _STAGES[path.stem]
    text = path.read_text()
    for name in Curriculum.model_fields:
        assert f"{name}:" in text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda told: told.pop("seed"), "seed is missing"),
        (lambda told: told.update(sead=1), "sead is not a known setting"),
        (lambda told: told["stages"][0].pop("past"), r"stages.0.past is missing"),
        (lambda told: told["stages"][1]["gate"]["parent"].update(alpha=0.7), r"stages.1.gate.parent.alpha: .* not 0.7"),
        (lambda told: told["training"].pop("compute"), "compute is missing"),
        (lambda told: told["training"]["optimizer"].update(lr=1), "optimizer.lr is not a known setting"),
        (lambda told: told["training"]["length"].update(epochs=3), r"length.epochs: is set by the curriculum"),
        (lambda told: told["stages"][0].update(overrides={"optimizer.rate": 1}), r"optimizer.rate is not a known setting"),
        (lambda told: told["stages"][0].update(overrides={"seed": 1}), r"overrides.seed: is set by the curriculum"),
        (lambda told: told["stages"][0].update(retries=[{"epoch": 1}]), r"retries.1.epoch is not a known setting"),
        (lambda told: told["stages"][0].update(retries=[{"epochs": 0}]), r"stage first, retry 1: epochs: .* not 0"),
        (lambda told: told["stages"][0]["teams"][1].update(growth=2), "competitive cannot grow"),
        (lambda told: told.update(held_out=["competitive"]), "competitive is held out for the gates"),
        (lambda told: told.update(held_out=[]), "held_out: name at least one team set"),
        (lambda told: told["final_test"].update(teams=["competitive"]), "final_test.teams: competitive is used before:"),
        (lambda told: told["final_test"].update(against="frist"), "final_test.against: frist: name base, or one"),
        (lambda told: told.update(format="gen1randombattle"), "held_out: Showdown generates the teams"),
        (lambda told: told["pool"].update(anchor="random"), "pool.anchor: random is not in the pool"),
        (lambda told: told["stages"][1].update(name="first"), "two have the same name"),
        (lambda told: told["stages"][0].update(coaches=[]), "no opponents"),
        (lambda told: told["stages"][0].update(opponents=[{"agent": "heuristic:max-damage", "weight": 1}]), "named twice"),
        (lambda told: told["stages"][2]["learn_from"]["coaches"].update(policy_from="won"), "has no coaches"),
        (
            lambda told: told["training"]["algorithm"].update(targets="target_policy"),
            "stage first: learner.expert: there is none, and .*targets: target_policy .* say targets: choices",
        ),
        (
            lambda told: told["stages"][1].update(overrides={"algorithm.targets": "target_policy"}),
            "stage worse: learner.expert: there is none",
        ),
        (
            lambda told: told["stages"][2]["learn_from"].update(
                learner={"policy_from": "none", "value_from": "none", "weight": 1}, earlier=0
            ),
            "stage selves: learn_from: no data to learn from",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(change: Change, words: str, tmp_path: Path) -> None:
    told = yaml.safe_load(yaml.safe_dump(toy(tmp_path / "toy")))  # so that no part is shared
    change(told)
    with pytest.raises(BadConfig, match=words) as error:
        read(told, tmp_path)
    assert "\n" not in str(error.value) and str(error.value).startswith(str(tmp_path))


def test_soft_targets_want_an_expert_for_the_learner_s_own_sides_alone(tmp_path: Path) -> None:
    told = yaml.safe_load(yaml.safe_dump(toy(tmp_path / "toy")))
    told["training"]["algorithm"]["targets"] = "target_policy"
    told["stages"][0]["learner"]["expert"] = "heuristic:expert"
    told["stages"][1]["learn_from"]["learner"]["policy_from"] = "none"
    told["stages"][2]["overrides"] = {"algorithm.targets": "choices"}
    assert len(read(told, tmp_path).stages) == 3


def test_overrides_and_retries_reach_the_training(tmp_path: Path) -> None:
    told = toy(tmp_path / "toy")
    told["stages"][0] |= {
        "overrides": {"optimizer.learning_rate": 0.5, "data.batch_size": 7},
        "retries": [{"epochs": 9}, {"gate.pool.by": "low", "overrides": {"optimizer.learning_rate": 0.25}}],
    }
    told["training"]["reference"]["checkpoint"] = "base"
    config = read(told, tmp_path)
    one, two, three = attempts(config.stages[0])
    assert (one.epochs, two.epochs, three.epochs) == (4, 9, 4)
    assert (one.gate.pool.by, three.gate.pool.by) == ("high", "low")
    made = [
        training_config(
            config, stage, out=tmp_path / "run", parent="runs/x@3", seed=5,
            sources=[Source(path="data/a", weight=2)], validate_on=["data/b"],
        )
        for stage in (one, two, three)
    ]  # fmt: skip
    assert [each.optimizer.learning_rate for each in made] == [0.5, 0.5, 0.25]
    assert [each.data.batch_size for each in made] == [7, 7, 7] and made[1].length.epochs == 9
    assert made[0].network.start_from == "runs/x@3" and made[0].reference.checkpoint == config.base
    assert made[0].seed == 5 and made[0].data.train[0].path == "data/a" and made[0].data.validate_on == ["data/b"]
