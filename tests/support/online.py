"""Configurations and trainers of online training that are small enough for a test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from support.matrix_game import MatrixGame, MatrixGames
from training.online.collecting import RolloutPlan, SeatAssignment
from training.online.config import OnlineConfig
from training.online.rollout import Rollout
from training.online.rules import trainer_class
from training.online.trainer import LEARNER, Trainer
from training.runs.config_reader import validated
from training.runs.settings import Change, changed
from training.runs.shipped import resolve_path

#: What every test wants: one thread, few battles, no metrics elsewhere.
SMALL = {
    "compute.threads": 1,
    "rollout.battles": 12,
    "rollout.teams": [{"set": "competitive", "weight": 1.0}],
    "rollout.held_out": [],
    "tracking.wandb": "disabled",
}


def without_clock(metrics: Mapping[str, float]) -> dict[str, float]:
    """Of an iteration's metrics, what does not depend on the clock."""
    timed = ("seconds/", "total_seconds", "decisions_per_s", "memory_mib")
    return {key: value for key, value in metrics.items() if not key.startswith(timed)}


def settings(name: str = "ppo", **changes: Any) -> OnlineConfig:
    """A shipped example, made small. changes: dotted keys, with __ for each dot."""
    from training.runs.config_reader import read_yaml

    found = {**SMALL, **{key.replace("__", "."): value for key, value in changes.items()}}
    told = changed(read_yaml(resolve_path(name, "online")), [Change(*each) for each in found.items()], name)
    return validated(OnlineConfig, told, name)


def trainer(name: str = "ppo", **changes: Any) -> Trainer:
    """A trainer on the engine."""
    config = settings(name, **changes)
    return trainer_class(name)(config)


def matrix_trainer(wins: list[list[float]], name: str = "ppo", battles: int = 256, **changes: Any) -> Trainer:
    """A trainer of a matrix game, by self-play only unless `changes` says otherwise."""
    alone = {"league__members": [{"who": "opponent", "weight": 1.0}], "rollout__battles": battles}
    config = settings(name, **{**alone, **changes})
    return trainer_class(name)(config, battles=MatrixGame(battles, wins), games=MatrixGames())


def collected(one: Trainer, group: int = 1, branch_at: int = 0, both: bool = False) -> Rollout:
    """One rollout of the learner, which also plays the opponent where the league names the role."""
    role = one.roles[LEARNER]
    one.league.opponent = SeatAssignment("self", role.network, role.manner, LEARNER)
    count = one.config.rollout.battles
    plays = SeatAssignment(LEARNER, role.network, role.manner, LEARNER)
    plan = RolloutPlan(0, count, group, branch_at, both, frozenset([LEARNER]), plays, one.league.weights)
    return one._collector.collect(plan, one.league)[LEARNER]
