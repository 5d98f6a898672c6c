"""What an ablation asks of a kind of cell (a training run, a curriculum): a plan with sizes, and to run one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from training.ablation.config import Ablation, Quantity
from training.config import BadConfig

#: A quantity that can be asked to be equal -> the sizes that it means; steps only where what they process is not known.
_MEANT: dict[Quantity, tuple[str, ...]] = {
    "parameters": ("parameters",),
    "data": ("decisions", "battles"),
    "compute": ("processed", "steps", "batch"),
}
#: Whole pairs of battles and whole steps cannot be cut to the decision: such a share may be missing.
_CUT = 0.02


@dataclass(frozen=True)
class Planned:
    """A variant before it is run. sizes: name -> number; processed: decisions that its steps go through, on average.

    data: its datasets in words. exact: nothing is only reckoned.
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


def meant(quantity: Quantity, sizes: Collection[str]) -> list[str]:
    """The sizes, of those that the variants have, that must be the same where a quantity is to be equal."""
    passed_over = "steps" if "processed" in sizes else ""
    return [size for size in _MEANT[quantity] if size in sizes and size != passed_over]


def check_equal(ablation: Ablation, plan: Sequence[Planned]) -> None:
    """Raises BadConfig that says which quantity differs between which variants, of those that must not."""
    known = {size for one in plan for size in one.sizes}
    for quantity in ablation.equal:
        for size in meant(quantity, known):
            told = {one.variant: one.sizes[size] for one in plan if size in one.sizes}
            least, most = min(told, key=lambda name: told[name]), max(told, key=lambda name: told[name])
            step = max(one.sizes["processed"] / one.sizes["steps"] for one in plan) if size == "processed" else 0
            may_miss = {"decisions": _CUT * told[most], "processed": max(step, _CUT * told[most])}
            if told[most] - told[least] > may_miss.get(size, 0):
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
