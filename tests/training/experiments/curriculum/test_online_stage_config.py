"""A stage of online training in a curriculum's file: what the curriculum sets, and what is wrong is named."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from support.stand_in_curriculum import online_settings, toy

pytest.importorskip("torch")  # the rules of online training, which hold their settings, import it

from training.experiments.curriculum.config import Curriculum, OnlineStage, Stage, attempts, online_config, team_sets
from training.experiments.curriculum.loop import check_sizes
from training.experiments.curriculum.plan import planned
from training.runs.config_reader import BadConfig, validated

Change = Callable[[dict[str, Any]], object]


def with_online(out: Path, change: Change = lambda _: None) -> dict[str, Any]:
    told = toy(out)
    stage = {
        "kind": "online",
        "name": "league",
        "online": online_settings(),
        "gate": told["stages"][2]["gate"],
        "retries": [],
    }
    told["stages"].append(stage)
    change(told)
    return told


def read(told: dict[str, Any]) -> Curriculum:
    return validated(Curriculum, told, "c.yaml")


def test_it_stands_beside_stages_of_battles_and_starts_from_its_parent(tmp_path: Path) -> None:
    config = read(with_online(tmp_path))
    assert [type(stage) for stage in config.stages] == [Stage, Stage, Stage, OnlineStage]
    assert read(config.model_dump(mode="json")) == config  # as it is stored
    stage = config.stages[3]
    assert isinstance(stage, OnlineStage)
    made = online_config(config, stage, out=tmp_path / "o", parent="gen1ou-tiny", seed=7)
    assert (made.name, made.seed, made.format) == ("toy-league", 7, "gen1ou")
    assert made.learner.network.start_from == "gen1ou-tiny" and made.rollout.held_out == ["variety:12", "verdict"]
    assert "variety:2000" in team_sets(config)


def test_the_reference_can_be_the_curriculums_base(tmp_path: Path) -> None:
    def base(told: dict[str, Any]) -> None:
        told["base"] = "gen1ou-tiny"
        told["stages"][3]["online"]["reference"]["checkpoint"] = "base"

    config = read(with_online(tmp_path, base))
    stage = config.stages[3]
    assert isinstance(stage, OnlineStage)
    made = online_config(config, stage, out=tmp_path / "o", parent="runs/other@best", seed=7)
    assert made.reference.checkpoint == "gen1ou-tiny" and made.learner.network.start_from == "runs/other@best"


def test_a_retry_changes_settings_of_its_online_training(tmp_path: Path) -> None:
    def retry(told: dict[str, Any]) -> None:
        told["stages"][3]["retries"] = [{"online.algorithm.clip": 0.1, "gate.pool.tolerance": 50}]

    stage = read(with_online(tmp_path, retry)).stages[3]
    assert isinstance(stage, OnlineStage)
    first, second = attempts(stage)
    assert (first.online["algorithm"]["clip"], second.online["algorithm"]["clip"]) == (0.2, 0.1)
    assert second.gate.pool.tolerance == 50


def test_its_time_is_said_to_be_unknown_in_the_plan(tmp_path: Path) -> None:
    steps = [step for step in planned(read(with_online(tmp_path)), "heuristic:max-power") if step.stage == "league"]
    assert steps[0].what == "learn online, 200 iterations" and steps[0].unmeasured
    assert not any(step.unmeasured for step in steps[1:])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda stage: stage.pop("online"), r"c.yaml: stages.3.online is missing"),
        (lambda stage: stage.update(battles=4), r"stages.3.battles is not a known setting"),
        (lambda stage: stage.update(kind="offline"), r"stages.3.kind: .* not 'offline'"),
        (lambda stage: stage["online"].update(seed=1), r"stage league: online.seed: is set by the curriculum itself"),
        (lambda stage: stage["online"].pop("league"), r"stage league: online: league is missing"),
        (lambda stage: stage["online"]["algorithm"].update(clip=-1), r"stage league: online: algorithm.clip: .* not -1"),
        (
            lambda stage: stage["online"]["rollout"].update(teams=[{"set": "x", "wait": 1}]),
            r"stage league: online: rollout.teams.0.weight is missing",
        ),
        (lambda stage: stage["online"]["rollout"].update(teams=[{"weight": 1}]), r"rollout.teams.0.set is missing"),
        (lambda stage: stage["online"].update(rollout=[]), r"stage league: online.rollout.held_out: rollout is missing"),
        (lambda stage: stage.update(retries=[{"overrides": {}}]), r"retries.1.overrides is not a known setting"),
        (lambda stage: stage.update(retries=[{"online.algorithm.clap": 1}]), r"retries.1.*clap is not a known setting"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(tmp_path: Path, change: Change, words: str) -> None:
    with pytest.raises(BadConfig, match=words):
        read(with_online(tmp_path, lambda told: change(told["stages"][3])))


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        (lambda told: None, ""),
        (lambda told: told["stages"][3]["online"]["learner"]["network"].update(sizes={"layers": 3}), ""),
        (
            lambda told: told["stages"][3]["online"]["learner"]["network"].update(preset="small"),
            "stage league: its parent, base, is tiny, not small: set preset: tiny, sizes: {}; more",
        ),
        (
            lambda told: told["stages"][0]["retries"].append({"overrides": {"network.sizes": {"layers": 3}}}),
            "stage worse: its parent, stage first, retry 2, is tiny with layers=3, not tiny: set",
        ),
    ],
)
def test_a_stage_that_could_not_start_from_its_parent_is_refused_before_the_first_battle(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], refused: str
) -> None:
    def tiny(told: dict[str, Any]) -> None:
        told["training"]["network"]["sizes"] = {}
        told["stages"][3]["online"]["learner"]["network"]["preset"] = "tiny"
        change(told)

    config = read(with_online(tmp_path, tiny))
    with nullcontext() if not refused else pytest.raises(BadConfig, match=refused):
        check_sizes(config, "policy:gen1ou-tiny")
