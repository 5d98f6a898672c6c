"""Behaviour cloning of stored decisions, with a value head trained on the results of the battles.

The policy loss of a decision is the cross-entropy between a target distribution p and the policy:

    L_policy = - Σ_a  p(a) log π(a | decisions so far)

`algorithm.targets: choices`         p is 1 for the action played. Decisions with an unknown action are masked.
`algorithm.targets: target_policy`   p is the expert's target policy (a search's visit shares, a DAgger expert's
                                     probabilities) where the dataset has one, else 1 for the action played. Decisions
                                     whose expert gave no usable target are masked (training/data/targets.py). The
                                     expert's is raised to the power `target_sharpness` and normalised.

The value head predicts the result as a categorical distribution over `bins` values from 0 (lost) to 1 (won). Its target is
the two-hot encoding of the result; where the expert reported a win probability v, the two are mixed with the weight
w = `expert_value_weight` (two-hot targets: Schrittwieser et al. 2020, MuZero, appendix F):

    L_value = - Σ_c  ((1 - w) · two-hot(result) + w · two-hot(v))_c  log V_c

The total loss, summed over the batch's decisions, is

    L = L_policy + value_weight · L_value

`data.train[].policy_from` and `value_from` select the sides that enter each sum.

    train base my.yaml        with `algorithm: {name: cloning, ...}`
"""

from __future__ import annotations

import torch
from torch import Tensor

from agents.policy.distributions import log_prob_of, log_probs
from agents.policy.network import Output, two_hot
from training.data.targets import Target
from training.offline.config import Cloning
from training.offline.tensors import Sums, Tensors, policy_metrics


def loss(output: Output, batch: Tensors, settings: Cloning) -> tuple[Tensor, Sums]:
    """Return the loss summed over the batch's decisions, and the sums behind the metrics.

    output: the network's logits [B, T, 13] (-inf for illegal actions) and value logits [B, T, bins].
    """
    log_policy = log_probs(output.logits, batch.legal)  # [B, T, 13]
    mask = batch.action_known  # [B, T], the decisions in the policy loss
    policy_loss = -log_prob_of(log_policy, batch.actions)  # [B, T]
    if settings.targets == "target_policy":
        from_expert = batch.targets == Target.EXPERT  # [B, T]
        target = sharpened(batch.target_policy, settings.target_sharpness)  # [B, T, 13]
        cross_entropy = -(target * log_policy).sum(-1)  # [B, T]
        policy_loss = torch.where(from_expert, cross_entropy, policy_loss)
        # An expert's target needs no known action; a decision whose expert gave no usable target has none.
        mask = torch.where(batch.targets == Target.CHOICE, mask, batch.in_policy_loss & from_expert)
    policy_sum = (policy_loss * mask).sum()

    bins = output.value.shape[-1]
    value_target = two_hot(batch.results, bins)[:, None]  # [B, 1, bins]
    if settings.expert_value_weight:
        has_value = torch.isfinite(batch.values)  # [B, T]
        weight = settings.expert_value_weight * has_value[..., None]  # [B, T, 1]
        expert_target = two_hot(batch.values.nan_to_num(), bins)  # [B, T, bins]
        value_target = (1 - weight) * value_target + weight * expert_target  # [B, T, bins]
    value_loss = -(value_target * torch.log_softmax(output.value, dim=-1)).sum(-1)  # [B, T]
    value_sum = (value_loss * batch.in_value_loss).sum()

    sums: Sums = {
        "policy_loss": (policy_sum.detach(), mask.sum()),
        "value_loss": (value_sum.detach(), batch.in_value_loss.sum()),
        **policy_metrics(output.logits.detach(), log_policy.detach(), batch),
    }
    return policy_sum + settings.value_weight * value_sum, sums


def sharpened(policy: Tensor, power: float) -> Tensor:
    """Return policies [..., 13] raised to a power and normalised; one of zeros, which is none, as it is."""
    if power == 1:
        return policy
    raised = (policy / policy.amax(-1, keepdim=True).clamp(min=1e-9)) ** power
    return raised / raised.sum(-1, keepdim=True).clamp(min=1e-9)
