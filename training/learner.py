"""The network that a run trains: where its weights come from, which stay as they are, which policy it stays near to."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import torch
from torch import nn

from agents.policy import checkpoint, network
from agents.policy.parameter_names import former_name
from training.algorithms.reference import Reference
from training.config import BadConfig, Config, Network
from training.state import finite


def learner(told: Network, last: Path | None) -> tuple[network.Network, list[Any]]:
    """The network of the run's `last` checkpoint, else of the one that it starts from, else a new one; and its lineage.

    The lineage names the checkpoints that it came from, the oldest first. Raises BadConfig and BadInput.
    """
    shape = _shape(told)
    came_from = checkpoint.find(told.start_from) if last is None and told.start_from else last
    lineage: list[Any] = []
    if came_from is None:
        made = network.Network(shape)
    else:
        loaded, about = checkpoint.load(came_from)
        lineage = [*about.lineage]
        if last is None:
            identity = checkpoint.identity(came_from)
            lineage.append({"checkpoint": str(came_from), "step": about.step, "identity": identity})
        if replace(loaded.shape, dropout=told.dropout) != shape:
            raise BadConfig(f"network.start_from: {came_from} is not of the preset {told.preset}")
        if not finite(loaded):
            raise BadConfig(f"{came_from}: contains non-finite weights: delete it, and start from an earlier one")
        made = network.Network(shape)
        made.load_state_dict(loaded.state_dict())
    freeze(made, told.freeze)
    return made, lineage


def untrained(told: Network, seed: int) -> network.Network:
    """A network with its first weights, which depend on the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return network.Network(_shape(told))


def freeze(made: nn.Module, patterns: list[str]) -> None:
    """Takes the parameters whose names match any of the patterns out of what is learned.

    A pattern that matches no name is tried on the names of earlier versions. Raises BadConfig for one that matches none of
    these either, and where nothing is left.
    """
    parameters = dict(made.named_parameters())
    for pattern in patterns:
        matching = [name for name in parameters if fnmatchcase(name, pattern)]
        matching = matching or [name for name in parameters if fnmatchcase(former_name(name), pattern)]
        if not matching:
            first = ", ".join(dict.fromkeys(name.split(".")[0] for name in parameters))
            raise BadConfig(f"network.freeze: '{pattern}' matches no parameter: their names begin with {first}")
        for name in matching:
            parameters[name].requires_grad_(False)
    if not any(parameter.requires_grad for parameter in parameters.values()):
        raise BadConfig(f"network.freeze: {', '.join(patterns)} leaves no trainable parameter: freeze less")


def can_be_frozen(told: Network) -> None:
    """Raises BadConfig where `freeze` would, without making a network."""
    with torch.device("meta"):
        freeze(network.Network(network.PRESETS[told.preset]), told.freeze)


def _shape(told: Network) -> network.Shape:
    return replace(network.PRESETS[told.preset], dropout=told.dropout)


def learned(made: nn.Module, decay: float) -> list[dict[str, Any]]:
    """What is not frozen, as the optimizer takes it: matrices decay; biases, norms and what is one vector do not."""
    parameters = [parameter for parameter in made.parameters() if parameter.requires_grad]
    matrices = [parameter for parameter in parameters if parameter.ndim >= 2]
    others = [parameter for parameter in parameters if parameter.ndim < 2]
    return [{"params": matrices, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]


def reference_of(config: Config, lineage: list[Any], device: torch.device) -> Reference | None:
    """The policy that the learner with this lineage stays near to; None, and nothing is loaded, where the coefficient is 0.

    Raises BadConfig and BadInput.
    """
    told = config.reference
    if not told.coefficient:
        return None
    if told.checkpoint:
        folder = checkpoint.find(told.checkpoint)
    elif config.network.start_from:
        folder = Path(lineage[-1]["checkpoint"])  # where it really began, whatever @best is by now
    else:
        raise BadConfig("reference.checkpoint: not set, nor is network.start_from: set one, or use coefficient 0")
    frozen, _ = checkpoint.load(folder, device)
    return Reference(frozen, told.coefficient, told.target, checkpoint.identity(folder))
