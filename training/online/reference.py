"""The frozen policy that a learner stays near, in online training.

KL(π || π_ref) of a decision is exact: the k3 estimator summed over all legal actions (agents/policy/distributions.py), both
policies at temperature 1. It enters either the loss, as coefficient · mean KL, or the reward: coefficient · (log π(a) -
log π_ref(a)) of the action that was played is taken from each decision's reward (Ziegler et al. 2019, section 2). Its mean
over actions drawn from π is the KL. The KL itself, charged whatever was drawn, would pull nowhere: it is the same for all
actions of a decision, so it cancels in E[∇ log π(a) · A]. Raw rewards stay as they are: `shaped_rewards` returns others.

With a target the coefficient is adapted after each iteration (training/offline/reference.py says how) to the KL that was
measured in its rollout.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from agents.policy import checkpoint
from agents.policy.distributions import log_prob_of, log_probs
from teamsets.formats import Format
from training.online import config
from training.online.rollout import Rollout, forward_packed
from training.online.schedules import ParameterSchedule
from training.runs.config_reader import BadConfig

#: Maximum change of log(coefficient) per iteration, and of the coefficient in all, as a factor.
_RATE, _MAX_FACTOR = 0.1, 1000.0


class Reference:
    """The reference policy and the coefficient; a coefficient of constant 0 has none.

    start_from: of the learner. team_preview: whether the learner chooses its lead in singles.
    """

    def __init__(
        self,
        settings: config.OnlineReference,
        start_from: str,
        played: Format,
        device: torch.device,
        team_preview: bool = False,
    ) -> None:
        name = settings.checkpoint or start_from
        if not name:
            raise BadConfig(
                "reference.checkpoint: not set, nor is learner.network.start_from: set one, or use coefficient 0"
            )
        folder = checkpoint.find(name)
        self._network, about = checkpoint.load(folder, device)
        if unfit := about.unfit_for(played.gen, doubles=played.doubles):
            raise BadConfig(f"reference.checkpoint: {folder}: {unfit}")
        if unfit := about.unfit_as_reference(team_preview=team_preview):
            raise BadConfig(f"reference.checkpoint: {folder}: {unfit}")
        self._network.requires_grad_(False)
        self._identity = checkpoint.identity(folder)
        self.where, self._target = settings.where, settings.target
        self._schedule, self._factor = ParameterSchedule(settings.coefficient), 1.0

    @property
    def coefficient(self) -> float:
        """Its present value."""
        return self._schedule.value * self._factor

    @property
    def memory(self) -> int:
        """Bytes of its weights."""
        return sum(parameter.numel() * parameter.element_size() for parameter in self._network.parameters())

    @torch.no_grad()
    def logits(self, rollout: Rollout, decisions: int) -> Tensor:
        """Return its logits [D, 13], -inf for illegal actions. decisions: that are processed at a time."""
        computed = torch.full_like(rollout.logits, -torch.inf)
        for part in rollout.minibatches(decisions, torch.Generator().manual_seed(0)):
            index, output = forward_packed(self._network, rollout, part)
            computed[index] = output.logits
        return computed

    def shaped_rewards(self, rollout: Rollout, logits: Tensor) -> Tensor:
        """Return the raw rewards minus coefficient · (log π(a) - log π_ref(a)) [D] of the actions that were played.

        logits: of the reference [D, 13].
        """
        log_policy, log_reference = (log_probs(each, rollout.legal) for each in (rollout.logits, logits))
        charged = log_prob_of(log_policy, rollout.actions) - log_prob_of(log_reference, rollout.actions)
        return rollout.rewards - self.coefficient * charged

    def advance(self, measured: float) -> None:
        """Go on to the next iteration. measured: the mean KL of this one, in nats per decision."""
        self._schedule.advance()
        if self._target:
            error = min(1.0, max(-1.0, measured / self._target - 1))
            self._factor = min(_MAX_FACTOR, max(1 / _MAX_FACTOR, self._factor * math.exp(_RATE * error)))

    def state(self) -> dict[str, Any]:
        """What a checkpoint must store to resume."""
        return {"identity": self._identity, "schedule": self._schedule.state, "factor": self._factor}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a `state`. Raises BadConfig if it belongs to another checkpoint."""
        if state["identity"] != self._identity:
            raise BadConfig("reference.checkpoint: differs from the one that the run was started with: restore it")
        self._schedule.restore(state["schedule"])
        self._factor = state["factor"]
