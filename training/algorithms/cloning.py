"""Behaviour cloning: do what was done.

For each decision that is known, the loss is the cross-entropy of the policy with the choice,

    L_policy = - Σ_a  p(a) log π(a | history up to here),

where p is 1 for the action taken (`targets: choices`), or an expert's target policy where one gave it, and 1 for the action
taken elsewhere (`targets: shares`; training/data/targets.py says who is an expert, and which decisions have no target since
an expert's is of no use: they are left out). Each dataset says from which sides the policy learns (`policy_from`). The value
is learned beside it, as classes of the result: two-hot cross-entropy with what the side got in the end, from every decision,
won or lost, of the datasets with `value_from: all`. Where a coach declared its chance to win, that chance is
`coach_value_share` of the target's weight, and the result the rest:

    L_value = - Σ_c  ((1 - share) · two-hot(result) + share · two-hot(coach's value))_c  log V_c

The sum of both goes to the optimizer:

    L = L_policy + value_weight · L_value

    train base my.yaml        with `algorithm: {name: cloning, …}`
"""

from __future__ import annotations

import torch
from torch import Tensor

from agents.policy.network import Output, two_hot
from training.algorithms.tensors import Sums, Tensors, log_probabilities, measured, of_actions
from training.config import Cloning
from training.data.targets import Target


def loss(output: Output, batch: Tensors, settings: Cloning) -> tuple[Tensor, Sums]:
    """The loss summed over the batch's decisions, and what is measured.

    output: logits [B, T, 13], -inf where illegal; value [B, T, bins].
    """
    log_policy = log_probabilities(output.logits, batch.legal)  # [B, T, 13]
    learned = batch.known  # [B, T]
    policy_loss = -of_actions(log_policy, batch.actions)  # [B, T]
    if settings.targets == "shares":
        policy_loss = torch.where(batch.targets == Target.EXPERT, -(batch.shares * log_policy).sum(-1), policy_loss)
        # An expert's target policy needs no choice that is known; where an expert gave nothing of use, there is no target.
        learned = torch.where(
            batch.targets == Target.CHOICE, learned, batch.of_policy & (batch.targets == Target.EXPERT)
        )
    policy_sum = (policy_loss * learned).sum()

    bins = output.value.shape[-1]
    classes = two_hot(batch.results, bins)[:, None]  # [B, 1, bins]
    if settings.coach_value_share:
        told = torch.isfinite(batch.values)  # [B, T]
        share = settings.coach_value_share * told[..., None]  # [B, T, 1]
        classes = (1 - share) * classes + share * two_hot(batch.values.nan_to_num(), bins)  # [B, T, bins]
    value_loss = -(classes * torch.log_softmax(output.value, dim=-1)).sum(-1)  # [B, T]
    value_sum = (value_loss * batch.of_value).sum()

    sums: Sums = {
        "policy_loss": (policy_sum.detach(), learned.sum()),
        "value_loss": (value_sum.detach(), batch.of_value.sum()),
        **measured(output.logits.detach(), log_policy.detach(), batch),
    }
    return policy_sum + settings.value_weight * value_sum, sums
