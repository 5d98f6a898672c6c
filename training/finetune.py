"""What `train finetune` says, as changes of a whole configuration: everything it was told ends in the run's YAML."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from agents.policy import checkpoint
from teamsets.errors import BadInput
from training.config import Config, PolicyFrom, checked, preset_text
from training.data.orders import HELD_OUT

Objective = Literal["cloning", "offline-rl"]
#: The share of a coach's value in what the value head learns, where --distil finds none in the configuration.
DISTILLED_VALUE = 0.5
#: Which presets know the settings of an objective that the configuration has not.
_OBJECTIVES = {"cloning": "finetune", "offline-rl": "tiny-offline-rl"}


@dataclass(frozen=True)
class FineTuning:
    """A run `out` from the checkpoint `start_from` on, on the dataset `out`/data.

    own_weight: of that dataset in the mixture; policy_from: from which of its sides the policy learns; mix: earlier datasets
    with their weights. holds_out: whether it has a part held out. What is None, and no freeze at all, leave what the
    configuration says. distil: a coach's shares and values are targets.
    """

    start_from: str
    out: Path
    own_weight: float = 1.0
    policy_from: PolicyFrom = "all"
    mix: tuple[tuple[str, float], ...] = ()
    holds_out: bool = False
    epochs: float | None = None
    freeze: tuple[str, ...] = ()
    objective: Objective | None = None
    distil: bool = False
    kl: float | None = None
    kl_target: float | None = None

    @property
    def data(self) -> Path:
        """The dataset of the run's own battles."""
        return self.out / "data"

    def config(self, base: Config) -> Config:
        """`base` with these changes. Raises BadInput, and BadConfig for values that make no sense."""
        told: dict[str, Any] = base.model_dump(mode="json")
        told["out"] = str(self.out)
        folder = checkpoint.find(self.start_from.removeprefix("policy:"))
        told["network"]["start_from"] = _pinned(folder)
        told["network"]["preset"] = _preset(folder)
        told["network"]["freeze"] = list(self.freeze) or told["network"]["freeze"]
        own = {"path": str(self.data), "weight": self.own_weight, "policy_from": self.policy_from}
        told["data"]["train"] = [own, *({"path": path, "weight": weight} for path, weight in self.mix)]
        if self.holds_out:
            told["data"]["validate_on"].insert(0, f"{self.data}{HELD_OUT}")
        if self.epochs is not None:
            told["length"]["epochs"] = self.epochs
        self._learn(told)
        return checked(told, "finetune")

    def _learn(self, told: dict[str, Any]) -> None:
        if self.objective not in (None, told["algorithm"]["name"]):
            told["algorithm"] = yaml.safe_load(preset_text(_OBJECTIVES[str(self.objective)]))["algorithm"]
        if self.distil:
            if told["algorithm"]["name"] != "cloning":
                raise BadInput("--distil: only cloning trains on expert targets: add --objective cloning")
            told["algorithm"]["targets"] = "shares"
            told["algorithm"]["coach_value_share"] = told["algorithm"]["coach_value_share"] or DISTILLED_VALUE
        if self.kl is not None:
            told["reference"]["coefficient"] = self.kl
        if self.kl_target is not None:
            if self.kl_target and not told["reference"]["coefficient"]:
                raise BadInput("--kl-target: there is no KL coefficient to adapt: add --kl 0.1")
            told["reference"]["target"] = self.kl_target


def _pinned(folder: Path) -> str:
    """A checkpoint's name that means the same tomorrow, when @best may be another one."""
    return folder.name if folder.parent == checkpoint.SHIPPED else str(folder)


def _preset(folder: Path) -> str:
    """The preset of a checkpoint's shape, whatever its dropout was."""
    from agents.policy.network import PRESETS, Shape

    shape = {**checkpoint.read(folder).shape, "dropout": 0.0}
    for name, preset in PRESETS.items():
        if {**vars(preset), "dropout": 0.0} == shape:
            return name
    raise BadInput(f"checkpoint {folder}: {Shape(**shape)} matches no preset: start from another one")
