"""A sweep's configuration: the shipped one, what a trial's run is, and one line for each wrong setting."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.command_line import Said

pytest.importorskip("torch")
pytest.importorskip("numba")

from support.sweeps import EPOCHS, RATE, sweep_of, sweep_settings

from training.experiments.sweep import study
from training.experiments.sweep.config import trial_config
from training.offline.config import Config
from training.online.config import OnlineConfig

DECISIONS = {"unit": "decisions", "total": 80_000}


def test_a_trial_is_a_run_with_its_settings_length_and_seed(tmp_path: Path) -> None:
    config = trial_config(sweep_of(tmp_path), {RATE: 0.002}, tmp_path / "trials" / "007", length=20, seed=5)
    assert isinstance(config, OnlineConfig)
    assert config.learner.optimizer.learning_rate.at(0) == 0.002
    assert (config.name, config.seed, config.iterations, config.max_decisions) == ("ppo-007", 5, 20, 0)
    assert (config.evaluation.every, config.compute.threads) == (0, 1)  # `fixed` has the threads
    by_decisions = trial_config(sweep_of(tmp_path, length=DECISIONS), {}, tmp_path / "1")
    assert isinstance(by_decisions, OnlineConfig)
    assert by_decisions.max_decisions == 80_000 <= by_decisions.iterations * by_decisions.rollout.battles


def test_a_trial_may_be_a_run_of_stored_battles(tmp_path: Path) -> None:
    rate = "optimizer.learning_rate"
    space = {rate: {"kind": "log", "low": 0.0001, "high": 0.01}}
    sweep = sweep_of(tmp_path, kind="train", base="tiny", fixed={}, space=space, length={"unit": "steps", "total": 50})
    config = trial_config(sweep, {rate: 0.003}, tmp_path / "trials" / "000")
    assert isinstance(config, Config) and (config.optimizer.learning_rate, config.length.max_steps) == (0.003, 50)


LOG = {"kind": "log", "low": 0.001, "high": 0.01}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"space": {}}, "space: is empty: name at least one setting"),
        ({"space": {"learner.optimizer.lerning_rate.start": LOG}},
         "space.learner.optimizer.lerning_rate.start: the base has no such key: did you mean learner.optimizer"),
        ({"fixed": {"rollout.batles": 3}}, "fixed.rollout.batles: the base has no such key: did you mean rollout.battles"),
        ({"space": {RATE: {"kind": "normal", "low": 0, "high": 1}}}, f"space.{RATE}: .*'choice', "),
        ({"space": {RATE: {"kind": "log", "low": 0.001}}}, f"space.{RATE}.high is missing"),
        ({"space": {RATE: {**LOG, "high": 0.0001}}}, "low 0.001 must be below high 0.0001"),
        ({"space": {RATE: {**LOG, "low": 0}}}, "low 0 must be above 0 with `kind: log`"),
        ({"space": {EPOCHS: {"kind": "uniform", "low": 1, "high": 4}}},
         "space.algorithm.epochs: 2.146: .*algorithm.epochs: input should be a valid integer"),
        ({"space": {EPOCHS: {"kind": "int", "low": 0, "high": 4}}}, f"space.{EPOCHS}: 0: .*greater than or equal to 1"),
        ({"space": {"learner.network.preset": {"kind": "choice", "values": ["micro", "giant"]}}}, "giant: .*'micro', "),
        ({"space": {EPOCHS: {"kind": "choice", "values": [2, 2]}}}, "space.algorithm.epochs: 2 is listed more than once"),
        ({"space": {RATE: LOG}, "fixed": {RATE: 0.01}}, f"space.{RATE}: is also under `fixed`"),
        ({"space": {"seed": {"kind": "int", "low": 0, "high": 4}}}, "space.seed: is set by the sweep itself"),
        ({"base": "pppo"}, "pppo: no such file, and no shipped configuration of .*: did you mean ppo"),
        ({"length": {"unit": "steps"}}, "length.unit: steps: with `kind: online` use iterations or decisions"),
        ({"pruner": {"at": [20, 10]}}, r"pruner.at: \[20, 10\]: must ascend, and stay below length.total, 40"),
        ({"evaluation": {"checkpoint": "best"}}, "evaluation.checkpoint: best: .*use last"),
        ({"final": {"seed": 5000}}, "final.seed: 5000 is that of `evaluation`"),
        ({"final": {"training_seeds": [0, 1]}}, "final.training_seeds: 0 is the base's seed"),
        ({"sampler": {"name": "grid"}}, "sampler.name: .*'grid'"),
        ({"trials": 0}, "trials: .*not 0"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_one_line_that_names_it(
    tmp_path: Path, train_command: Callable[..., Said], changes: dict[str, Any], message: str
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(sweep_settings(tmp_path / "out", **changes)))
    said = train_command("sweep", file, "--dry-run")
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), said
    assert re.search(message, said.err), said.err
    assert not (tmp_path / "out").exists()


def test_without_optuna_one_line_names_the_extra(
    tmp_path: Path, train_command: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    find = study.importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *rest: None if name == "optuna" else find(name, *rest))
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(sweep_settings(tmp_path / "out")))
    said = train_command("sweep", file)
    assert said.code == 2 and "battle-arena[sweep]" in said.err and said.err.count("\n") == 1, said.err
    assert not (tmp_path / "out").exists()


def test_a_dry_run_says_what_it_takes(train_command: Callable[..., Said], tmp_path: Path) -> None:
    said = train_command("sweep", "ppo", "--dry-run", "--set", f"out={tmp_path / 'out'}")
    assert said.code == 0
    assert "ppo: 24 trials of 40 iterations each" in said.out and "0.0003 to 0.01 (log)" in said.out
    assert "6,000 a trial at most" in said.out and "6 more runs, 56,000 battles" in said.out
    assert not (tmp_path / "out").exists()
