"""What a cell of an ablation may be, and what must be equal: a training run, or a curriculum.

A kind makes a plan (the sizes of each variant, and the whole settings of each of its cells), and runs a cell. Both are a
function here; the rest of an ablation asks nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from accelerate.state import AcceleratorState

from agents.policy import checkpoint
from agents.policy.network import PRESETS, Network
from training.ablation.config import Ablation, Quantity, cell_settings, variants
from training.ablation.data import Portion, cut, validation_folder, whole
from training.config import BadConfig, Config, checked
from training.trainer import total_steps, train

#: A quantity that can be asked to be equal -> the sizes that it means.
MEANT: dict[Quantity, tuple[str, ...]] = {
    "parameters": ("parameters",),
    "data": ("decisions", "battles"),
    "compute": ("steps", "batch"),
}
#: Whole pairs of battles cannot be cut to the decision: such a share may be missing.
_CUT = 0.01


@dataclass(frozen=True)
class Planned:
    """A variant before it is run. sizes: name -> number. data: its datasets in words. exact: nothing is only reckoned.

    cells: seed -> the settings of its cell, ready for `Kind.run`.
    """

    variant: str
    sizes: dict[str, int]
    data: str
    exact: bool
    cells: dict[int, Any]


@dataclass(frozen=True)
class Kind:
    """plan(ablation, make): make builds what is not there. run(settings, which): trains, and says the player's spec."""

    plan: Callable[[Ablation, bool], list[Planned]]
    run: Callable[[Any, str], str]


def check_equal(ablation: Ablation, plan: Sequence[Planned]) -> None:
    """Raises BadConfig that says which quantity differs between which variants, of those that must not."""
    for quantity in ablation.equal:
        for size in MEANT[quantity]:
            told = {one.variant: one.sizes[size] for one in plan if size in one.sizes}
            if not told:
                continue
            least, most = min(told, key=lambda name: told[name]), max(told, key=lambda name: told[name])
            if told[most] - told[least] > (_CUT * told[most] if size == "decisions" else 0):
                raise BadConfig(
                    f"equal: {quantity}: {size} cannot be made equal, {least} has {told[least]:,} and {most} "
                    f"{told[most]:,}: change the grid, or take {quantity} out of `equal`"
                )


def plan_training(ablation: Ablation, make: bool) -> list[Planned]:
    """Training runs. Where data is to be equal, larger sets are cut; where compute is, all take the steps of the least."""
    asked = {name: _checked(ablation, name, ablation.seeds[0]) for name in variants(ablation)}
    data = {name: _portions(ablation, config, make) for name, config in asked.items()}
    if "data" in ablation.equal:
        least = min(map(_decisions, data.values()))
        data = {
            name: {
                each: cut(ablation, each, portion, portion.decisions * least // _decisions(portions), make=make)
                for each, portion in portions.items()
            }
            for name, portions in data.items()
        }
    steps = {
        name: total_steps(config, sum(portion.trajectories for portion in data[name].values()))
        for name, config in asked.items()
    }
    limit = min(steps.values()) if "compute" in ablation.equal else 0
    return [
        Planned(
            name,
            {
                "parameters": _parameters(config),
                "decisions": _decisions(data[name]),
                "trajectories": sum(portion.trajectories for portion in data[name].values()),
                "steps": limit or steps[name],
                "batch": config.data.batch,
            },
            ", ".join(f"{portion.decisions:,} of {each}" for each, portion in data[name].items()),
            all(portion.exact for portion in data[name].values()),
            {seed: _ready(ablation, name, seed, data[name], limit) for seed in ablation.seeds},
        )
        for name, config in asked.items()
    ]


def run_training(config: Config, which: str) -> str:
    """Trains to the end, or on from where it was."""
    AcceleratorState._reset_state()  # it would keep the precision of the cell before
    finished = train(config)
    step = finished.step if finished.best is None or which == "last" else finished.best["step"]
    return f"policy:{finished.folder}@{step}"


def _checked(ablation: Ablation, variant: str, seed: int) -> Config:
    config = checked(cell_settings(ablation, variant, seed), f"variant {variant}")
    judged = config.evaluation.every if config.evaluation.best_by == "rating" else config.data.validate_on
    if ablation.evaluation.checkpoint == "best" and not judged:
        raise BadConfig(
            f"variant {variant}: evaluation.checkpoint: nothing judges which is best: name data.validate_on, or say last"
        )
    if config.network.start_from:
        checkpoint.find(config.network.start_from)
    return config


def _portions(ablation: Ablation, config: Config, make: bool) -> dict[str, Portion]:
    return {source.path: whole(ablation, source.path, make=make) for source in config.data.train}


def _decisions(portions: dict[str, Portion]) -> int:
    return sum(portion.decisions for portion in portions.values())


def _parameters(config: Config) -> int:
    with torch.device("meta"):
        return Network(PRESETS[config.network.preset]).parameter_count


def _ready(ablation: Ablation, variant: str, seed: int, data: dict[str, Portion], steps: int) -> Config:
    """The cell's configuration with its data's folders, and no more steps than `steps` (0: as many as it says)."""
    told = _checked(ablation, variant, seed).model_dump(mode="json")
    for source in told["data"]["train"]:
        source["path"] = str(data[source["path"]].folder)
    told["data"]["validate_on"] = [validation_folder(ablation, path) for path in told["data"]["validate_on"]]
    told["length"]["most_steps"] = steps or told["length"]["most_steps"]
    return checked(told, f"variant {variant}")


KINDS = {"train": Kind(plan_training, run_training)}
