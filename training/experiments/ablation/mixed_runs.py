"""Cells of several kinds in one ablation: training on data beside learning by playing.

`base` has a configuration for each kind, and every variant names its `kind`. Each part is planned as one of its kind.
"""

from __future__ import annotations

from typing import Any

from training.experiments.ablation.cells import Kind, Planned
from training.experiments.ablation.config import Ablation, variants
from training.experiments.ablation.online_runs import ONLINE
from training.experiments.ablation.training_runs import TRAINING
from training.online.config import OnlineConfig
from training.runs.config_reader import BadConfig

_KINDS = {"train": TRAINING, "online": ONLINE}


def _plan(ablation: Ablation, make: bool) -> list[Planned]:
    """Plan each kind's variants. Equal parameters only: cells of different kinds have no other size in common."""
    for quantity in ablation.equal:
        if quantity != "parameters":
            raise BadConfig(
                f"equal: {quantity}: is not the same thing in cells of different kinds: take it out of `equal`, and set the "
                "variants' lengths"
            )
    plan = {one.variant: one for part in _parts(ablation) for one in _KINDS[part.kind].plan(part, make)}
    return [plan[name] for name in variants(ablation)]


def _parts(ablation: Ablation) -> list[Ablation]:
    """The ablation as one of each kind, with the same folder, seeds and data. Raises BadConfig."""
    bases = ablation.base if isinstance(ablation.base, dict) else {}
    if not bases or not set(bases) <= set(_KINDS):
        raise BadConfig(f"base: `kind: mixed` takes a configuration or the name of one for each of {', '.join(_KINDS)}")
    grids: dict[str, dict[str, dict[str, Any]]] = {}
    for name, changes in variants(ablation).items():
        kind = changes.get("kind")
        if kind not in bases:
            raise BadConfig(f"variant {name}: kind {kind!r}: must be one of those in `base`: {', '.join(bases)}")
        grids.setdefault(kind, {})[name] = {key: value for key, value in changes.items() if key != "kind"}
    return [
        ablation.model_copy(update={"kind": kind, "base": bases[kind], "grid": {"variant": grid}})
        for kind, grid in grids.items()
    ]


def _run(settings: Any, which: str) -> str:
    """Train or resume, and return the checkpoint's spec."""
    kind = ONLINE if isinstance(settings, OnlineConfig) else TRAINING
    return kind.run(settings, which)


MIXED = Kind(_plan, _run)
