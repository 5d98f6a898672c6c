"""The interface of a kind of cell (training run or curriculum): a plan with sizes, and a function that runs a cell."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from agents.policy.shape import Shape
from training.experiments.ablation.config import Ablation, Quantity
from training.runs.config_reader import BadConfig

#: Quantity in `equal` -> the sizes that must be equal; steps only if the number of processed decisions is unknown.
_SIZES: dict[Quantity, tuple[str, ...]] = {
    "parameters": ("parameters",),
    "data": ("decisions", "battles"),
    "compute": ("processed", "steps", "batch"),
}
#: Relative tolerance of decisions: whole pairs of battles and whole steps cannot be divided.
_TOLERANCE = 0.02


@dataclass(frozen=True)
class Planned:
    """A variant before it is run.

    sizes: name -> number; `processed`: mean number of decisions that all its steps process. data: its datasets as text.
    exact: False if sizes are estimates. cells: seed -> settings of the cell, for `Kind.run`.
    """

    variant: str
    sizes: dict[str, int]
    data: str
    exact: bool
    cells: dict[int, Any]


@dataclass(frozen=True)
class Kind:
    """A kind of cell. plan(ablation, make): make: build missing datasets. run(settings, which): train, return the spec."""

    plan: Callable[[Ablation, bool], list[Planned]]
    run: Callable[[Any, str], str]


def meant(quantity: Quantity, sizes: Collection[str]) -> list[str]:
    """Return which of the variants' sizes must be equal for a quantity."""
    skipped = "steps" if "processed" in sizes else ""
    return [size for size in _SIZES[quantity] if size in sizes and size != skipped]


def check_equal(ablation: Ablation, plan: Sequence[Planned]) -> None:
    """Raise BadConfig that names a quantity in `equal` that differs, and the variants."""
    known = {size for planned in plan for size in planned.sizes}
    for quantity in ablation.equal:
        for size in meant(quantity, known):
            values = {planned.variant: planned.sizes[size] for planned in plan if size in planned.sizes}
            least, most = min(values, key=lambda name: values[name]), max(values, key=lambda name: values[name])
            step = (
                max(planned.sizes["processed"] / planned.sizes["steps"] for planned in plan)
                if size == "processed"
                else 0
            )
            tolerance = {"decisions": _TOLERANCE * values[most], "processed": max(step, _TOLERANCE * values[most])}
            if values[most] - values[least] > tolerance.get(size, 0):
                raise BadConfig(
                    f"equal: {quantity}: {size} cannot be made equal, {least} has {values[least]:,} and {most} "
                    f"{values[most]:,}: change the grid, or take {quantity} out of `equal`"
                )


def parameters(shape: Shape) -> int:
    """Return the number of parameters of a network. Imports torch here, so that an ablation's report does not need it."""
    import torch

    from agents.policy.network import Network

    with torch.device("meta"):
        return Network(shape).parameter_count
