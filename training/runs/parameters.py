"""The parameters of a network: which are frozen, and which have weight decay."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from torch import nn

from training.runs.config_reader import BadConfig


def freeze(module: nn.Module, patterns: list[str]) -> None:
    """Freeze the parameters whose names match any of the patterns (as in fnmatch).

    Raises BadConfig for a pattern that matches none, or if no trainable parameter is left.
    """
    parameters = dict(module.named_parameters())
    for pattern in patterns:
        matching = [name for name in parameters if fnmatchcase(name, pattern)]
        if not matching:
            prefixes = ", ".join(dict.fromkeys(name.split(".")[0] for name in parameters))
            raise BadConfig(f"network.freeze: '{pattern}' matches no parameter: their names begin with {prefixes}")
        for name in matching:
            parameters[name].requires_grad_(False)
    if not any(parameter.requires_grad for parameter in parameters.values()):
        raise BadConfig(f"network.freeze: {', '.join(patterns)} leaves no trainable parameter: freeze less")


def parameter_groups(module: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Return the trainable parameters as optimizer groups: weight decay for matrices, none for biases, norms and vectors."""
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    matrices = [parameter for parameter in parameters if parameter.ndim >= 2]
    others = [parameter for parameter in parameters if parameter.ndim < 2]
    return [{"params": matrices, "weight_decay": weight_decay}, {"params": others, "weight_decay": 0.0}]
