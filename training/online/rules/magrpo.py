"""MAGRPO: group-relative policy optimization of both roles (Liu et al. 2025; GRPO: Shao et al. 2024; CoMLRL,
github.com/OpenMLRL/CoMLRL).

G battles begin from the same start: the same teams, seats and position, with different chance and choices. A
trajectory's return R is compared with those of its group, so there is no critic. R is the battle's result, minus the KL to
the reference where that is in the reward. A truncated battle counts as 0: the value, which could say more, is not trained.

    A_i = R_i - mean(R)                `mean`
    A_i = R_i - mean of the others     `leave-one-out`
    A_i = R_i - max(R)                 `max`
    A_i = R_i                          `raw`
    divided by the group's standard deviation with `normalize`; a group of equal returns has A = 0 then

    minimise  - ρ_t A_i  -  entropy · H(π)  +  the KL to the reference, if in the loss       ρ as in IAC

over all decisions of the group's battles; with `branch_at`, over those after the position in the middle of a battle from
which the group branches. Both seats of a battle form groups of their own; where one network plays both, both are in one
step.
"""

from __future__ import annotations

from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor

from training.online.config import OnlineConfig, RuleSettings
from training.online.metrics import Averages
from training.online.policy_gradient import policy_terms
from training.online.role import Role
from training.online.rollout import Rollout, forward_in_loss
from training.online.schedules import ScheduleSettings
from training.online.trainer import Metrics, Trainer
from training.runs.config_reader import BadConfig


class MAGRPO(Trainer):
    """See the module."""

    class Settings(RuleSettings):
        """The settings.

        group: battles from the same start. advantage: what a battle's return is compared with: the group's mean or maximum,
        the mean of the others, or nothing. branch_at: groups begin in the middle of a battle, after up to so many
        decisions; 0: at its start.
        """

        name: Literal["magrpo"]
        minibatch_decisions: Annotated[int, Field(ge=1)]
        group: Annotated[int, Field(ge=2)]
        advantage: Literal["mean", "max", "leave-one-out", "raw"]
        normalize: bool
        branch_at: Annotated[int, Field(ge=0)]
        entropy: ScheduleSettings

        def check_run(self, config: OnlineConfig) -> None:
            if config.rollout.battles % self.group:
                raise BadConfig(f"rollout.battles: must be a multiple of algorithm.group ({self.group})")
            if self.branch_at and config.venue != "engine":
                raise BadConfig(
                    "algorithm.branch_at: only battles on the engine can be forked: set 0, or venue: engine"
                )

    @property
    def group(self) -> int:
        return self.rule.group

    @property
    def branch_at(self) -> int:
        return self.rule.branch_at

    def learn(self, role: Role, rollout: Rollout, reference: Tensor | None) -> Metrics:
        rule: MAGRPO.Settings = self.rule
        padded = rollout.padded()
        penalties = (
            self.shaped(rollout, reference) - rollout.rewards
        ) * rollout.in_loss  # [D], 0 unless it is in the reward
        returns = rollout.results + (padded.take(penalties) * padded.valid_mask).sum(1)  # [B]
        advantages = group_advantages(returns, 2 * rollout.group + rollout.seat, rule.advantage, rule.normalize)  # [B]
        weights = advantages.repeat_interleave(rollout.lengths)  # [D]
        entropy_weight = rule.entropy.at(self.iteration)
        averages = Averages()
        for part in rollout.minibatches(rule.minibatch_decisions, self.shuffle):
            pieces = rollout.pieces(part)
            if not pieces:
                continue
            for piece in pieces:
                index, output = forward_in_loss(role.network, rollout, piece.trajectories)
                terms = policy_terms(self, rollout, index, output.logits, reference)
                policy_loss = -(terms.ratio * weights[index]).mean()
                loss = policy_loss - entropy_weight * terms.entropy + terms.penalty
                averages.add(piece.share, policy_loss=policy_loss, loss=loss)
                role.add_piece(piece, loss)
            averages.add(gradient_norm=role.step())
        return averages.means() | {"advantage": float(advantages.abs().mean())}


def group_advantages(returns: Tensor, groups: Tensor, kind: str, normalize: bool) -> Tensor:
    """Return the advantages [B] of trajectories by their returns [B] and groups (int64 [B]).

    kind: `mean`, `max`, `leave-one-out` or `raw`. The standard deviation is that of the group, not of a sample.
    """
    _, place = torch.unique(groups, return_inverse=True)
    size = int(place.max()) + 1
    sums, counts = returns.new_zeros(size).index_add(0, place, returns), torch.bincount(place, minlength=size)
    means = sums / counts
    if kind == "mean":
        advantages = returns - means[place]
    elif kind == "max":
        most = returns.new_full((size,), -torch.inf).scatter_reduce(0, place, returns, "amax")
        advantages = returns - most[place]
    elif kind == "leave-one-out":
        advantages = (returns - means[place]) * (counts / (counts - 1).clamp(min=1))[place]
    else:
        advantages = returns.clone()
    if not normalize:
        return advantages
    variance = returns.new_zeros(size).index_add(0, place, (returns - means[place]).square()) / counts
    std = variance.sqrt()[place]
    return torch.where(std > 1e-6, advantages / std.clamp(min=1e-6), 0.0)
