"""Expert iteration (Anthony et al. 2017) with the values of a search, in the form of a policy improved by them.

For each decision of a rollout a tree search judges all legal actions. With `determinizations` it searches samples of what
the opponent has not shown, as `search:exact` does when it plays, so that it knows what the network sees and no more.
Without, as always in generation 9, it searches the true position, both teams in view (one search for both seats of a
battle). The network learns from the improved policy

    π'(a | h)  ∝  π_played(a | h) · exp(β Q(a))            Q(a): the search's probability of winning after a
    minimise   KL(π' || π)  +  value_weight · (V(h) - G)²  -  entropy · H(π)  +  the KL to the reference, if in the loss
    G = (1 - search_share) · result + search_share · (2 · the position's value - 1)

as Gumbel MuZero does with completed values (Danihelka et al. 2022, section 4). To first order in β the gradient is that of
the expected value Σ π(a) Q(a): all actions have their share in it, and no result of a battle, so it has far less noise than
a policy gradient by results. Over many battles with the same observation and different hidden teams the network learns the
mean of the targets. π is at temperature 1.

The values of actions differ by a few hundredths and β decides what a target makes of that: at 10 it hardly differs from the
policy that played (metric `target_distance`, the mean total variation between them), at 100 it does.

What the policy loses against the search's choice, `search_regret`, is read from a second search with chance of its own: in
the search that chose, the chosen action's value is too high by the maximum of its noise.
"""

from __future__ import annotations

from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor

from agents.engine import ALL_FORMATS, FORMATS_IN_WORDS, HOSTED_FORMATS
from agents.policy.distributions import entropy, kl, log_probs
from agents.search.exact.game import Positions
from agents.search.exact.teacher import Teacher, positions_of
from teamsets.formats import get_format
from training.envs.network_players import returns_of
from training.online.config import NotNegative, OnlineConfig, Positive, RuleSettings, Share
from training.online.metrics import Averages
from training.online.role import Role
from training.online.rollout import Rollout, forward_in_loss
from training.online.schedules import ScheduleSettings
from training.online.trainer import Metrics, Trainer
from training.runs.config_reader import BadConfig


