"""PPO: proximal policy optimization (Schulman et al. 2017) with generalized advantage estimation (Schulman et al. 2016).

For several epochs over the rollout, in minibatches of whole battles, minimise

    - min(ρ A, clip(ρ, 1 - ε, 1 + ε) A)        ρ = μ(a | h) / μ_played(a | h)
    + value_weight · value loss of V(h) and G   G = A + V_played(h)
    - entropy · H(π)
    + the KL to the reference, if there is one and it is in the loss

The value loss is the cross-entropy of the value's distribution over bins to the two bins around G, as offline
(training/offline/cloning.py; Farebrother et al. 2024, "Stop Regressing"), or (V(h) - G)². μ is the policy as it is played:
at its temperature and with its share of random actions, if there is one. Advantages are computed once, from the values of
the weights that played. The details that matter (Huang et al. 2022, "The 37 implementation details of PPO"): advantages
normalised over the rollout, gradient norm clipped, value clipping as a switch, and the epochs end early where the policy has
moved too far.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

import torch
from pydantic import Field
from torch import Tensor

from agents.policy.network import two_hot
from training.envs.network_players import returns_of
from training.online.config import NotNegative, OnlineConfig, Positive, RuleSettings, Share
from training.online.metrics import Averages
from training.online.opponent_head import OpponentHead, indexed
from training.online.policy_gradient import advantages, policy_terms
from training.online.role import Role
from training.online.rollout import Piece, Rollout, forward_in_loss
from training.online.schedules import ScheduleSettings
from training.online.trainer import Metrics, Trainer
from training.runs.config_reader import BadConfig


class _Targets(NamedTuple):
    """What a rollout's decisions [D] are trained towards. opponent_labels: see `indexed`; None: the head is not trained.

    returns: the value's targets. reference: its logits, as in `Trainer.learn`.
    """

    advantage: Tensor
    returns: Tensor
    opponent_labels: tuple[Tensor, Tensor] | None
    reference: Tensor | None
    entropy_weight: float


class PPO(Trainer):
    """See the module."""

    class Settings(RuleSettings):
        """The settings.

        epochs: passes over a rollout. minibatch_decisions: decisions per gradient step. clip: ε of the probability ratio.
        value_loss: see the module. value_clip: for the squared one, of the value's change in units of the return; 0: off.
        max_kl: estimated KL in nats from the policy that played, at which the epochs end; 0: off. opponent_weight: of the
        prediction of the opponent's choice (training/online/opponent_head.py); 0: none. opponent_labels: shuffled: a control
        of the same cost, of which nothing can be learned.
        """

        name: Literal["ppo"]
        discount: Share
        gae_lambda: Share
        epochs: Annotated[int, Field(ge=1)]
        minibatch_decisions: Annotated[int, Field(ge=1)]
        clip: Positive
        value_loss: Literal["cross-entropy", "squared"] = "squared"
        value_clip: NotNegative
        value_weight: NotNegative
        entropy: ScheduleSettings
        normalize_advantages: bool
        max_kl: NotNegative
        opponent_weight: NotNegative = 0.0
        opponent_labels: Literal["played", "shuffled"] = "played"

        def check_run(self, config: OnlineConfig) -> None:
            if self.value_clip and self.value_loss != "squared":
                raise BadConfig("algorithm.value_clip: clips the squared loss alone: set 0, or value_loss: squared")
            if self.opponent_weight and config.learner.network.policies > 1:
                raise BadConfig(
                    "algorithm.opponent_weight: its head belongs to one network: set 0, or network.policies: 1"
                )

    def __init__(self, settings: OnlineConfig, **places: Any) -> None:
        super().__init__(settings, **places)
        if self.rule.opponent_weight:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(settings.seed + 3)
                for role in self.roles.values():
                    role.attach(OpponentHead(role.network))

    @property
    def opponent_choices(self) -> bool:
        return bool(self.rule.opponent_weight)

    def learn(self, role: Role, rollout: Rollout, reference: Tensor | None) -> Metrics:
        rule: PPO.Settings = self.rule
        advantage = advantages(rollout, self.shaped(rollout, reference), rule.discount, rule.gae_lambda)  # [D]
        target = advantage + rollout.values  # [D]
        if rule.normalize_advantages:
            mean, std = advantage[rollout.in_loss].mean(), advantage[rollout.in_loss].std()
            advantage = (advantage - mean) / (std + 1e-8)
        shuffled = self.shuffle if rule.opponent_labels == "shuffled" else None
        labelled = indexed(rollout.opponent_choices, shuffled) if rule.opponent_weight else None
        targets = _Targets(advantage, target, labelled, reference, rule.entropy.at(self.iteration))
        averages, epochs = Averages(), 0
        while epochs < rule.epochs:
            epochs += 1
            of_epoch = Averages()
            for part in rollout.minibatches(rule.minibatch_decisions, self.shuffle):
                for piece in rollout.pieces(part):
                    means = self._losses(role, rollout, piece, targets)
                    of_epoch.add(piece.share, kl=means["approximate_kl"])
                    averages.add(piece.share, **means)
                    role.add_piece(piece, means["loss"], fresh=epochs == 1)
                averages.add(gradient_norm=role.step())
            if rule.max_kl and of_epoch.means()["kl"] > rule.max_kl:
                break
        return averages.means() | {"epochs": float(epochs)}

    def _losses(self, role: Role, rollout: Rollout, piece: Piece, targets: _Targets) -> dict[str, Tensor]:
        """Return a piece's `loss`, which has a gradient, and what it is made of: means over its decisions in the loss."""
        rule: PPO.Settings = self.rule
        index, (logits, values, context) = forward_in_loss(role.network, rollout, piece.trajectories)
        terms = policy_terms(self, rollout, index, logits, targets.reference)
        means = losses(terms.log_prob, rollout.log_probs[index], targets.advantage[index], rule.clip)
        if rule.value_loss == "squared":
            value_loss = squared_loss(
                returns_of(values), rollout.values[index], targets.returns[index], rule.value_clip
            )
        else:
            value_loss = categorical_loss(values, targets.returns[index])
        loss = means["policy_loss"] + rule.value_weight * value_loss
        loss = loss - targets.entropy_weight * terms.entropy + terms.penalty
        means["value_loss"] = value_loss
        if targets.opponent_labels is not None:
            assert isinstance(role.head, OpponentHead) and context is not None
            labels, classes = targets.opponent_labels
            predicted, right = role.head.loss(role.network, context, labels[index], classes)
            loss = loss + rule.opponent_weight * predicted
            means |= {"opponent_loss": predicted, "opponent_predicted": right}
        return means | {"loss": loss}


