"""The training objective: the learning rule's loss plus the KL penalty towards the reference policy."""

from __future__ import annotations

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from training.offline.config import Config
from training.offline.losses import loss_of
from training.offline.reference import KlPenalty
from training.offline.tensors import Sums, Tensors


class Objective:
    """Computes the loss of a batch. reference: the frozen reference policy, or None if nothing needs it."""

    def __init__(self, config: Config, reference: KlPenalty | None, accelerator: Accelerator) -> None:
        self._config, self._reference, self._accelerator = config, reference, accelerator

    def __call__(self, network: nn.Module, batch: Tensors) -> tuple[Tensor, Sums]:
        """Return the loss summed over the batch's decisions, and the sums behind the metrics.

        network: the network as wrapped for training, or unwrapped.
        """
        reference, kl_sums = self._reference, {}
        with self._accelerator.autocast():
            output = network(batch.token_ids, batch.features, batch.legal, batch.valid_mask)
            reference_logits = None if reference is None else reference.logits(batch)  # [B, T, 13]
            if reference is not None and reference_logits is not None and self._needs_kl_without_dropout(network):
                unwrapped = self._accelerator.unwrap_model(network)
                kl_sums = reference.kl_without_dropout(unwrapped, reference_logits, batch)
        loss, sums = loss_of(self._config.algorithm, reference_logits)(output, batch)
        if reference is None or reference_logits is None:
            return loss, sums
        penalty, penalty_sums = reference.penalty(output.logits, reference_logits, batch)
        return loss + penalty, {**sums, **penalty_sums, **kl_sums}

    def _needs_kl_without_dropout(self, network: nn.Module) -> bool:
        """Whether the coefficient adapts to a KL other than the one in the loss, which is computed under dropout."""
        target = self._config.reference.target
        return bool(target and network.training and self._config.network.dropout)


def means_over_processes(accelerator: Accelerator, sums: Sums) -> dict[str, float]:
    """Return the mean of each metric over all processes."""
    stacked = torch.tensor([[float(part) for part in pair] for pair in sums.values()], device=accelerator.device)
    totals = accelerator.reduce(stacked, reduction="sum").tolist()
    return {name: total / count for name, (total, count) in zip(sums, totals, strict=True) if count}
