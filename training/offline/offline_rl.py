"""Offline actor-critic on stored battles: advantage-weighted behaviour cloning with a V-critic trained on λ-returns.

The critic predicts the chance to win V(s), as a categorical distribution over results. Its targets are λ-returns, computed
backwards from the end of the battle; the result is the only reward, without discount:

    G_T = result,    G_t = λ G_{t+1} + (1 - λ) V(s_{t+1})

A trajectory that was truncated (`data.max_length`) at state s_L lacks the n decisions after it. In the full return their
values have the total weight 1 - λ^n and the result has λ^n; V(s_L) stands in for the missing values:

    G_L = λ^n result + (1 - λ^n) V(s_L)

With λ = 1 this is the result, with λ < 1 and large n it is V(s_L). The decision at s_L itself is masked, because its
advantage would compare V(s_L) with itself.

The actor minimises the cloning loss, each decision weighted by its advantage A_t = G_t - V(s_t) (no gradient flows through
A). G_t is averaged over the λs in `gae_lambda` (default: `td_lambda` alone). For a single λ, A_t is the generalized
advantage estimate GAE(γ = 1, λ) (Schulman et al. 2016):

    binary        w = 1 if A > 0 else 0                                 (CRR's binary filter, Wang et al. 2020)
    exponential   w = min(exp(A / temperature), max_advantage_weight)   (AWR, Peng et al. 2019; CRR; AWAC)

The exponential weight is biased towards luck: of two equally good actions, the one with the wider spread of returns has the
larger E[exp(A / temperature)]. A smaller λ lets in less of the result's noise and more of the critic's error; the mean over
several λs is a compromise. `normalize_weights` divides the weights by their mean over the known actions of one forward pass
(a process's part of the batch, divided by `compute.gradient_accumulation_steps`), so that the temperature does not change
the scale of the policy loss relative to the value loss. The mean is clamped to at least MIN_MEAN_WEIGHT, which bounds the
factor for batches with few positive advantages.

    L = Σ - w(A_t) log π(a_t | decisions so far) + value_weight · Σ CE(two-hot(G_t), value)

Differences from those papers: V instead of Q, so that actions that do not occur in the data are never evaluated, and
λ-returns, because a battle is short and its outcome is noisy. With λ = 1 the rule is filtered behaviour cloning with a
learned baseline.

`data.train[].policy_from` and `value_from` select the sides that enter each sum.

    train base my.yaml        with `algorithm: {name: offline-rl, ...}`
"""

from __future__ import annotations

import torch
from torch import Tensor

from agents.policy.distributions import log_prob_of, log_probs
from agents.policy.network import Output, expected_value, two_hot
from training.offline.config import OfflineRL
from training.offline.tensors import Sums, Tensors, policy_metrics

#: Lower bound of the mean weight in `normalize_weights`.
MIN_MEAN_WEIGHT = 0.05


def loss(output: Output, batch: Tensors, settings: OfflineRL) -> tuple[Tensor, Sums]:
    """Return the loss summed over the batch's decisions, and the sums behind the metrics.

    output: the network's logits [B, T, A] (-inf for illegal actions) and value logits [B, T, bins]. A: 13 actions, in
    doubles 39.
    """
    with torch.no_grad():
        values = expected_value(output.value)  # [B, T]
        mask = batch.valid_mask  # [B, T]
        returns = lambda_returns(values, batch.results, mask, settings.td_lambda, batch.remaining)  # [B, T]
        gae_returns = [
            lambda_returns(values, batch.results, mask, gae_lambda, batch.remaining)
            for gae_lambda in settings.gae_lambda
        ] or [returns]
        advantages = torch.stack(gae_returns).mean(0) - values  # [B, T]
        if settings.filter == "binary":
            weights = (advantages > 0).float()  # [B, T]
        else:
            weights = (advantages / settings.temperature).exp().clamp(max=settings.max_advantage_weight)  # [B, T]

    log_policy = log_probs(output.logits, batch.legal)  # [B, T, A]
    log_prob = log_prob_of(log_policy, batch.actions)  # [B, T]
    has_next = batch.has_next  # [B, T]
    policy_mask, value_mask = batch.action_known & has_next, batch.in_value_loss & has_next  # [B, T]
    mean_weight = (weights * policy_mask).sum() / policy_mask.sum().clamp(min=1)
    scale = 1 / mean_weight.clamp(min=MIN_MEAN_WEIGHT) if settings.normalize_weights else 1.0
    policy_sum = -(scale * weights * log_prob * policy_mask).sum()

    value_target = two_hot(returns, output.value.shape[-1])  # [B, T, bins]
    value_loss = -(value_target * torch.log_softmax(output.value, dim=-1)).sum(-1)  # [B, T]
    value_sum = (value_loss * value_mask).sum()

    count = policy_mask.sum()
    sums: Sums = {
        "policy_loss": (-(log_prob.detach() * policy_mask).sum(), count),
        "value_loss": (value_sum.detach(), value_mask.sum()),
        "weight": ((weights * policy_mask).sum(), count),
        "advantage": ((advantages * has_next).sum(), has_next.sum()),
        **policy_metrics(output.logits.detach(), log_policy.detach(), batch),
    }
    return policy_sum + settings.value_weight * value_sum, sums


def lambda_returns(values: Tensor, results: Tensor, valid_mask: Tensor, td_lambda: float, remaining: Tensor) -> Tensor:
    """Return the λ-returns G [B, T]; 0 at padding.

    values: [B, T], V(s_t). results: [B], 1 won, 0.5 tied, 0 lost. valid_mask: bool [B, T], padding at the end.
    remaining: int [B], decisions missing after the last one of a truncated trajectory; or [1] for all trajectories.
    """
    last_value = values.gather(1, valid_mask.sum(1, keepdim=True).clamp(min=1) - 1)[:, 0]  # [B]
    result_weight = torch.pow(td_lambda, remaining)  # [B], 1 where nothing was truncated
    returns = torch.zeros_like(values)  # [B, T]
    next_return = next_value = result_weight * results + (1 - result_weight) * last_value  # [B]
    for t in reversed(range(values.shape[1])):
        here = td_lambda * next_return + (1 - td_lambda) * next_value  # [B]
        returns[:, t] = torch.where(valid_mask[:, t], here, 0.0)
        next_return = torch.where(valid_mask[:, t], here, next_return)
        next_value = torch.where(valid_mask[:, t], values[:, t], next_value)
    return returns
