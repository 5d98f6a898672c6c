"""What the policy-gradient rules share: returns and advantages, and the terms of their losses.

Sources: Sutton & Barto 2018 (returns); Schulman et al. 2016 (generalized advantage estimation).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from agents.policy.distributions import entropy, log_prob_of, log_probs
from training.envs.network_players import behaviour_log_probs
from training.online.rollout import Rollout

if TYPE_CHECKING:
    from training.online.trainer import Trainer


def advantages(rollout: Rollout, rewards: Tensor, discount: float, gae_lambda: float) -> Tensor:
    """Return the advantages A [D] of the actions played, by generalized advantage estimation:

        δ_t = r_t + γ V_{t+1} - V_t,    A_t = δ_t + γ λ A_{t+1}

    V after the last decision is 0 if the battle has ended, else the rollout's `bootstrap`. rewards: [D].
    """
    padded = rollout.padded()
    valid, values = padded.valid_mask, padded.take(rollout.values)  # [B, T]
    given = padded.take(rewards)
    estimated = torch.zeros_like(values)
    next_value, advantage = rollout.bootstrap * ~rollout.terminated, torch.zeros_like(rollout.bootstrap)  # [B]
    for t in reversed(range(values.shape[1])):
        here = valid[:, t]
        delta = given[:, t] + discount * next_value - values[:, t]
        advantage = torch.where(here, delta + discount * gae_lambda * advantage, advantage)
        next_value = torch.where(here, values[:, t], next_value)
        estimated[:, t] = advantage
    return rollout.packed(padded, estimated)


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


class PolicyTerms(NamedTuple):
    """log_prob: log μ(a | h) [n] of the actions, as they are played; ratio: μ(a | h) / μ_played(a | h) [n], 1 in the first
    step of a rollout. entropy: of π at temperature 1, mean, nats.

    penalty: coefficient · mean KL to the reference, where that is in the loss; else 0.
    """

    log_prob: Tensor
    ratio: Tensor
    entropy: Tensor
    penalty: Tensor


def policy_terms(
    trainer: Trainer, rollout: Rollout, index: Tensor, logits: Tensor, reference: Tensor | None
) -> PolicyTerms:
    """index: int64 [n], decisions of the rollout. logits: [n, 13], the network's for them. reference: logits [D, 13]."""
    legal = rollout.legal[index]
    log_prob = log_prob_of(behaviour_log_probs(logits, legal, rollout.manner), rollout.actions[index])
    return PolicyTerms(
        log_prob,
        (log_prob - rollout.log_probs[index]).exp(),
        entropy(log_probs(logits, legal)).mean(),
        trainer.penalty(logits, None if reference is None else reference[index], legal),
    )