def losses(log_prob: Tensor, old_log_prob: Tensor, advantage: Tensor, clip: float) -> dict[str, Tensor]:
    """Return `policy_loss`, `clipped` (a share) and `approximate_kl`, means over n decisions [n]."""
    log_ratio = log_prob - old_log_prob
    ratio = log_ratio.exp()
    return {
        "policy_loss": -torch.min(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage).mean(),
        "clipped": ((ratio - 1).abs() > clip).float().mean().detach(),
        "approximate_kl": (ratio - 1 - log_ratio).mean().detach(),
    }


def squared_loss(value: Tensor, old_value: Tensor, target: Tensor, clip: float) -> Tensor:
    """Return the mean squared error of values [n] in units of the return.

    clip: of their change since they played; 0: off.
    """
    error = (value - target).square()
    if clip:
        clipped = old_value + (value - old_value).clamp(-clip, clip)
        error = torch.max(error, (clipped - target).square())
    return error.mean()


def categorical_loss(value_logits: Tensor, target: Tensor) -> Tensor:
    """Return the mean cross-entropy, in nats, of value logits [n, bins] to returns [n] from -1 to 1; others are cut off."""
    wanted = two_hot((target + 1) / 2, value_logits.shape[-1])
    return -(wanted * value_logits.log_softmax(-1)).sum(-1).mean()
