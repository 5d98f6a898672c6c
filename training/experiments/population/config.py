"""The configuration of a population. As everywhere, every key is in the YAML file."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from training.online.config import OnlineConfig
from training.runs.common_settings import EvaluationSettings
from training.runs.config_reader import BadConfig, Section, read_settings, validated
from training.runs.settings import put
from training.runs.shipped import resolve_path


class Range(Section):
    """A setting that is explored, between `low` and `high`. It is drawn log-uniformly at first, then multiplied or divided.

    factor: by how much.
    """

    low: Annotated[float, Field(gt=0)]
    high: Annotated[float, Field(gt=0)]
    factor: Annotated[float, Field(gt=1)]


class Population(Section):
    """A population. out: its folder. base: of `train online`: an example's name, a file, or settings.

    rounds: of training and rating. iterations: of each member in each round. exploit: the share of members, from the
    weakest, that take over the weights and settings of one of as many of the strongest. explore: dotted key of `base` -> its
    range.
    evaluation: the battles by which members are rated; `every` and `best_by` are ignored.
    """

    name: str
    out: str
    seed: int
    base: str | dict[str, Any]
    members: Annotated[int, Field(ge=2)]
    rounds: Annotated[int, Field(ge=1)]
    iterations: Annotated[int, Field(ge=1)]
    exploit: Annotated[float, Field(gt=0, le=0.5)]
    explore: Annotated[dict[str, Range], Field(min_length=1)]
    evaluation: EvaluationSettings

    printed_by: ClassVar[str] = "train config --population ppo"

    def check(self) -> None:
        for key, each in self.explore.items():
            if each.low >= each.high:
                raise BadConfig(f"explore.{key}: low {each.low:g} must be below high {each.high:g}")
        member_config(self, {key: each.low for key, each in self.explore.items()}, "", Path("check"), 0)


def member_config(population: Population, chosen: dict[str, float], parent: str, out: Path, seed: int) -> OnlineConfig:
    """Return the run of a member in a round. chosen: key -> value. parent: checkpoint; "": as in the base.

    Raises BadConfig.
    """
    base = population.base
    settings = copy.deepcopy(base) if isinstance(base, dict) else read_settings(resolve_path(base, "online"))
    every = population.iterations
    changes = {**chosen, "name": f"{population.name}-{out.parent.name}-{out.name}", "out": str(out), "seed": seed}
    changes |= {"iterations": every, "checkpoints.every": every, "checkpoints.keep": 1, "evaluation.every": 0}
    if parent:
        changes["learner.network.start_from"] = parent
    for key, value in changes.items():
        try:
            put(settings, key, value)
        except LookupError:
            raise BadConfig(f"explore: {key}: the base has no such setting: check its spelling") from None
    return validated(OnlineConfig, settings, f"population {population.name}")
