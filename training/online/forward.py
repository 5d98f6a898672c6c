"""A network over the trajectories of a rollout."""

from __future__ import annotations

from agents.policy.network import Network, Output
from training.online.rollout import Padded, Rollout


def forward(network: Network, rollout: Rollout, padded: Padded) -> Output:
    """Return logits [B, T, 13] and value logits [B, T, bins], each battle from its first decision."""
    output: Output = network(
        padded.take(rollout.token_ids), padded.take(rollout.features), padded.take(rollout.legal), padded.valid_mask
    )
    return output
