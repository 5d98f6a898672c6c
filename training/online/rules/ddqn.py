"""DDQN: double DQN (van Hasselt et al. 2016) with n-step returns and, if wanted, prioritised replay (Schaul et al. 2016).

A policy network is read as one of Q-values, in units of the return (from -1 to 1):

    Q(s, a) = V(s) + τ (logit(a) - max_b logit(b))        so that max_a Q(s, a) = V(s); τ is `advantage_scale`

Any checkpoint can therefore be trained on, and what was trained plays as any other: its most probable action is the greedy
one. What a nat of its logits is worth depends on how it was trained: in a network that has learned to imitate, a gap of 4
nats may stand for a few hundredths of the return, which a τ of 0.1 reads as 0.4. With `calibrate`, τ is measured for a role
that starts from a checkpoint: by least squares over the decisions that it plays before anything is learned,

    x_t = logit(a_t) - E_μ[logit],    τ = Σ x_t (G_t - V(s_t)) / Σ x_t²

μ is the policy that played, exploration included. E[x_t | s_t] = 0, so that an error of V does not bias τ.

After each rollout, which goes into a replay buffer, `updates` times with windows of decisions drawn from it:

    y = Σ_{k<n} γ^k r_{t+k} + γ^n Q_target(s_{t+n}, argmax_a Q(s_{t+n}, a))       legal actions only, in both networks
    minimise  the Huber loss of y - Q(s_t, a_t), weighted by importance  +  the KL to the reference, if in the loss

The network sees up to `context` decisions before the drawn one. At play it sees all those within its attention window: a
smaller `context` is faster, and trains it on shorter histories than it has at play. Exploration is that of the role: its
temperature (0: the most probable action) and its share of random actions.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor
from torch.nn.functional import huber_loss

from agents.policy.network import Network, Output
from training.envs.network_players import behaviour_log_probs, returns_of
from training.online.config import OnlineConfig, Positive, RuleSettings, Share
from training.online.metrics import Averages
from training.online.policy_gradient import advantages
from training.online.replay import ReplayBuffer, Windows
from training.online.role import Role
from training.online.rollout import Rollout
from training.online.schedules import ScheduleSettings
from training.online.trainer import Metrics, Trainer


@dataclass
class Calibration:
    """The sums of the least squares that say what a nat of a role's logits is worth (see the module)."""

    covariance: float = 0.0  # Σ x (G - V)
    variance: float = 0.0  # Σ x²
    noise: float = 0.0  # Σ x² (G - V)²

    def add(self, rollout: Rollout, discount: float) -> None:
        """Count the decisions of a rollout."""
        residuals = advantages(rollout, rollout.rewards, discount, 1.0)  # [D], G - V
        played = behaviour_log_probs(rollout.logits, rollout.legal, rollout.manner).exp()  # [D, 13]
        logits = rollout.logits.masked_fill(~rollout.legal, 0.0)
        expected = (played * logits).sum(-1)
        x = (logits.gather(-1, rollout.actions[:, None])[:, 0] - expected)[rollout.in_loss].double()
        residuals = residuals[rollout.in_loss].double()
        self.covariance += float((x * residuals).sum())
        self.variance += float(x.square().sum())
        self.noise += float((x * residuals).square().sum())

    def scale(self, most: float) -> float:
        """τ, at most `most` and at least its standard error; `most` where nothing was measured."""
        if self.variance == 0:
            return most
        return min(most, max(self.covariance, math.sqrt(self.noise)) / self.variance)


