"""A batch as tensors, and the policy metrics that every learning rule reports."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from agents.policy.distributions import entropy
from training.data.stream import Batch
from training.data.targets import Target
from training.data.trajectory import MISSING

#: Metric -> (its sum over the batch, the number of decisions summed over). Summed across micro-batches and processes.
Sums = dict[str, tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Tensors:
    """A batch on a device: B trajectories of up to T decisions, padded at the end.

    The shapes are those of `Batch`; features, target_policy, values and results are float32, actions int64. policy_mask,
    value_mask: bool [B]; remaining: int64 [B]; each may be [1] for all trajectories. rejected: MISSING without a
    pair.
    """

    token_ids: Tensor  # int16 [B, T, 19, 12]
    features: Tensor  # float32 [B, T, 19, 56]
    legal: Tensor  # bool [B, T, 13]
    actions: Tensor  # int64 [B, T], MISSING where unknown
    target_policy: Tensor  # float32 [B, T, 13], zeros where there is none
    targets: Tensor  # int8 [B, T], a `Target`
    values: Tensor  # float32 [B, T], NaN where there is none
    results: Tensor  # float32 [B]
    valid_mask: Tensor  # bool [B, T], False at padding
    policy_mask: Tensor = field(default_factory=lambda: torch.ones(1, dtype=torch.bool))
    value_mask: Tensor = field(default_factory=lambda: torch.ones(1, dtype=torch.bool))
    remaining: Tensor = field(default_factory=lambda: torch.zeros(1, dtype=torch.int64))
    rejected: Tensor = field(default_factory=lambda: torch.full((1, 1), MISSING))  # int64 [B, T] or [1, 1]

    @property
    def in_policy_loss(self) -> Tensor:
        """bool [B, T]: decisions of the trajectories that the policy is trained on."""
        return self.valid_mask & self.policy_mask[:, None]

    @property
    def in_value_loss(self) -> Tensor:
        """bool [B, T]: decisions of the trajectories that the value is trained on."""
        return self.valid_mask & self.value_mask[:, None]

    @property
    def action_known(self) -> Tensor:
        """bool [B, T]: decisions that the policy is trained on and whose action is known."""
        return self.in_policy_loss & (self.actions != MISSING)

    @property
    def is_pair(self) -> Tensor:
        """bool [B, T]: decisions that the policy is trained on with a chosen and a rejected action."""
        return self.action_known & (self.rejected != MISSING)

    @property
    def has_next(self) -> Tensor:
        """bool [B, T]: decisions whose successor (the next decision or the end of the battle) is in the batch.

        These are all decisions except the last one of a truncated trajectory.
        """
        last = self.valid_mask.sum(-1, keepdim=True) - 1  # [B, 1]
        truncated = (self.remaining > 0)[:, None]  # [B, 1] or [1, 1]
        steps = torch.arange(self.valid_mask.shape[1], device=self.valid_mask.device)  # [T]
        return self.valid_mask & ~(truncated & (steps == last))


def to_device(batch: Batch, device: torch.device) -> Tensors:
    """Convert a batch to tensors on a device."""
    dtypes = {
        "features": torch.float32, "target_policy": torch.float32, "values": torch.float32, "actions": torch.int64,
        "rejected": torch.int64,
    }  # fmt: skip
    parts = {name: torch.from_numpy(array).to(device, non_blocking=True) for name, array in vars(batch).items()}
    return Tensors(**{name: part.to(dtypes.get(name, part.dtype)) for name, part in parts.items()})


def policy_metrics(logits: Tensor, log_policy: Tensor, batch: Tensors) -> Sums:
    """Return metrics of the policy over decisions with two or more legal actions. logits, log_policy: [B, T, 13].

    agreement: fraction of decisions where argmax π is the action played. entropy: of the policy, in nats. Over decisions
    with an expert's target policy, expert_agreement: fraction where both argmax agree; expert_kl: KL(expert || policy),
    nats.
    """
    free = batch.valid_mask & (batch.legal.sum(-1) > 1)  # [B, T]
    known, labelled = free & batch.action_known, free & (batch.targets == Target.EXPERT)  # [B, T]
    argmax = logits.argmax(-1)  # [B, T]
    kl = (torch.xlogy(batch.target_policy, batch.target_policy) - batch.target_policy * log_policy).sum(-1)  # [B, T]
    return {
        "agreement": (((argmax == batch.actions) & known).sum(), known.sum()),
        "entropy": ((entropy(log_policy) * free).sum(), free.sum()),
        "expert_agreement": (((argmax == batch.target_policy.argmax(-1)) & labelled).sum(), labelled.sum()),
        "expert_kl": ((kl * labelled).sum(), labelled.sum()),
    }


def add_sums(sums: Sums, more: Sums) -> Sums:
    """Add two sets of sums, on the CPU. The result has the metrics of `more`."""
    zero = (torch.zeros(()), torch.zeros(()))
    return {
        name: (sums.get(name, zero)[0] + total.cpu(), sums.get(name, zero)[1] + count.cpu())
        for name, (total, count) in more.items()
    }


def scale_sums(sums: Sums, factor: float) -> Sums:
    """Multiply sums and counts by a factor, which gives them that weight in a mean with others."""
    return {name: (total * factor, count * factor) for name, (total, count) in sums.items()}


def local_means(sums: Sums) -> dict[str, float]:
    """Return the means of this process's sums, without metrics whose count is 0."""
    return {name: float(total) / float(count) for name, (total, count) in sums.items() if count}
