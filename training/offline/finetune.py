"""The options of `train finetune`, as changes of a complete configuration, so that the run's YAML file has all of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from agents.policy import checkpoint
from agents.policy.shape import nearest_preset
from teamsets.errors import BadInput
from training.data.rebuild_command import HELD_OUT
from training.data.targets import PolicyFrom
from training.offline.config import Config
from training.runs.config_reader import validated
from training.runs.shipped import text

Objective = Literal["cloning", "offline-rl"]
#: `expert_value_weight` of --distil if the configuration has 0.
DISTILLED_VALUE = 0.5
#: The preset with the settings of an objective that differs from the configuration's.
_OBJECTIVES = {"cloning": "finetune", "offline-rl": "tiny-offline-rl"}


@dataclass(frozen=True)
class FineTuning:
    """Fine-tuning of the checkpoint `start_from` in the run folder `out`, on the dataset `out`/data.

    own_weight: sampling weight of that dataset; policy_from: its sides in the policy loss; mix: further datasets with their
    weights. holds_out: whether it has a held-out part. distil: an expert's target policies and win probabilities are
    targets. None, and an empty freeze, keep the configuration's setting.
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
        """The dataset of the selected battles."""
        return self.out / "data"

    def config(self, base: Config) -> Config:
        """Return `base` with these changes. Raises BadInput, and BadConfig for invalid values."""
        settings: dict[str, Any] = base.model_dump(mode="json")
        settings["out"] = str(self.out)
        folder = checkpoint.find(self.start_from.removeprefix("policy:"))
        settings["network"]["start_from"] = _pinned(folder)
        settings["network"] |= _size(folder)
        settings["network"]["freeze"] = list(self.freeze) or settings["network"]["freeze"]
        own = {"path": str(self.data), "weight": self.own_weight, "policy_from": self.policy_from}
        settings["data"]["train"] = [own, *({"path": path, "weight": weight} for path, weight in self.mix)]
        if self.holds_out:
            settings["data"]["validate_on"].insert(0, f"{self.data}{HELD_OUT}")
        if self.epochs is not None:
            settings["length"]["epochs"] = self.epochs
        self._learn(settings)
        return validated(Config, settings, "finetune")

    def _learn(self, settings: dict[str, Any]) -> None:
        if self.objective not in (None, settings["algorithm"]["name"]):
            settings["algorithm"] = yaml.safe_load(text(_OBJECTIVES[str(self.objective)], "preset"))["algorithm"]
        if self.distil:
            if settings["algorithm"]["name"] != "cloning":
                raise BadInput("--distil: only cloning trains on expert targets: add --objective cloning")
            settings["algorithm"]["targets"] = "target_policy"
            settings["algorithm"]["expert_value_weight"] = (
                settings["algorithm"]["expert_value_weight"] or DISTILLED_VALUE
            )
        if self.kl is not None:
            settings["reference"]["coefficient"] = self.kl
        if self.kl_target is not None:
            if self.kl_target and not settings["reference"]["coefficient"]:
                raise BadInput("--kl-target: there is no KL coefficient to adapt: add --kl 0.1")
            settings["reference"]["target"] = self.kl_target


def _pinned(folder: Path) -> str:
    """Return a checkpoint's path with its step, since @best may move."""
    return folder.name if folder.parent == checkpoint.SHIPPED else str(folder)


def _size(folder: Path) -> dict[str, Any]:
    """Return the settings of a checkpoint's size. Raises BadInput."""
    preset, sizes = nearest_preset(checkpoint.shape_of(folder))
    return {"preset": preset, "sizes": sizes}
