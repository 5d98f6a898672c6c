"""IAC: independent actor-critic (Foerster et al. 2018, section 3; CoMLRL, github.com/OpenMLRL/CoMLRL).

Each role learns on its own, from one pass over its rollout in minibatches of whole battles:

    δ_t = r_t + γ V(h_{t+1}) - V(h_t)          V after the end of a battle is 0
    minimise  - ρ_t δ_t  +  value_weight · δ_t²  -  entropy · H(π)  +  the KL to the reference, if in the loss

ρ_t = μ(a_t | h_t) / μ_played(a_t | h_t) is 1 in the first of a rollout's steps, so that the gradient is that of log μ; the
later ones learn from what earlier weights played, which ρ corrects. No gradient flows through δ where it weights the policy,
nor into V(h_{t+1}). V is the policy network's own (`shared`), or that of a second network with its own optimizer
(`separate`), which begins as a copy of the policy network, and again where the role's weights are replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field
from torch import Tensor

from agents.policy.network import Network
from training.envs.network_players import returns_of
from training.online.config import NotNegative, OnlineConfig, RuleSettings, Share
from training.online.metrics import Averages
from training.online.policy_gradient import last_values, policy_terms, td_errors
from training.online.role import Critic, Role
from training.online.rollout import Rollout, forward
from training.online.schedules import ScheduleSettings
from training.online.trainer import Metrics, Trainer


class IAC(Trainer):
    """See the module."""

    class Settings(RuleSettings):
        """The settings.

        critic: `shared`, the policy network's own value, or `separate`, a network of its own of the same preset, with
        `critic_learning_rate`.
        """

        name: Literal["iac"]
        discount: Share
        minibatch_decisions: Annotated[int, Field(ge=1)]
        critic: Literal["shared", "separate"]
        critic_learning_rate: ScheduleSettings
        value_weight: NotNegative
        entropy: ScheduleSettings

    def __init__(self, settings: OnlineConfig, **places: Any) -> None:
        super().__init__(settings, **places)
        self._critics: dict[str, Critic] = {}
        if self.rule.critic == "separate":
            self._critics = {name: _copied(role, self.rule) for name, role in self.roles.items()}

    def learn(self, role: Role, rollout: Rollout, reference: Tensor | None) -> Metrics:
        rule: IAC.Settings = self.rule
        rewards = self.shaped(rollout, reference)  # [D]
        entropy_weight = rule.entropy.at(self.iteration)
        critic = self._critics.get(role.name)
        averages = Averages()
        for part in rollout.minibatches(rule.minibatch_decisions, self.shuffle):
            for piece in rollout.pieces(part):
                padded = rollout.padded(piece.trajectories)
                chosen = padded.valid_mask & padded.take(rollout.in_loss)  # [B, T]
                output = forward(role.network, rollout, padded)
                critic_output = output if critic is None else forward(critic.network, rollout, padded)
                values = returns_of(critic_output.value) * padded.valid_mask  # [B, T]
                # The rollout has the policy network's value of a truncated battle, but not its position for another network.
                after = (
                    rollout.bootstrap[piece.trajectories] if critic is None else last_values(values, padded.valid_mask)
                )
                bootstrap = after * ~rollout.terminated[piece.trajectories]  # [B]
                errors = td_errors(padded.take(rewards), values, padded.valid_mask, bootstrap, rule.discount)  # [B, T]
                delta = errors[chosen]  # [n]
                terms = policy_terms(self, rollout, padded.places[chosen], output.logits[chosen], reference)
                policy_loss = -(terms.ratio * delta.detach()).mean()
                value_loss = delta.square().mean()
                loss = policy_loss - entropy_weight * terms.entropy + terms.penalty
                if critic is None:
                    loss = loss + rule.value_weight * value_loss
                else:
                    critic.add_gradient(piece.share * value_loss)
                averages.add(piece.share, policy_loss=policy_loss, value_loss=value_loss, loss=loss)
                role.add_piece(piece, loss)
            if critic is not None:
                critic.step(self.iteration)
            averages.add(gradient_norm=role.step())
        return averages.means()

    def replace(self, name: str, by: str) -> None:
        super().replace(name, by)
        if name in self._critics:
            self._critics[name] = _copied(self.roles[name], self.rule)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "critics": {name: critic.state() for name, critic in self._critics.items()}}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        for name, critic in self._critics.items():
            critic.restore(state["critics"][name])


def _copied(role: Role, rule: IAC.Settings) -> Critic:
    """A critic with the weights that the role has now."""
    network = Network(role.network.shape)
    network.load_state_dict(role.network.state_dict())
    return Critic(network, rule.critic_learning_rate, role)