class ExpertIteration(Trainer):
    """See the module."""

    class Settings(RuleSettings):
        """The settings. It runs on the engines only. Battles against an agent that acts alone are not searched.

        iterations: of the search, for each battle and turn; with determinizations for each seat that decides, all of its
        searches together. determinizations: samples of what the opponent has not shown; 0: the true position, and what files
        of earlier versions mean. regret_share: of the decisions that a second search measures `search_regret` at. trust:
        visits at which an action's value counts as much as its first guess. prior: the share of the policy that played in
        the priors at the search's root; 0 is what files of earlier versions mean. sharpness: β of the improved policy, in
        nats per unit of the probability of winning. search_share: of the search's value in what the network's value learns;
        the rest is the result. weights: of `search:exact`: network, fitted or a file.
        """

        name: Literal["expert_iteration"]
        epochs: Annotated[int, Field(ge=1)]
        minibatch_decisions: Annotated[int, Field(ge=1)]
        iterations: Annotated[int, Field(ge=1)]
        determinizations: Annotated[int, Field(ge=0)] = 0
        regret_share: Share = 0.1
        trust: Positive
        prior: Share = 0.0
        weights: str
        sharpness: ScheduleSettings
        search_share: Share
        value_weight: NotNegative
        entropy: ScheduleSettings

        def check_run(self, config: OnlineConfig) -> None:
            if config.venue != "engine" or config.format not in ALL_FORMATS:
                raise BadConfig(
                    "algorithm.name: expert_iteration: it searches positions of the engines: set venue: engine "
                    f"and format: one of {FORMATS_IN_WORDS}"
                )
            if self.determinizations and config.format in HOSTED_FORMATS:
                raise BadConfig(
                    f"algorithm.determinizations: {self.determinizations}: in {config.format} the search knows both "
                    "teams: set 0"
                )
            if config.reference.where == "reward":
                raise BadConfig("reference.where: reward: expert_iteration learns from no rewards: set loss")
            if self.determinizations > self.iterations:
                raise BadConfig(
                    f"algorithm.determinizations: {self.determinizations}: each needs an iteration of the search: set at "
                    f"most {self.iterations} (algorithm.iterations)"
                )

    def make_teacher(self) -> Teacher:
        rule: ExpertIteration.Settings = self.rule
        threads = self.config.compute.threads or torch.get_num_threads()
        searches = self._positions(), rule.iterations, rule.trust, self.config.seed, threads, rule.regret_share
        return Teacher(*searches, rule.prior)

    def _positions(self) -> Positions:
        rule: ExpertIteration.Settings = self.rule
        return positions_of(get_format(self.config.format).gen, rule.weights, rule.determinizations)

    def learn(self, role: Role, rollout: Rollout, reference: Tensor | None) -> Metrics:
        rule: ExpertIteration.Settings = self.rule
        target = improved(rollout.logits, rollout.searched_values, rule.sharpness.at(self.iteration))  # [D, 13]
        goal = value_goal(rollout, rule.search_share)  # [D]
        entropy_weight = rule.entropy.at(self.iteration)
        averages = Averages()
        for epoch in range(rule.epochs):
            for part in rollout.minibatches(rule.minibatch_decisions, self.shuffle):
                for piece in rollout.pieces(part):
                    index, (logits, values, _) = forward_in_loss(role.network, rollout, piece.trajectories)
                    legal = rollout.legal[index]
                    policy_loss = kl(target[index], logits, legal).mean()
                    value_loss = (returns_of(values) - goal[index]).square().mean()
                    spread = entropy(log_probs(logits, legal)).mean()
                    loss = policy_loss + rule.value_weight * value_loss - entropy_weight * spread
                    loss = loss + self.penalty(logits, None if reference is None else reference[index], legal)
                    averages.add(piece.share, policy_loss=policy_loss, value_loss=value_loss, loss=loss)
                    role.add_piece(piece, loss, fresh=epoch == 0)
                averages.add(gradient_norm=role.step())
        return averages.means() | search_metrics(rollout, target)


def improved(logits: Tensor, values: Tensor, sharpness: float) -> Tensor:
    """Return the logits [D, 13] of the improved policy. values: [D, 13], NaN where the search says nothing: as they are."""
    return logits + sharpness * values.nan_to_num(0.0)


def value_goal(rollout: Rollout, search_share: float) -> Tensor:
    """Return what the network's value learns, [D], from -1 to 1; the result alone where nothing was searched."""
    ends = torch.where(rollout.terminated, rollout.results, rollout.bootstrap).repeat_interleave(rollout.lengths)
    mixed = (1 - search_share) * ends + search_share * (2 * rollout.searched_value - 1)
    return torch.where(rollout.searched_value.isnan(), ends, mixed)


def search_metrics(rollout: Rollout, target: Tensor) -> Metrics:
    """Return `target_distance` and `search_regret`, where decisions were searched. target: logits [D, 13]."""
    searched = ~rollout.searched_value.isnan() & rollout.in_loss
    if not searched.any():
        return {}
    played, wanted = (log_probs(logits, rollout.legal).exp() * rollout.legal for logits in (rollout.logits, target))
    metrics = {"target_distance": float((played - wanted).abs().sum(-1)[searched].mean() / 2)}
    measured = searched & ~rollout.searched_second_values.isnan().all(-1)
    if measured.any():
        values, second_values = rollout.searched_values[measured], rollout.searched_second_values[measured]
        metrics["search_regret"] = float(regret(values, second_values, played[measured]).mean())
    return metrics


def regret(values: Tensor, second_values: Tensor, policy: Tensor) -> Tensor:
    """Return how much likelier than by a policy the seat wins by the action that a search prefers, [n].

    values: of the search that chooses, [n, 13]; second_values: of the one that measures. Both NaN for illegal actions, to
    which the policy [n, 13] gives 0.
    """
    best = values.nan_to_num(-1.0).argmax(-1, keepdim=True)
    measured = second_values.nan_to_num(0.0)
    return measured.gather(-1, best)[..., 0] - (policy * measured).sum(-1)
