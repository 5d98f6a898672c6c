"""The network of a training run: its initial weights and reference policy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from agents.policy import checkpoint, network
from agents.policy.shape import Shape, unlike
from training.offline.config import Config, NetworkSettings
from training.offline.losses import WITH_REFERENCE
from training.offline.reference import KlPenalty
from training.runs.config_reader import BadConfig
from training.runs.parameters import freeze, initialized, take_over
from training.runs.state import finite


def inherited_team_preview(settings: NetworkSettings, last: Path | None) -> bool | None:
    """Return whether a run's network chooses its lead in singles; None: if its data has decisions at team previews.

    last: the run's last checkpoint, if it is resumed. Raises BadInput.
    """
    if settings.team_preview != "auto":
        return settings.team_preview
    source = _source(settings, last)
    return None if source is None else checkpoint.read(source).decides_previews


def _source(settings: NetworkSettings, last: Path | None) -> Path | None:
    return checkpoint.find(settings.start_from) if last is None and settings.start_from else last


def build_network(
    settings: NetworkSettings,
    last: Path | None,
    slots: int = 1,
    team_preview: bool = False,
    has_previews: bool = True,
) -> tuple[network.Network, list[Any]]:
    """Return the network of a run and its lineage: the checkpoints that it descends from, oldest first.

    last: the run's last checkpoint, if it is resumed. Otherwise the weights come from `start_from`, or are random. slots: of
    a side in the battles of its data. team_preview: whether it chooses its lead in singles. has_previews: whether its data
    teaches it to. Raises BadConfig and BadInput.
    """
    shape = replace(_shape(settings), slots=slots, team_preview=team_preview)
    source = _source(settings, last)
    lineage: list[Any] = []
    can_decide = has_previews or (source is not None and checkpoint.read(source).decides_previews)
    if team_preview and not can_decide:
        raise BadConfig(
            "network.team_preview: true: no dataset has decisions at a team preview: build them again with --replace, or "
            "set auto or false"
        )
    if source is None:
        built = initialized(shape, "network")
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
        if not shape.extends(loaded.shape):
            raise BadConfig(f"network.start_from: {source}: {unlike(shape, loaded.shape)}")
        if not finite(loaded):
            raise BadConfig(f"{source}: contains non-finite weights: delete it, and start from an earlier one")
        built = initialized(shape, "network")
        take_over(built, loaded)
    freeze(built, settings.freeze)
    return built, lineage


def untrained(settings: NetworkSettings, seed: int, slots: int = 1, team_preview: bool = False) -> network.Network:
    """Return a randomly initialized network, which depends on the arguments only: see `build_network`."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return initialized(replace(_shape(settings), slots=slots, team_preview=team_preview), "network")


def check_freeze(settings: NetworkSettings) -> None:
    """Raise BadConfig where `freeze` would, without allocating a network."""
    with torch.device("meta"):
        freeze(network.Network(settings.shape), settings.freeze)


def _shape(settings: NetworkSettings) -> Shape:
    return replace(settings.shape, dropout=settings.dropout)


def load_reference(
    config: Config, lineage: list[Any], device: torch.device, team_preview: bool = False
) -> KlPenalty | None:
    """Load the reference policy of a run; None if neither the KL penalty nor the rule needs one.

    lineage: of `build_network`. team_preview: whether the run's network chooses its lead in singles. Raises BadConfig and
    BadInput.
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
    frozen, about = checkpoint.load(folder, device)
    if unfit := about.unfit_as_reference(team_preview=team_preview):
        raise BadConfig(f"reference.checkpoint: {folder}: {unfit}")
    return KlPenalty(frozen, settings.coefficient, settings.target, checkpoint.identity(folder))
