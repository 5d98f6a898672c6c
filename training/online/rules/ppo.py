"""PPO: proximal policy optimization (Schulman et al. 2017) with generalized advantage estimation (Schulman et al. 2016).

For several epochs over the rollout, in minibatches of whole battles, minimise

    - min(ρ A, clip(ρ, 1 - ε, 1 + ε) A)        ρ = μ(a | h) / μ_played(a | h)
    + value_weight · (V(h) - G)²                G = A + V_played(h)
    - entropy · H(π)
    + the KL to the reference, if there is one and it is in the loss

μ is the policy as it is played: at its temperature and with its share of random actions, if there is one. Advantages are
computed once, from the values of the weights that played. The details that matter (Huang et al. 2022, "The 37 implementation
details of PPO"): advantages normalised over the rollout, gradient norm clipped, value clipping as a switch, and the epochs
end early where the policy has moved too far.
"""

from __future__ import annotations

import torch
from torch import Tensor

from training.online import config
from training.online.forward import forward
from training.online.means import Means
from training.online.players import returns_of
from training.online.policy_terms import policy_terms
from training.online.returns import advantages
from training.online.role import Role
from training.online.rollout import Rollout
from training.online.trainer import Metrics, Trainer


class PPO(Trainer):
    """See the module."""

    def learn(self, role: Role, rollout: Rollout, reference: Tensor | None) -> Metrics:
        rule = self.config.algorithm
        assert isinstance(rule, config.PPO)
        advantage = advantages(rollout, self.shaped(rollout, reference), rule.discount, rule.gae_lambda)  # [D]
        target = advantage + rollout.values  # [D]
        if rule.normalize_advantages:
            mean, std = advantage[rollout.in_loss].mean(), advantage[rollout.in_loss].std()
            advantage = (advantage - mean) / (std + 1e-8)
        entropy_weight = rule.entropy.at(self.iteration)
        means, epochs = Means(), 0
        while epochs < rule.epochs:
            epochs += 1
            moved = Means()
            for part in rollout.minibatches(rule.minibatch_decisions, self.shuffle):
                padded = rollout.padded(part)
                chosen = padded.valid_mask & padded.take(rollout.in_loss)  # [B, T]
                index = padded.places[chosen]  # [n]
                output = forward(role.network, rollout, padded)
                terms = policy_terms(self, rollout, index, output.logits[chosen], reference)
                parts = losses(
                    terms.log_prob,
                    rollout.log_probs[index],
                    advantage[index],
                    returns_of(output.value[chosen]),
                    rollout.values[index],
                    target[index],
                    rule.clip,
                    rule.value_clip,
                )
                loss = parts["policy_loss"] + rule.value_weight * parts["value_loss"]
                loss = loss - entropy_weight * terms.entropy + terms.penalty
                moved.add(kl=parts["approximate_kl"])
                means.add(**parts, loss=loss, gradient_norm=role.update(loss))
            if rule.max_kl and moved.taken()["kl"] > rule.max_kl:
                break
        return means.taken() | {"epochs": float(epochs)}


def losses(
    log_prob: Tensor,
    old_log_prob: Tensor,
    advantage: Tensor,
    value: Tensor,
    old_value: Tensor,
    target: Tensor,
    clip: float,
    value_clip: float,
) -> dict[str, Tensor]:
    """Return `policy_loss`, `value_loss`, `clipped` (a share) and `approximate_kl`, means over n decisions [n]."""
    log_ratio = log_prob - old_log_prob
    ratio = log_ratio.exp()
    policy_loss = -torch.min(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage).mean()
    error = (value - target).square()
    if value_clip:
        clipped = old_value + (value - old_value).clamp(-value_clip, value_clip)
        error = torch.max(error, (clipped - target).square())
    return {
        "policy_loss": policy_loss,
        "value_loss": error.mean(),
        "clipped": ((ratio - 1).abs() > clip).float().mean().detach(),
        "approximate_kl": (ratio - 1 - log_ratio).mean().detach(),
    }
