"""An ablation is whole or refused with the key's name; what must be equal is made so, or it is said what is not."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.command_line import PROJECT

pytest.importorskip("torch")

from agents.policy import checkpoint
from teamsets.errors import BadInput
from training.data.shards import DatasetWriter, all_trajectories, opened
from training.data.stream import Stream
from training.experiments.ablation.config import Ablation, variants
from training.experiments.ablation.run import held, measured, planned
from training.runs.config_reader import BadConfig, load, validated
from training.runs.evaluation import BattleBlock
from training.runs.shipped import FOLDERS, resolve_path


def changed(settings: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**settings, **changes}


def ablation(settings: dict[str, Any], **changes: Any) -> Ablation:
    return validated(Ablation, changed(settings, **changes), "my.yaml")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": 1}, "my.yaml: seed is not a known setting"),
        ({"seeds": []}, "seeds: .*at least 1"),
        ({"seeds": [1, 1]}, "seeds: 1 is listed more than once"),
        ({"equal": ["time"]}, "equal.0: .*'parameters'.*, not 'time'"),
        ({"grid": {"a": {"one": {}}}}, "grid: has one variant only"),
        ({"grid": {"a": {"one/two": {}, "b": {}}}}, "grid.a.one/two.*pattern"),
        ({"data": {"both": {"path": "x"}}}, "data.both.made.max_decisions is missing"),
        ({"data": {"both": {"database": "x"}}}, "data.both.ordered.where is missing"),
    ],
)
def test_a_wrong_key_is_named(settings: dict[str, Any], changes: dict[str, Any], words: str) -> None:
    with pytest.raises(BadConfig, match=words):
        ablation(settings, **changes)


def test_a_missing_key_is_named(settings: dict[str, Any]) -> None:
    del settings["sample_seed"]
    with pytest.raises(BadConfig, match=r"my.yaml: sample_seed is missing"):
        validated(Ablation, settings, "my.yaml")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"optimiser.learning_rate": 1e-3}, "the base has no key optimiser.learning_rate"),
        ({"optimizer.learning_rate": -1}, "variant b: optimizer.learning_rate: .*greater than 0, not -1"),
        ({"seed": 4}, "b: seed is set by the ablation itself"),
        (
            {"data.train": [{"path": "people", "weight": 1.0}]},
            "'people' is not a dataset of this ablation; known are both",
        ),
        ({"network.preset": "small"}, "equal: parameters: parameters cannot be made equal, a has 1,.* and b 15,"),
        ({"data.batch_size": 3}, "equal: compute: batch cannot be made equal, b has 3 and a 4"),
    ],
)
def test_a_variant_that_cannot_be_is_named(settings: dict[str, Any], changes: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        planned(ablation(settings, grid={"some": {"a": {}, "b": changes}}), make=False)


def test_variants_are_every_combination_of_the_axes(settings: dict[str, Any]) -> None:
    grid = {
        "rate": {"low": {"optimizer.learning_rate": 1e-4}, "high": {"optimizer.learning_rate": 1e-3}},
        "rule": {"won": {"algorithm.targets": "choices", "algorithm.value_weight": 0.5}, "all": {}},
    }
    found = variants(ablation(settings, grid=grid))
    assert list(found) == ["low+won", "low+all", "high+won", "high+all"]
    keys = {"optimizer.learning_rate": 1e-3, "algorithm.targets": "choices", "algorithm.value_weight": 0.5}
    assert found["high+won"] == keys
    grid["again"] = {"x": {"algorithm.targets": "target_policy"}, "y": {}}
    with pytest.raises(BadConfig, match=r"algorithm.targets is changed by more than one axis"):
        ablation(settings, grid=grid)


def test_best_needs_something_that_judges(settings: dict[str, Any]) -> None:
    settings["evaluation"]["checkpoint"] = "best"
    with pytest.raises(
        BadConfig, match=r"variant both: evaluation.checkpoint: there is no measurement that selects the best"
    ):
        planned(ablation(settings), make=False)


def test_the_larger_dataset_is_cut_to_the_smaller_in_whole_pairs_by_the_seed(settings: dict[str, Any]) -> None:
    settings["data"]["some"] = {"path": settings["data"]["both"]["path"], "max_decisions": 300}
    grid = {"data": {name: {"data.train": [{"path": name, "weight": 1.0}]} for name in ("both", "some")}}
    plan = planned(ablation(settings, grid=grid), make=True)
    both, some = (one.cells[1] for one in plan)
    assert plan[1].sizes["decisions"] <= 300 and plan[0].sizes["decisions"] == plan[1].sizes["decisions"]
    assert [both.length.max_steps, some.length.max_steps] == [one.sizes["steps"] for one in plan]
    whole: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for one in all_trajectories(opened(Path(settings["data"]["both"]["path"]))):
        whole[one.about["pair"]] = whole.get(one.about["pair"], 0) + 1
        sizes[one.about["pair"]] = sizes.get(one.about["pair"], 0) + len(one)
    kept: dict[str, int] = {}
    for one in all_trajectories(opened(Path(some.data.train[0].path))):
        kept[one.about["pair"]] = kept.get(one.about["pair"], 0) + 1
    assert kept and all(whole[pair] == number for pair, number in kept.items())
    room = 300 - plan[1].sizes["decisions"]
    assert all(size > room for pair, size in sizes.items() if pair not in kept), "another pair would have fitted in"
    again = planned(ablation(settings, grid=grid, out=settings["out"] + "-again"), make=True)
    assert [one.sizes for one in again] == [one.sizes for one in plan]
    (other,) = planned(ablation(settings, grid=grid, out=settings["out"] + "-other", sample_seed=9), make=True)[1:]
    pairs = {one.about["pair"] for one in all_trajectories(opened(Path(other.cells[1].data.train[0].path)))}
    assert pairs != set(kept)


def test_equal_compute_is_decisions_and_not_steps(settings: dict[str, Any], tmp_path: Path) -> None:
    whole = opened(Path(settings["data"]["both"]["path"]))
    trajectories = sorted(all_trajectories(whole), key=len)
    for name, chosen in (
        ("short", trajectories[: len(trajectories) // 2]),
        ("long", trajectories[len(trajectories) // 2 :]),
    ):
        with DatasetWriter(tmp_path / name, dict(whole.about)) as writer:
            for one in chosen:
                writer.add(one)
        settings["data"][name] = {"path": str(tmp_path / name), "max_decisions": 0}
    settings["base"]["length"] = {"epochs": 50, "max_steps": 200}
    settings["base"]["data"]["max_length"] = 1000
    grid = {"data": {name: {"data.train": [{"path": name, "weight": 1.0}]} for name in ("short", "long")}}
    short, long = planned(ablation(settings, grid=grid, equal=["compute"]), make=True)
    # What the cells' batches really hold.
    seen = {}
    for one in (short, long):
        config = one.cells[1]
        stream = Stream(
            [opened(tmp_path / one.variant)], [1.0], batch_size=config.data.batch_size, max_length=1000, seed=1
        )
        seen[one.variant] = sum(batch.decisions for batch in islice(stream, config.length.max_steps))
        assert seen[one.variant] == pytest.approx(one.sizes["processed"], rel=0.1)
    assert seen["short"] == pytest.approx(seen["long"], rel=0.1)
    assert short.sizes["steps"] > 1.3 * long.sizes["steps"], "with as many steps they would differ by that"


def test_what_is_not_asked_to_be_equal_stays_as_it_is(settings: dict[str, Any]) -> None:
    settings["data"]["some"] = {"path": settings["data"]["both"]["path"], "max_decisions": 300}
    settings["base"]["length"]["max_steps"] = 0
    grid = {"data": {name: {"data.train": [{"path": name, "weight": 1.0}]} for name in ("both", "some")}}
    both, some = planned(ablation(settings, grid=grid, equal=[]), make=True)
    assert both.sizes["decisions"] > 1.5 * some.sizes["decisions"] and both.sizes["steps"] > some.sizes["steps"]


def test_two_processes_do_not_share_a_folder_and_seeds_may_be_added(settings: dict[str, Any]) -> None:
    with (
        held(ablation(settings)),
        pytest.raises(BadConfig, match="in use by another process"),
        held(ablation(settings)),
    ):
        pass
    with held(ablation(settings, seeds=[1, 2, 3])):
        pass
    with (
        pytest.raises(BadConfig, match=r"started with other settings \(equal .*, now \[\]\)"),
        held(ablation(settings, equal=[])),
    ):
        pass


@pytest.mark.parametrize("path", sorted(FOLDERS["ablation"].glob("*.yaml")), ids=lambda path: path.stem)
def test_what_is_shipped_is_whole(path: Path) -> None:
    assert (
        len(variants(load(Ablation, path)))
        == {"algorithms": 10, "data": 3, "iterate": 2, "preferences": 4, "shares": 7, "slots": 8, "targets": 5}[
            path.stem
        ]
    )


def test_a_network_of_doubles_is_counted_as_one(settings: dict[str, Any]) -> None:
    singles, doubles = (
        planned(ablation(settings, evaluation=settings["evaluation"] | {"formats": [name]}), make=False)[0].sizes[
            "parameters"
        ]
        for name in ("gen9ou", "gen9doublesou")
    )
    assert doubles > singles


def test_a_network_for_each_slot_counts_twice_and_may_not_be_held_equal() -> None:
    ablation = load(Ablation, resolve_path("slots", "ablation"))
    one, two = (plan.sizes["parameters"] for plan in planned(ablation, make=False)[:2])
    assert two == 2 * one
    with pytest.raises(BadConfig, match="equal: parameters: parameters cannot be made equal, ppo"):
        planned(ablation.model_copy(update={"equal": ["parameters"]}), make=False)


def test_three_rounds_and_one_play_and_learn_alike_in_total(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT)
    three, one = planned(load(Ablation, resolve_path("iterate", "ablation")), make=False)
    assert [three.sizes["stages"], one.sizes["stages"]] == [3, 1]
    for size in ("parameters", "battles", "steps", "batch"):
        assert three.sizes[size] == one.sizes[size] > 0


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        ({"overrides": {"length.max_steps": 0}}, "stage round-1: length.max_steps: 0, so the number of steps"),
        ({"retries": [{"epochs": 2}]}, "stage round-1: retries: not empty, so the number of steps"),
        ({"overrides": {"length.max_steps": 100}}, "equal: compute: steps cannot be made equal, one-round has 100"),
        ({"battles": 500, "overrides": {"length.max_steps": 120}}, "equal: data: battles cannot be made equal"),
    ],
)
def test_curricula_that_are_not_equal_are_named(
    stage: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(PROJECT)
    settings = yaml.safe_load(resolve_path("iterate", "ablation").read_text())
    settings["grid"]["rounds"]["one-round"]["stages"][0] |= stage
    with pytest.raises(BadConfig, match=words):
        planned(validated(Ablation, settings, "iterate.yaml"), make=False)


def mixed(settings: dict[str, Any], **changes: Any) -> Ablation:
    """A training run beside a run of MAGRPO."""
    online = yaml.safe_load(resolve_path("magrpo", "online").read_text("utf-8"))
    grid = {
        "rule": {"cloning": {"kind": "train"}, "magrpo": {"kind": "online", "algorithm.group": 4, "max_decisions": 500}}
    }
    plain = {"kind": "mixed", "base": {"train": settings["base"], "online": online}, "grid": grid, "equal": []}
    return ablation(settings, **{**plain, **changes})


def test_cells_of_two_kinds_are_planned_together(settings: dict[str, Any]) -> None:
    plan = planned(mixed(settings), make=False)
    assert [one.variant for one in plan] == ["cloning", "magrpo"]
    cells = [one.cells[2] for one in plan]
    assert [type(cell).__name__ for cell in cells] == ["Config", "OnlineConfig"]
    assert cells[1].algorithm.group == 4 and cells[1].seed == 2
    assert [Path(cell.out).name for cell in cells] == ["cloning-2", "magrpo-2"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"equal": ["data"]}, "equal: data: is not the same thing in cells of different kinds: take it out of `equal`"),
        ({"base": "tiny"}, "base: `kind: mixed` takes a configuration or the name of one for each of train, online"),
        ({"grid": {"rule": {"a": {}, "b": {"kind": "train"}}}}, "variant a: kind None: must be one of those in `base`"),
    ],
)
def test_what_a_mixed_ablation_lacks_is_named(settings: dict[str, Any], changes: dict[str, Any], words: str) -> None:
    with pytest.raises(BadConfig, match=words):
        planned(mixed(settings, **changes), make=False)


def test_the_shipped_ablation_of_preferences_has_cells_of_both_kinds() -> None:
    shipped = load(Ablation, resolve_path("preferences", "ablation"))
    assert shipped.kind == "mixed" and len(shipped.seeds) == 3
    assert {changes["kind"] for changes in variants(shipped).values()} == {"train", "online"}


def test_scores_that_an_earlier_version_kept_are_read(settings: dict[str, Any], tmp_path: Path) -> None:
    kept = tmp_path / "held-out.json"
    evaluation = ablation(settings).evaluation
    asked = {key: value for key, value in settings["evaluation"].items() if key != "workers"}  # no venue
    block = BattleBlock("gen1ou", "competitive", "random", [1.0, None])
    player = checkpoint.identity(checkpoint.find("gen1ou-tiny"))
    kept.write_text(json.dumps({"what": {"player": player, "asked": asked}, "blocks": [asdict(block)]}))
    assert measured(evaluation, "policy:gen1ou-tiny", kept) == [block]
