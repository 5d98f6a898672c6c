"""What an ablation asks of a kind of cell (a training run, a curriculum): a plan with sizes, and to run one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from training.ablation.config import Ablation, Quantity
from training.config import BadConfig

#: A quantity that can be asked to be equal -> the sizes that it means.
MEANT: dict[Quantity, tuple[str, ...]] = {
    "parameters": ("parameters",),
    "data": ("decisions", "battles"),
    "compute": ("steps", "batch"),
}
#: Whole pairs of battles cannot be cut to the decision: such a share may be missing.
_CUT = 0.02


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


def parameters(preset: str) -> int:
    """How many a network of a preset has. Needs torch, which is imported here so that a report of an ablation does not."""
    import torch

    from agents.policy.network import PRESETS, Network

    with torch.device("meta"):
        return Network(PRESETS[preset]).parameter_count
