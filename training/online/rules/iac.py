"""IAC: independent actor-critic (Foerster et al. 2018, section 3; CoMLRL, github.com/OpenMLRL/CoMLRL).

Each role learns on its own, from one pass over its rollout in minibatches of whole battles:

    δ_t = r_t + γ V(h_{t+1}) - V(h_t)          V after the end of a battle is 0
    minimise  - log μ(a_t | h_t) δ_t  +  value_weight · δ_t²  -  entropy · H(π)  +  the KL to the reference, if in the loss

No gradient flows through δ where it weights the policy, nor into V(h_{t+1}). V is the policy network's own (`shared`), or
that of a second network with its own optimizer (`separate`), which begins as a copy of the policy network, and again where
the role's weights are replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from agents.policy.network import Network
from training.online import config
from training.online.forward import forward
from training.online.means import Means
from training.online.players import returns_of
from training.online.policy_terms import policy_terms
from training.online.returns import last_values, td_errors
from training.online.role import Critic, Role
from training.online.rollout import Rollout
from training.online.trainer import Metrics, Trainer


class IAC(Trainer):
    """See the module."""

    def __init__(self, settings: config.OnlineConfig, **places: Any) -> None:
        super().__init__(settings, **places)
        assert isinstance(settings.algorithm, config.IAC)
        self._critics: dict[str, Critic] = {}
        if settings.algorithm.critic == "separate":
            self._critics = {name: _copied(role, settings.algorithm) for name, role in self.roles.items()}

    def learn(self, role: Role, rollout: Rollout, reference: Tensor | None) -> Metrics:
        rule = self.config.algorithm
        assert isinstance(rule, config.IAC)
        rewards = self.shaped(rollout, reference)  # [D]
        entropy_weight = rule.entropy.at(self.iteration)
        critic = self._critics.get(role.name)
        means = Means()
        for part in rollout.minibatches(rule.minibatch_decisions, self.shuffle):
            padded = rollout.padded(part)
            chosen = padded.valid_mask & padded.take(rollout.in_loss)  # [B, T]
            output = forward(role.network, rollout, padded)
            critic_output = output if critic is None else forward(critic.network, rollout, padded)
            values = returns_of(critic_output.value) * padded.valid_mask  # [B, T]
            # The rollout has the policy network's value of a truncated battle, but not its position for another network.
            after = rollout.bootstrap[part] if critic is None else last_values(values, padded.valid_mask)
            bootstrap = after * ~rollout.terminated[part]  # [B]
            delta = td_errors(padded.take(rewards), values, padded.valid_mask, bootstrap, rule.discount)[chosen]  # [n]
            terms = policy_terms(self, rollout, padded.places[chosen], output.logits[chosen], reference)
            policy_loss = -(terms.log_prob * delta.detach()).mean()
            value_loss = delta.square().mean()
            loss = policy_loss - entropy_weight * terms.entropy + terms.penalty
            if critic is None:
                loss = loss + rule.value_weight * value_loss
            else:
                critic.update(value_loss, self.iteration)
            means.add(policy_loss=policy_loss, value_loss=value_loss, loss=loss, gradient_norm=role.update(loss))
        return means.taken()

    def replace(self, name: str, by: str) -> None:
        super().replace(name, by)
        if name in self._critics:
            assert isinstance(self.config.algorithm, config.IAC)
            self._critics[name] = _copied(self.roles[name], self.config.algorithm)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "critics": {name: critic.state() for name, critic in self._critics.items()}}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        for name, critic in self._critics.items():
            critic.restore(state["critics"][name])


def _copied(role: Role, rule: config.IAC) -> Critic:
    """A critic with the weights that the role has now."""
    network = Network(role.network.shape)
    network.load_state_dict(role.network.state_dict())
    return Critic(network, rule.critic_learning_rate, role)
