"""The network of a training run: its initial weights and reference policy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from agents.policy import checkpoint, network
from training.offline.config import Config, NetworkSettings
from training.offline.losses import WITH_REFERENCE
from training.offline.reference import KlPenalty
from training.runs.config_reader import BadConfig
from training.runs.parameters import freeze
from training.runs.state import finite


def build_network(settings: NetworkSettings, last: Path | None, slots: int = 1) -> tuple[network.Network, list[Any]]:
    """Return the network of a run and its lineage: the checkpoints that it descends from, oldest first.

    last: the run's last checkpoint, if it is resumed. Otherwise the weights come from `start_from`, or are random. slots: of
    a side in the battles of its data. Raises BadConfig and BadInput.
    """
    shape = replace(_shape(settings), slots=slots)
    source = checkpoint.find(settings.start_from) if last is None and settings.start_from else last
    lineage: list[Any] = []
    if source is None:
        built = network.Network(shape)
    else:
        loaded, about = checkpoint.load(source)
        lineage = [*about.lineage]
        if last is None:
            identity = checkpoint.identity(source)
            lineage.append({"checkpoint": checkpoint.name_of(source), "step": about.step, "identity": identity})
        if loaded.shape.slots != slots:
            plays, data = ("doubles", "singles") if slots == 1 else ("singles", "doubles")
            raise BadConfig(
                f"network.start_from: {source} plays {plays}, and the data is of {data}: choose another one"
            )
        if loaded.shape.policies > 1:
            raise BadConfig(
                f"network.start_from: {source} has a network for each slot, which only `train online` trains: choose "
                "another one"
            )
        if replace(loaded.shape, dropout=settings.dropout) != shape:
            raise BadConfig(f"network.start_from: {source} is not of the preset {settings.preset}")
        if not finite(loaded):
            raise BadConfig(f"{source}: contains non-finite weights: delete it, and start from an earlier one")
        built = network.Network(shape)
        built.load_state_dict(loaded.state_dict())
    freeze(built, settings.freeze)
    return built, lineage


def untrained(settings: NetworkSettings, seed: int, slots: int = 1) -> network.Network:
    """Return a randomly initialized network, which depends on the settings and the seed only. slots: of a side in battle."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return network.Network(replace(_shape(settings), slots=slots))


def check_freeze(settings: NetworkSettings) -> None:
    """Raise BadConfig where `freeze` would, without allocating a network."""
    with torch.device("meta"):
        freeze(network.Network(network.PRESETS[settings.preset]), settings.freeze)


def _shape(settings: NetworkSettings) -> network.Shape:
    return replace(network.PRESETS[settings.preset], dropout=settings.dropout)


def load_reference(config: Config, lineage: list[Any], device: torch.device) -> KlPenalty | None:
    """Load the reference policy of a run; None if neither the KL penalty nor the rule needs one.

    lineage: of `build_network`. Raises BadConfig and BadInput.
    """
    settings = config.reference
    needed = config.algorithm.name in WITH_REFERENCE
    if not settings.coefficient and not needed:
        return None
    if settings.checkpoint:
        folder = checkpoint.find(settings.checkpoint)
    elif config.network.start_from:
        # The checkpoint that it started from, even if @best has moved since.
        folder = checkpoint.find(lineage[-1]["checkpoint"])
    else:
        otherwise = f"`{config.algorithm.name}` needs a reference" if needed else "or use coefficient 0"
        raise BadConfig(f"reference.checkpoint: not set, nor is network.start_from: set one, {otherwise}")
    frozen, _ = checkpoint.load(folder, device)
    return KlPenalty(frozen, settings.coefficient, settings.target, checkpoint.identity(folder))
