"""A batch as tensors, and what every learning rule measures in it."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from training.data.stream import Batch
from training.data.targets import Target
from training.data.trajectory import MISSING

#: What a rule returns beside its loss: for each metric its sum over the batch, and the number of decisions summed over.
Sums = dict[str, tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Tensors:
    """A batch on a device: B trajectories of up to T decisions, see `Batch`. numbers, shares, values, results: float32.

    policy_mask, value_mask: bool [B]; remaining: int64 [B]; or [1] for all of them.
    """

    ids: Tensor
    numbers: Tensor
    legal: Tensor
    actions: Tensor
    shares: Tensor
    targets: Tensor
    values: Tensor
    results: Tensor
    real: Tensor
    policy_mask: Tensor = field(default_factory=lambda: torch.ones(1, dtype=torch.bool))
    value_mask: Tensor = field(default_factory=lambda: torch.ones(1, dtype=torch.bool))
    remaining: Tensor = field(default_factory=lambda: torch.zeros(1, dtype=torch.int64))

    @property
    def of_policy(self) -> Tensor:
        """bool [B, T]: the decisions of the trajectories from which the policy learns."""
        return self.real & self.policy_mask[:, None]

    @property
    def of_value(self) -> Tensor:
        """bool [B, T]: the decisions of the trajectories from which the value learns."""
        return self.real & self.value_mask[:, None]

    @property
    def known(self) -> Tensor:
        """bool [B, T]: the decisions from which the policy learns and of which the action is known."""
        return self.of_policy & (self.actions != MISSING)

    @property
    def followed(self) -> Tensor:
        """bool [B, T]: the decisions after which the next one, or the end of the battle, is in the batch: all but the last
        one of a trajectory that was cut."""
        last = self.real.sum(-1, keepdim=True) - 1
        cut = (self.remaining > 0)[:, None]
        return self.real & ~(cut & (torch.arange(self.real.shape[1], device=self.real.device) == last))


def on_device(batch: Batch, device: torch.device) -> Tensors:
    """The batch there."""
    kinds = {"numbers": torch.float32, "shares": torch.float32, "values": torch.float32, "actions": torch.int64}
    parts = {name: torch.from_numpy(array).to(device, non_blocking=True) for name, array in vars(batch).items()}
    return Tensors(**{name: part.to(kinds.get(name, part.dtype)) for name, part in parts.items()})


def log_probabilities(logits: Tensor, legal: Tensor) -> Tensor:
    """log π [..., 13] of the legal actions; 0 for the illegal ones, so that they may be multiplied by a share of 0."""
    return torch.log_softmax(logits, dim=-1).masked_fill(~legal, 0.0)


def of_actions(log_policy: Tensor, actions: Tensor) -> Tensor:
    """log π(a) [...] of the actions taken; anything where the action is MISSING."""
    return log_policy.gather(-1, actions.clamp(min=0)[..., None])[..., 0]


def measured(logits: Tensor, log_policy: Tensor, batch: Tensors) -> Sums:
    """What every rule measures of the policy, where there was something to choose (two legal actions or more).

    agreement: how often the likeliest action is the one taken; entropy: of the policy, in nats. Where an expert gave a
    target policy, expert_agreement: how often the likeliest actions of both are the same; expert_kl: KL(expert || policy).
    """
    free = batch.real & (batch.legal.sum(-1) > 1)
    known, told = free & batch.known, free & (batch.targets == Target.EXPERT)
    likeliest = logits.argmax(-1)
    entropy = -(log_policy.exp() * log_policy).sum(-1)
    kl = (torch.xlogy(batch.shares, batch.shares) - batch.shares * log_policy).sum(-1)
    return {
        "agreement": (((likeliest == batch.actions) & known).sum(), known.sum()),
        "entropy": ((entropy * free).sum(), free.sum()),
        "expert_agreement": (((likeliest == batch.shares.argmax(-1)) & told).sum(), told.sum()),
        "expert_kl": ((kl * told).sum(), told.sum()),
    }


def added(sums: Sums, more: Sums) -> Sums:
    """Both together, on the CPU."""
    nothing = (torch.zeros(()), torch.zeros(()))
    return {
        name: (sums.get(name, nothing)[0] + total.cpu(), sums.get(name, nothing)[1] + count.cpu())
        for name, (total, count) in more.items()
    }


def scaled(sums: Sums, by: float) -> Sums:
    """Sums and counts times a number, as if so many times as much had been measured."""
    return {name: (total * by, count * by) for name, (total, count) in sums.items()}


def local_means(sums: Sums) -> dict[str, float]:
    """The means of what this process has summed; none of what was never counted."""
    return {name: float(total) / float(count) for name, (total, count) in sums.items() if count}
