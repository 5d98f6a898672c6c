"""Offline RL: an actor-critic that learns from stored battles, and imitates what turned out better than expected.

The critic says V(s), the chance to win, as classes of the result. It learns λ-returns of its own values, backwards from the
end of the battle, with the result as the only reward and no discount:

    G_T = result,    G_t = λ G_{t+1} + (1 - λ) V(s_{t+1})

Of a trajectory that was cut (`data.max_length`), what follows the last state s_L is not there: n more decisions and the
result. In the full return those decisions' values weigh 1 - λ^n together and the result λ^n; V(s_L) stands for the values:

    G_L = λ^n result + (1 - λ^n) V(s_L)

With λ = 1 that is the result, as it must be; with a smaller one and a far end, V(s_L). The decision at s_L itself is not
learned, since its advantage would compare V(s_L) with itself.

The actor's loss is cloning's, each decision weighed by its advantage A_t = G_t - V(s_t), for which no gradient flows.
`gae_lambda` names several λ, of whose returns G_t is then the mean here (the value learns that of `td_lambda`). With one λ
A_t is the generalized advantage estimate GAE(γ = 1, λ):

    binary        w = 1 where A > 0, else 0                              (as in CRR's binary filter)
    exponential   w = min(exp(A / temperature), max_advantage_weight)      (as in AWR, CRR, AWAC)

The exponential rewards luck: of two choices that are equally good, the one with the wider spread of returns has the larger
E[exp(A / temperature)]. Returns of smaller λ take less of the result's luck and more of the critic's errors; the mean over
several λ lies between. With `normalize_weights` the weights are divided by their mean over the known decisions that a
process learns from at once (its part of a batch, divided by `compute.gradient_accumulation_steps`), so that the temperature
does not change how large the policy's loss is beside the value's. The mean counts as LEAST_MEAN at least, so that a batch in
which nearly nothing turned out well is not multiplied without bound.

    L = Σ - w(A_t) log π(a_t | history) + value_weight · Σ CE(two-hot(G_t), value)

Different from those papers: V instead of Q, so that no action that was never tried is asked about, and λ-returns, since a
battle's chance is large and its length moderate. With λ = 1 it is filtered cloning with a learned baseline.

Both sums run over the decisions of those sides that a dataset's `policy_from` and `value_from` name.

    train base my.yaml        with `algorithm: {name: offline-rl, …}`
"""

from __future__ import annotations

import torch
from torch import Tensor

from agents.policy.network import Output, expected_value, two_hot
from training.algorithms.tensors import Sums, Tensors, log_probabilities, measured, of_actions
from training.config import OfflineRL

#: What the mean of the weights counts as at least when they are divided by it.
LEAST_MEAN = 0.05


def loss(output: Output, batch: Tensors, settings: OfflineRL) -> tuple[Tensor, Sums]:
    """The loss summed over the batch's decisions, and what is measured.

    output: logits [B, T, 13], -inf where illegal; value [B, T, bins].
    """
    with torch.no_grad():
        values = expected_value(output.value)  # [B, T]
        returns = lambda_returns(values, batch.results, batch.real, settings.td_lambda, batch.remaining)  # [B, T]
        judged = [
            lambda_returns(values, batch.results, batch.real, trace, batch.remaining) for trace in settings.gae_lambda
        ] or [returns]
        advantages = torch.stack(judged).mean(0) - values
        if settings.filter == "binary":
            weights = (advantages > 0).float()
        else:
            weights = (advantages / settings.temperature).exp().clamp(max=settings.max_advantage_weight)

    log_policy = log_probabilities(output.logits, batch.legal)  # [B, T, 13]
    taken = of_actions(log_policy, batch.actions)  # [B, T]
    followed = batch.followed
    known, valued = batch.known & followed, batch.of_value & followed
    mean_weight = (weights * known).sum() / known.sum().clamp(min=1)
    scale = 1 / mean_weight.clamp(min=LEAST_MEAN) if settings.normalize_weights else 1.0
    policy_sum = -(scale * weights * taken * known).sum()

    classes = two_hot(returns, output.value.shape[-1])  # [B, T, bins]
    value_loss = -(classes * torch.log_softmax(output.value, dim=-1)).sum(-1)  # [B, T]
    value_sum = (value_loss * valued).sum()

    count = known.sum()
    sums: Sums = {
        "policy_loss": (-(taken.detach() * known).sum(), count),
        "value_loss": (value_sum.detach(), valued.sum()),
        "weight": ((weights * known).sum(), count),
        "advantage": ((advantages * followed).sum(), followed.sum()),
        **measured(output.logits.detach(), log_policy.detach(), batch),
    }
    return policy_sum + settings.value_weight * value_sum, sums


def lambda_returns(values: Tensor, results: Tensor, real: Tensor, trace: float, remaining: Tensor) -> Tensor:
    """G [B, T] from values [B, T], results [B], real bool [B, T] (padding last); 0 at padding. trace: λ.

    remaining: int [B], decisions after the last one here; [1] for all of them.
    """
    last_value = values.gather(1, real.sum(1, keepdim=True).clamp(min=1) - 1)[:, 0]
    result_share = torch.pow(trace, remaining)  # 1 where nothing was cut
    returns = torch.zeros_like(values)
    after_return = after_value = result_share * results + (1 - result_share) * last_value
    for t in reversed(range(values.shape[1])):
        here = trace * after_return + (1 - trace) * after_value
        returns[:, t] = torch.where(real[:, t], here, 0.0)
        after_return = torch.where(real[:, t], here, after_return)
        after_value = torch.where(real[:, t], values[:, t], after_value)
    return returns
