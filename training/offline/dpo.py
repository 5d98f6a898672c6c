"""Direct preference optimisation (Rafailov et al. 2023) of a policy, on pairs of a better and a worse action.

At a decision with a pair (training/preferences), y⁺ is the chosen action and y⁻ the rejected one. The reference policy π_ref
(`reference.checkpoint`, or the checkpoint that the run starts from) is frozen; it runs under no_grad and without dropout.

    Δ = [log π(y⁺) - log π_ref(y⁺)] - [log π(y⁻) - log π_ref(y⁻)]

`algorithm.loss`, where ε is `label_smoothing`:

    sigmoid        - log σ(β Δ)                                              DPO, equation 7
    conservative   - (1 - ε) log σ(β Δ) - ε log σ(-β Δ)                      cDPO (Mitchell 2023)
    robust         [- (1 - ε) log σ(β Δ) + ε log σ(-β Δ)] / (1 - 2 ε)        rDPO (Chowdhury et al. 2024)
    ipo            (Δ - 1 / (2 β))²                                          IPO (Azar et al. 2024), equation 17

`conservative` and `robust` take it that a share ε of the pairs is the wrong way round, as pairs from a few playouts are.

`algorithm.unit: decision`: a pair is one decision. `battle`: the pairs of one side of a battle are one long answer, as the
tokens of a text are, and Δ is the sum over them. `length_normalized` takes their mean instead, so that β means the same in a
battle of two pairs and in one of twenty (TRL calls that loss `sigmoid_norm`; its `ipo` is always normalised).

The loss is summed over pairs. Decisions without a pair are context: the network sees them, and the KL to the reference is
measured at all of them. With `value_weight` the value head is trained on the battles' results, else it drifts with the body
that it shares with the policy.

Reported as means over pairs: `policy_loss`; `pair_accuracy`, the share with Δ > 0 (a tie counts half); `reward_chosen` and
`reward_rejected`, β times each bracket; `reward_margin`, their difference; and `kl` over decisions (reference.py).

    train dpo my.yaml        with `algorithm: {name: dpo, ...}`
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from agents.policy.distributions import log_prob_of, log_probs
from agents.policy.network import Output, two_hot
from training.offline.config import DPO
from training.offline.tensors import Sums, Tensors, policy_metrics


def loss(output: Output, batch: Tensors, settings: DPO, reference_logits: Tensor) -> tuple[Tensor, Sums]:
    """Return the loss summed over the batch's pairs, and the sums behind the metrics.

    output: the network's logits [B, T, 13] (-inf for illegal actions) and value logits [B, T, bins]. reference_logits: the
    reference policy's, [B, T, 13].
    """
    log_policy = log_probs(output.logits, batch.legal)  # [B, T, 13]
    log_reference = log_probs(reference_logits, batch.legal)  # [B, T, 13]
    is_pair = batch.is_pair  # [B, T]
    chosen, rejected = (
        (log_prob_of(log_policy, actions) - log_prob_of(log_reference, actions)) * is_pair  # [B, T], 0 without a pair
        for actions in (batch.actions, batch.rejected.expand_as(batch.actions))
    )
    counted = is_pair.float()
    if settings.unit == "battle":
        chosen, rejected, length = chosen.sum(1), rejected.sum(1), counted.sum(1)  # [B]
        counted = (length > 0).float()  # [B]
        if settings.length_normalized:
            chosen, rejected = chosen / length.clamp(min=1), rejected / length.clamp(min=1)
    policy_sum = (pair_loss(chosen - rejected, settings) * counted).sum()

    value_target = two_hot(batch.results, output.value.shape[-1])[:, None]  # [B, 1, bins]
    value_loss = -(value_target * torch.log_softmax(output.value, dim=-1)).sum(-1)  # [B, T]
    value_sum = (value_loss * batch.in_value_loss).sum()

    with torch.no_grad():
        pairs, delta = counted.sum(), chosen - rejected
        right = ((delta > 0) + 0.5 * (delta == 0)) * counted
        rewards = {"chosen": settings.beta * chosen, "rejected": settings.beta * rejected}
        sums: Sums = {
            "policy_loss": (policy_sum.detach(), pairs),
            "value_loss": (value_sum.detach(), batch.in_value_loss.sum()),
            "pair_accuracy": (right.sum(), pairs),
            "reward_margin": ((settings.beta * delta * counted).sum(), pairs),
            **{f"reward_{name}": ((reward * counted).sum(), pairs) for name, reward in rewards.items()},
            **policy_metrics(output.logits, log_policy, batch),
        }
    return policy_sum + settings.value_weight * value_sum, sums


def pair_loss(delta: Tensor, settings: DPO) -> Tensor:
    """Return the loss [...] of pairs by Δ [...]: the difference of the log-ratios of chosen and rejected answer, in nats."""
    scaled, smoothing = settings.beta * delta, settings.label_smoothing
    if settings.loss == "sigmoid":
        return -logsigmoid(scaled)
    if settings.loss == "ipo":
        return (delta - 1 / (2 * settings.beta)).square()
    right, wrong = -(1 - smoothing) * logsigmoid(scaled), -smoothing * logsigmoid(-scaled)
    if settings.loss == "conservative":
        return right + wrong
    return (right - wrong) / (1 - 2 * smoothing)
