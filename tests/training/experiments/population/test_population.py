"""Population based training: who takes over whom, resuming, errors; and a small population on real battles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("torch")
pytest.importorskip("numba")

from training.experiments.population import loop
from training.experiments.population.config import Population, member_config
from training.online.config import OnlineConfig
from training.runs.config_reader import BadConfig, load, validated
from training.runs.shipped import resolve_path

RATE = "learner.optimizer.learning_rate.start"


def population(tmp_path: Path, **changes: Any) -> Population:
    told = yaml.safe_load(resolve_path("gen1ou", "population").read_text())
    told |= {"out": str(tmp_path / "population"), "members": 4, "rounds": 3, **changes}
    told["evaluation"]["database"] = str(tmp_path / "arena.duckdb")
    return validated(Population, told, "mine")


def played(asked: Population, trained: list[str]) -> list[loop.Round]:
    """The rounds of a population whose runs take no time and are rated by their learning rates. trained: their folders."""

    def train(config: OnlineConfig) -> None:
        trained.append(config.out)
        step = Path(config.out) / "checkpoints" / "step-000000020"
        step.mkdir(parents=True)
        (step / "checkpoint.json").write_text("{}")

    def rate(_: Population, members: list[dict[str, Any]]) -> list[float]:
        return [1000 + 10_000 * member["settings"][RATE] for member in members]

    return loop.run_population(asked, lambda _: None, train=train, rate=rate)


def test_the_weakest_take_over_the_strongest_and_explore(tmp_path: Path) -> None:
    asked, runs = population(tmp_path), list[str]()
    first, second, _ = played(asked, runs)
    ranked = sorted(first["members"], key=lambda member: member["rating"])
    weakest, best = ranked[0]["member"], ranked[-1]
    taken = second["members"][weakest]
    assert taken["took"] == best["member"] and taken["parent"] == best["checkpoint"]
    for key, each in asked.explore.items():
        ratio = taken["settings"][key] / best["settings"][key]
        inside = each.low < taken["settings"][key] < each.high
        assert not inside or min(abs(ratio - each.factor), abs(ratio - 1 / each.factor)) < 1e-9
    others = [member for member in second["members"] if member["member"] != weakest]
    assert all(member["took"] is None for member in others)
    assert all(member["settings"] == first["members"][member["member"]]["settings"] for member in others)
    assert all(member["parent"] == first["members"][member["member"]]["checkpoint"] for member in others)
    assert len(runs) == len(set(runs)) == 12


def test_a_killed_population_goes_on_where_it_was(tmp_path: Path) -> None:
    whole = played(population(tmp_path), [])
    played(population(tmp_path / "again", rounds=1), [])
    parts = played(population(tmp_path / "again"), [])
    without = [[{k: v for k, v in m.items() if k not in ("parent", "checkpoint")} for m in r["members"]] for r in whole]
    again = [[{k: v for k, v in m.items() if k not in ("parent", "checkpoint")} for m in r["members"]] for r in parts]
    assert without == again
    with pytest.raises(BadConfig, match="exploit"):
        played(population(tmp_path / "again", exploit=0.5), [])


def test_a_member_is_a_run_of_online_training(tmp_path: Path) -> None:
    asked = population(tmp_path)
    config = member_config(asked, {RATE: 0.002}, "runs/other@20", tmp_path / "m" / "round-1", 7)
    assert isinstance(config, OnlineConfig)
    assert config.learner.optimizer.learning_rate.at(0) == 0.002
    assert (config.iterations, config.seed, config.learner.network.start_from) == (20, 7, "runs/other@20")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"explore": {"learner.speed": {"low": 1, "high": 2, "factor": 1.5}}},
            "explore: learner.speed: the base has no",
        ),
        ({"explore": {RATE: {"low": 2, "high": 1, "factor": 1.5}}}, "low 2 must be below high 1"),
        ({"exploit": 0.9}, "exploit"),
        ({"base": "nothing"}, "nothing: no such file, and no shipped configuration of online training"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        population(tmp_path, **changes)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_small_population_is_trained_and_rated_in_battles(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    told = population(tmp_path, members=2, rounds=2, iterations=1).model_dump(mode="json")
    base = yaml.safe_load(resolve_path("ppo", "online").read_text())
    base["rollout"] |= {"battles": 8, "teams": [{"set": "variety:10", "weight": 1.0}]}
    base["tracking"]["wandb"] = "disabled"
    base["compute"]["threads"] = 1
    told["base"] = base
    told["evaluation"] |= {"battles": 2, "opponents": ["random"], "workers": 1}
    file.write_text(yaml.safe_dump(told))
    rounds = loop.run_population(load(Population, file), lambda _: None)
    assert len(rounds) == 2
    lines = (tmp_path / "population" / loop.ROUNDS).read_text().splitlines()
    assert [json.loads(line)["round"] for line in lines] == [1, 2]
    assert sum(member["took"] is not None for member in rounds[1]["members"]) == 1
