"""Returns and advantages from the rewards and values of trajectories (Sutton & Barto 2018; GAE: Schulman et al. 2016)."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from training.online.rollout import Rollout


def advantages(rollout: Rollout, rewards: Tensor, discount: float, gae_lambda: float) -> Tensor:
    """Return the advantages A [D] of the actions played, by generalized advantage estimation:

        δ_t = r_t + γ V_{t+1} - V_t,    A_t = δ_t + γ λ A_{t+1}

    V after the last decision is 0 if the battle has ended, else the rollout's `bootstrap`. rewards: [D].
    """
    padded = rollout.padded()
    valid, values = padded.valid_mask, padded.take(rollout.values)  # [B, T]
    given = padded.take(rewards)
    found = torch.zeros_like(values)
    next_value, advantage = rollout.bootstrap * ~rollout.terminated, torch.zeros_like(rollout.bootstrap)  # [B]
    for t in reversed(range(values.shape[1])):
        here = valid[:, t]
        delta = given[:, t] + discount * next_value - values[:, t]
        advantage = torch.where(here, delta + discount * gae_lambda * advantage, advantage)
        next_value = torch.where(here, values[:, t], next_value)
        found[:, t] = advantage
    return rollout.packed(padded, found)


def td_errors(rewards: Tensor, values: Tensor, valid: Tensor, bootstrap: Tensor, discount: float) -> Tensor:
    """Return δ_t = r_t + γ V_{t+1} - V_t [B, T]. The successor's value is a target: no gradient flows into it.

    rewards, values: [B, T]; valid: bool [B, T], padding at the end; bootstrap: [B], the value after the last decision.
    """
    after = torch.cat([values[:, 1:], torch.zeros_like(values[:, :1])], dim=1)  # [B, T]
    last = valid & ~torch.cat([valid[:, 1:], torch.zeros_like(valid[:, :1])], dim=1)
    successor = torch.where(last, bootstrap[:, None], after).detach()
    return rewards + discount * successor - values


def last_values(values: Tensor, valid: Tensor) -> Tensor:
    """Return the values [B] of the last decisions, without gradient.

    values: [B, T]; valid: bool [B, T], padding at the end.
    """
    return values.gather(1, valid.sum(1, keepdim=True) - 1)[:, 0].detach()


def discounted(rollout: Rollout, rewards: Tensor, discount: float) -> Tensor:
    """Return Σ_k γ^k r_{t+k} [D] of each decision, with the bootstrap value of a truncated trajectory. rewards: [D]."""
    return advantages(replace(rollout, values=torch.zeros_like(rollout.values)), rewards, discount, 1.0)
