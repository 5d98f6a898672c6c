"""What a run minimises: the loss of its learning rule, and the coefficient times the KL to its reference."""

from __future__ import annotations

from accelerate import Accelerator
from torch import Tensor, nn

from training.algorithms import loss_of
from training.algorithms.reference import Reference
from training.algorithms.tensors import Sums, Tensors
from training.config import Config


class Objective:
    """reference: the policy to stay near to, None for none."""

    def __init__(self, config: Config, reference: Reference | None, accelerator: Accelerator) -> None:
        self._config, self._reference, self._accelerator = config, reference, accelerator

    def __call__(self, network: nn.Module, batch: Tensors) -> tuple[Tensor, Sums]:
        """The loss summed over the batch's decisions, and what is measured. network: as it is trained, or unwrapped."""
        near, own = self._reference, {}
        with self._accelerator.autocast():
            output = network(batch.ids, batch.numbers, batch.legal, batch.real)
            reference = None if near is None else near.logits(batch)
            if near is not None and reference is not None and self._follows_another_kl(near, network):
                own = near.without_dropout(self._accelerator.unwrap_model(network), reference, batch)
        loss, sums = loss_of(self._config.algorithm)(output, batch)
        if near is None or reference is None:
            return loss, sums
        penalty, more = near.penalty(output.logits, reference, batch)
        return loss + penalty, {**sums, **more, **own}

    def _follows_another_kl(self, near: Reference, network: nn.Module) -> bool:
        """Whether the coefficient follows another KL than that in the loss, which is under dropout."""
        return bool(near.target and network.training and self._config.network.dropout)
