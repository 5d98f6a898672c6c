"""The parameters of a network: what it takes over from another, which are frozen, and which have weight decay."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from typing import Any

import torch
from torch import nn

from agents.policy.network import Block, Network
from agents.policy.shape import Shape
from training.runs.config_reader import BadConfig


def initialized(shape: Shape, key: str) -> Network:
    """Return a network with random weights.

    key: of the settings of its size, for errors. Raises BadConfig, before anything is allocated, if this machine's memory
    cannot hold its weights, and where no GPU trains it their gradients and AdamW's two moments.
    """
    needed = shape.layer_parameters * (4 if torch.cuda.is_available() else 16)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > memory:
        raise BadConfig(
            f"{key}: {shape.name}: needs {needed / 1e9:,.0f} GB of memory at least, and this machine has "
            f"{memory / 1e9:,.0f} GB: choose a smaller preset or smaller sizes"
        )
    return Network(shape)


@torch.no_grad()
def take_over(network: Network, other: Network) -> None:
    """Give a network the weights of another whose shape its own `extends`, so that it plays as the other does.

    Layers that the other does not have follow its own and output nothing at first, as in Net2Net (Chen et al. 2016). Of a
    network for both slots each slot gets the weights.
    """
    if network.second is not None:
        take_over(network.second, other if other.second is None else other.second)
    own = {name: weight for name, weight in other.state_dict().items() if not name.startswith("second.")}
    network.load_state_dict({**network.state_dict(), **own})
    for layers, others in ((network.token_layers, other.token_layers), (network.layers, other.layers)):
        for added in layers[len(others) :]:
            assert isinstance(added, Block)
            for last in (added.attention_out, added.fc_out):
                nn.init.zeros_(last.weight)
                nn.init.zeros_(last.bias)


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
