"""A frozen reference: whatever is learned, the policy stays near to the one that it came from, or to another.

To the loss of any rule is added, as its mean over all decisions,

    coefficient · KL,    KL = Σ_a π(a) (r(a) - 1 - log r(a)),    r(a) = π_ref(a) / π(a),    over the legal actions a.

The bracket is the k3 estimator of KL(π || π_ref). Where actions are words it is evaluated at the one that was drawn; there
are at most 13 here, so it is evaluated at each legal one and weighed by the policy: its expectation, which is the KL itself,
without the noise of drawing. The gradient flows through π alone: the reference is asked under no_grad and without dropout.

With a `target` the coefficient follows the KL: after each step it grows or shrinks by up to RATE, in proportion to how far
the step's KL lies above or below the target, and stays within FARTHEST times what it began with. The KL that it follows is
that of the policy as it plays, without dropout: dropout alone puts the policy some distance from itself, which may exceed
the target and which no coefficient can reduce. Where there is dropout, that costs one more forward pass of each batch.

Results and KL are never mixed in what a rule learns from: its rewards, advantages and values are those of the raw result.
Measured side by side, each a mean over decisions: `kl` (nats), `kl_coefficient`, `reward` (the raw result of the decision's
battle, of the data and not of the policy), and `shaped_return` = reward - coefficient · KL. With dropout, `kl` is what is in
the loss; with a target beside it, `kl_without_dropout` is what the coefficient follows.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from agents.policy.network import Network
from training.algorithms.tensors import Sums, Tensors, log_probabilities
from training.config import BadConfig

#: The logarithm by which a step can change the coefficient, at most.
RATE = 0.05
#: How many times larger or smaller than at the beginning it may become.
FARTHEST = 1000.0


class Reference:
    """The frozen policy, and the coefficient, which is all that changes here. target: nats a decision, 0 for none.

    identity: of the checkpoint, so that a run does not go on with another one.
    """

    def __init__(self, network: Network, coefficient: float, target: float, identity: str) -> None:
        self._network = network.eval().requires_grad_(False)
        self._began, self.coefficient, self.target, self._identity = coefficient, coefficient, target, identity

    @property
    def state(self) -> dict[str, Any]:
        """What a checkpoint must keep to go on."""
        return {"identity": self._identity, "coefficient": self.coefficient}

    def restore(self, state: dict[str, Any]) -> None:
        """Goes on from a `state`. Raises BadConfig where it is that of another reference."""
        if state["identity"] != self._identity:
            raise BadConfig("reference.checkpoint: differs from the one that the run was started with: restore it")
        self.coefficient = state["coefficient"]

    @torch.no_grad()
    def logits(self, batch: Tensors) -> Tensor:
        """What the reference thinks of the batch: [B, T, 13], -inf where illegal."""
        logits: Tensor = self._network(batch.ids, batch.numbers, batch.legal, batch.real).logits
        return logits

    def penalty(self, logits: Tensor, reference: Tensor, batch: Tensors) -> tuple[Tensor, Sums]:
        """coefficient · KL summed over the batch's decisions, and what is measured. logits: the policy's, as `reference`."""
        kl_sum = (kl(logits, reference, batch.legal) * batch.real).sum()
        weighted = self.coefficient * kl_sum
        count = batch.real.sum()
        reward = (batch.results[:, None] * batch.real).sum()
        sums: Sums = {
            "kl": (kl_sum.detach(), count),
            "kl_coefficient": (self.coefficient * count, count),
            "reward": (reward, count),
            "shaped_return": (reward - weighted.detach(), count),
        }
        return weighted, sums

    @torch.no_grad()
    def without_dropout(self, network: Network, reference: Tensor, batch: Tensors) -> Sums:
        """The KL of the policy as it plays, in nats a decision; exactly 0 where its weights are the reference's.

        network: the learner, in training mode, in which it is left. reference: logits [B, T, 13] of `logits`.
        """
        network.eval()
        logits = network(batch.ids, batch.numbers, batch.legal, batch.real).logits
        network.train()
        kl_sum = (kl(logits, reference, batch.legal) * batch.real).sum()
        return {"kl_without_dropout": (kl_sum, batch.real.sum())}

    def adapt(self, measured: float) -> None:
        """Moves the coefficient after a step whose mean KL was `measured`; without a target nothing changes."""
        if self.target:
            off = min(1.0, max(-1.0, measured / self.target - 1))
            moved = self.coefficient * math.exp(RATE * off)
            self.coefficient = min(self._began * FARTHEST, max(self._began / FARTHEST, moved))


def kl(logits: Tensor, reference: Tensor, legal: Tensor) -> Tensor:
    """KL(π || π_ref) [...] in nats from both policies' logits [..., 13], over the legal actions [..., 13]."""
    log_policy, log_reference = log_probabilities(logits, legal), log_probabilities(reference, legal)  # 0 where illegal
    policy = log_policy.exp()
    # π (r - 1 - log r), with π r = π_ref: r alone may be too large for a float. Where illegal r is 1, and all of it 0.
    return (log_reference.exp() - policy - policy * (log_reference - log_policy)).sum(-1)
