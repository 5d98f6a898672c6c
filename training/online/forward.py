"""A network over the trajectories of a rollout."""

from __future__ import annotations

from torch import nn

from agents.policy.network import Output
from training.online.rollout import Padded, Rollout


def forward(network: nn.Module, rollout: Rollout, padded: Padded) -> Output:
    """Return a `Network`'s logits [B, T, 13] and value logits [B, T, bins], each battle from its first decision."""
    output: Output = network(
        padded.take(rollout.token_ids), padded.take(rollout.features), padded.take(rollout.legal), padded.valid_mask
    )
    return output