class DDQN(Trainer):
    """See the module."""

    class Settings(RuleSettings):
        """The settings.

        advantage_scale: τ of Q(s, a) = V(s) + τ (logit(a) - max logit). calibrate: measure τ for a role that starts from a
        checkpoint: at most advantage_scale, at least its standard error; files of earlier versions do not have it. context:
        earlier decisions that a sampled decision is processed with. huber: δ of the loss. target: `polyak` moves the target
        network by `target_rate` after each update; `periodic` copies the network every `target_every` updates.
        """

        name: Literal["ddqn"]
        discount: Share
        n_step: Annotated[int, Field(ge=1)]
        advantage_scale: Positive
        calibrate: bool = False
        context: Annotated[int, Field(ge=0)]
        batch_decisions: Annotated[int, Field(ge=1)]
        updates: Annotated[int, Field(ge=1)]
        learning_starts: Annotated[int, Field(ge=0)]
        huber: Positive
        target: Literal["polyak", "periodic"]
        target_rate: Annotated[float, Field(gt=0, le=1)]
        target_every: Annotated[int, Field(ge=1)]
        importance_exponent: ScheduleSettings
        needs_replay: ClassVar[bool] = True
        needs_probabilities: ClassVar[bool] = False

    def __init__(self, settings: OnlineConfig, **places: Any) -> None:
        super().__init__(settings, **places)
        self._targets: dict[str, Network] = {}
        self._calibrations = {
            name: Calibration()
            for name, role in self.roles.items()
            if self.rule.calibrate and role.settings.network.start_from
        }
        for number, (name, role) in enumerate(self.roles.items()):
            self._targets[name] = copy.deepcopy(role.network).requires_grad_(False)
            replay = role.settings.replay
            role.replay = ReplayBuffer(
                replay.capacity,
                self.replay_fields(),
                device=self.device,
                prioritised=replay.prioritised,
                priority_exponent=replay.priority_exponent,
                seed=settings.seed + 10 + number,
            )

    def learn(self, role: Role, rollout: Rollout, reference: Tensor | None) -> Metrics:
        rule, replay, target = self.rule, role.replay, self._targets[role.name]
        assert replay is not None
        calibration = self._calibrations.get(role.name)
        if calibration is not None and role.updates == 0:
            calibration.add(rollout, rule.discount)
        scale = self.advantage_scale(role)
        fields = {
            "token_ids": rollout.token_ids,
            "features": rollout.features,
            "legal": rollout.legal,
            "actions": rollout.actions,
            "rewards": self.shaped(rollout, reference),
            "reference": rollout.logits if reference is None else reference,
        }
        replay.add(fields, rollout.lengths, rollout.terminated)
        averages = Averages()
        if len(replay) < rule.learning_starts or not replay.drawable:
            return {"replay": float(len(replay)), "advantage_scale": scale}
        for _ in range(rule.updates):
            windows = replay.sample(
                rule.batch_decisions,
                context=rule.context,
                n_step=rule.n_step,
                discount=rule.discount,
                importance_exponent=rule.importance_exponent.at(self.iteration),
            )
            loss, errors, q = self._loss(role, target, windows, rule, scale)
            gradient_norm = role.update(loss)
            replay.update_priorities(windows.indices, errors.abs())
            self._move(target, role, rule)
            averages.add(loss=loss, q=q.mean(), td_error=errors.abs().mean(), gradient_norm=gradient_norm)
        return averages.means() | {"replay": float(len(replay)), "advantage_scale": scale}

    def advantage_scale(self, role: Role) -> float:
        """τ of a role: the setting, or what was measured."""
        calibration, most = self._calibrations.get(role.name), self.rule.advantage_scale
        return most if calibration is None else calibration.scale(most)

    def _loss(
        self, role: Role, target: Network, windows: Windows, rule: DDQN.Settings, scale: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The loss, and of each drawn decision the error and its Q-value, both [count]. scale: τ."""
        given = [windows.fields[name] for name in ("token_ids", "features", "legal")]
        rows = torch.arange(len(windows.at), device=windows.at.device)
        output = role.network(*given, windows.valid)
        q_values = q_of(output, scale)  # [count, L, 13]
        actions = windows.fields["actions"][rows, windows.at]
        q = q_values[rows, windows.at, actions]
        with torch.no_grad():
            best = output.logits[rows, windows.next_at].argmax(-1)
            after = q_of(target(*given, windows.valid), scale)[rows, windows.next_at, best]
            wanted = windows.returns + windows.discounts * torch.where(windows.discounts > 0, after, 0.0)
        losses = huber_loss(q, wanted, reduction="none", delta=rule.huber)
        logits, legal = output.logits[rows, windows.at], windows.fields["legal"][rows, windows.at]
        penalty = self.penalty(logits, windows.fields["reference"][rows, windows.at], legal)
        return (windows.weights * losses).mean() + penalty, (wanted - q).detach(), q.detach()

    @staticmethod
    def _move(target: Network, role: Role, rule: DDQN.Settings) -> None:
        """Move the target network towards the role's, or copy it when that is due."""
        rate = rule.target_rate if rule.target == "polyak" else float(role.updates % rule.target_every == 0)
        with torch.no_grad():
            for old, new in zip(target.parameters(), role.network.parameters(), strict=True):
                old.lerp_(new, rate)

    def replay_fields(self) -> dict[str, Tensor]:
        """An example of what the replay buffer holds of a decision. reference: logits of the reference policy."""
        layout = self.layout
        return {
            "token_ids": torch.zeros((0, layout.tokens, layout.ids), dtype=torch.int16),
            "features": torch.zeros((0, layout.tokens, layout.features)),
            "legal": torch.zeros((0, layout.actions), dtype=torch.bool),
            "actions": torch.zeros(0, dtype=torch.int64),
            "rewards": torch.zeros(0),
            "reference": torch.zeros((0, layout.actions)),
        }

    def replace(self, name: str, by: str) -> None:
        super().replace(name, by)
        self._targets[name].load_state_dict(self.roles[name].network.state_dict())

    def state(self) -> dict[str, Any]:
        return {
            **super().state(),
            "targets": {name: each.state_dict() for name, each in self._targets.items()},
            "calibrations": {name: asdict(each) for name, each in self._calibrations.items()},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        for name, each in self._targets.items():
            each.load_state_dict(state["targets"][name])
        for name, sums in state.get("calibrations", {}).items():  # states of earlier versions have none
            self._calibrations[name] = Calibration(**sums)


def q_of(output: Output, advantage_scale: float) -> Tensor:
    """Return the Q-values [..., 13] of a network's output; -inf for illegal actions."""
    best = output.logits.max(-1, keepdim=True).values
    advantages = output.logits - torch.where(best.isfinite(), best, 0.0)  # a decision without legal actions has none
    return returns_of(output.value)[..., None] + advantage_scale * advantages
