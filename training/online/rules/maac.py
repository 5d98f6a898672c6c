"""MAAC: actor-critic with a central critic (Lowe et al. 2017; CoMLRL, github.com/OpenMLRL/CoMLRL).

As IAC, but the values come from a critic that sees what both seats see, in training only:

    δ_t = r_t + γ V(o_{t+1}, o'_{t+1}) - V(o_t, o'_t)
    minimise  - ρ_t δ_t  -  entropy · H(π)  +  the KL to the reference, if in the loss     (the policy; ρ as in IAC)
    minimise  δ_t²                                                                         (the critic)

o is the observation of the seat that decides and o' that of the seat opposite. Both seats together see almost the whole
state of a battle, so the critic needs no memory of earlier decisions. All roles have the one critic. At play nobody needs
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from agents.policy.network import Network
from agents.policy.shape import PRESETS
from training.online.config import OnlineConfig, RuleSettings, Share
from training.online.metrics import Averages
from training.online.policy_gradient import last_values, policy_terms, td_errors
from training.online.role import Critic, Role, without_dropout
from training.online.rollout import Rollout, forward
from training.online.schedules import ScheduleSettings
from training.online.trainer import LEARNER, Metrics, Trainer


class CentralCritic(nn.Module):
    """The expected return, from -1 to 1, of a seat, from what it sees and what the seat opposite sees."""

    def __init__(self, preset: str, slots: int) -> None:
        super().__init__()
        shape = replace(without_dropout(PRESETS[preset]), slots=slots)
        self.encoder = Network(shape)
        self.hidden = nn.Linear(2 * shape.width, shape.width)
        self.value = nn.Linear(shape.width, 1)

    def forward(self, token_ids: Tensor, features: Tensor, others_token_ids: Tensor, others_features: Tensor) -> Tensor:
        """token ids [N, 19, 12] and features [N, 19, 56] of both seats -> [N]."""
        mine, others = (
            self.encoder.encode(token_ids, features)[1],
            self.encoder.encode(others_token_ids, others_features)[1],
        )
        hidden = torch.relu(self.hidden(torch.cat([mine, others], dim=-1)))
        return torch.tanh(self.value(hidden))[:, 0]


class MAAC(Trainer):
    """See the module."""

    class Settings(RuleSettings):
        """The settings.

        critic_warmup: iterations in which the critic alone learns; a critic of random weights would drive the policy.
        """

        name: Literal["maac"]
        discount: Share
        minibatch_decisions: Annotated[int, Field(ge=1)]
        critic_preset: Literal["micro", "tiny", "small", "medium", "large"]
        critic_learning_rate: ScheduleSettings
        critic_warmup: Annotated[int, Field(ge=0)] = 0
        entropy: ScheduleSettings

    both_seats: ClassVar[bool] = True

    def __init__(self, settings: OnlineConfig, **places: Any) -> None:
        super().__init__(settings, **places)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed + 2)
            critic = CentralCritic(self.rule.critic_preset, self.layout.slots)
        self._critic = Critic(critic, self.rule.critic_learning_rate, self.roles[LEARNER])

    def learn(self, role: Role, rollout: Rollout, reference: Tensor | None) -> Metrics:
        rule: MAAC.Settings = self.rule
        rewards = self.shaped(rollout, reference)  # [D]
        entropy_weight = rule.entropy.at(self.iteration)
        warming_up = self.iteration < rule.critic_warmup
        averages = Averages()
        for part in rollout.minibatches(rule.minibatch_decisions, self.shuffle):
            for piece in rollout.pieces(part):
                padded = rollout.padded(piece.trajectories)
                chosen = padded.valid_mask & padded.take(rollout.in_loss)  # [B, T]
                index, valid = padded.places[padded.valid_mask], padded.valid_mask
                given = (rollout.token_ids, rollout.features, rollout.others_token_ids, rollout.others_features)
                predicted = self._critic.network(*(each[index] for each in given))  # [N]
                values = predicted.new_zeros(valid.shape).masked_scatter(valid, predicted)  # [B, T]
                # What a truncated battle goes on with is not in the rollout: the critic's value of its last decision.
                bootstrap = last_values(values, valid) * ~rollout.terminated[piece.trajectories]  # [B]
                delta = td_errors(padded.take(rewards), values, valid, bootstrap, rule.discount)[chosen]  # [n]
                value_loss = delta.square().mean()
                self._critic.add_gradient(piece.share * value_loss)
                averages.add(piece.share, value_loss=value_loss)
                if warming_up:
                    continue
                output = forward(role.network, rollout, padded)
                terms = policy_terms(self, rollout, padded.places[chosen], output.logits[chosen], reference)
                policy_loss = -(terms.ratio * delta.detach()).mean()
                loss = policy_loss - entropy_weight * terms.entropy + terms.penalty
                averages.add(piece.share, policy_loss=policy_loss, loss=loss)
                role.add_piece(piece, loss)
            self._critic.step(self.iteration)
            if not warming_up:
                averages.add(gradient_norm=role.step())
        return averages.means()

    def state(self) -> dict[str, Any]:
        return {**super().state(), "critic": self._critic.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._critic.restore(state["critic"])
