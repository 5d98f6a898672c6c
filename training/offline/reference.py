"""KL penalty towards a frozen reference policy: the starting checkpoint, or another one.

Added to the loss of any learning rule, as a mean over all decisions:

    coefficient · KL(π || π_ref),    KL = Σ_a π(a) (r(a) - 1 - log r(a)),    r(a) = π_ref(a) / π(a),    over legal actions a

The bracket is the k3 estimator of the KL (Schulman 2020, http://joschu.net/blog/kl-approx.html). RLHF evaluates it at one
sampled token; here there are at most 13 actions, so it is evaluated at all of them and weighted by π, which gives the exact
KL without sampling noise. Gradients flow through π only: the reference runs under no_grad and without dropout.

With `reference.target` the coefficient is adapted after each step, as in Ziegler et al. 2019 (section 2.2): it moves by a
factor of at most exp(ADAPTATION_RATE), in proportion to how far the step's KL is from the target, and stays within a factor
of MAX_FACTOR of its initial value. The KL that it adapts to is measured without dropout, since dropout alone puts the policy
some distance from itself, which may exceed the target and which no coefficient can reduce. With dropout this costs one more
forward pass per batch.

The penalty is not part of the reward: the rules' advantages and value targets use the raw result. Reported side by side,
each as a mean over decisions: `kl` (nats), `kl_coefficient`, `reward` (the raw result of the decision's battle, a property
of the data), and `shaped_return` = reward - coefficient · KL. With dropout, `kl` is the one in the loss;
`kl_without_dropout` is the one that the coefficient adapts to (with a target only).
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from agents.policy.distributions import kl
from agents.policy.network import Network
from training.offline.tensors import Sums, Tensors
from training.runs.config_reader import BadConfig

#: Maximum change of log(coefficient) per step.
ADAPTATION_RATE = 0.05
#: The coefficient stays within [initial / MAX_FACTOR, initial * MAX_FACTOR].
MAX_FACTOR = 1000.0


class KlPenalty:
    """The frozen reference policy and the KL coefficient, the only state that changes during training.

    coefficient: its initial value. target: target KL in nats per decision; 0 keeps the coefficient fixed. identity: hash of
    the reference checkpoint, which a resumed run must match.
    """

    def __init__(self, network: Network, coefficient: float, target: float, identity: str) -> None:
        self._network = network.eval().requires_grad_(False)
        self._initial, self.coefficient, self.target, self._identity = coefficient, coefficient, target, identity

    @property
    def state(self) -> dict[str, Any]:
        """What a checkpoint must store to resume."""
        return {"identity": self._identity, "coefficient": self.coefficient}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a `state`. Raises BadConfig if it belongs to another reference checkpoint."""
        if state["identity"] != self._identity:
            raise BadConfig("reference.checkpoint: differs from the one that the run was started with: restore it")
        self.coefficient = state["coefficient"]

    @torch.no_grad()
    def logits(self, batch: Tensors) -> Tensor:
        """Return the reference's logits [B, T, 13], -inf for illegal actions."""
        logits: Tensor = self._network(batch.token_ids, batch.features, batch.legal, batch.valid_mask).logits
        return logits

    def penalty(self, logits: Tensor, reference: Tensor, batch: Tensors) -> tuple[Tensor, Sums]:
        """Return coefficient · KL summed over the batch's decisions, and the sums behind the metrics.

        logits, reference: of the policy and of the reference, both [B, T, 13].
        """
        kl_sum = (kl(logits, reference, batch.legal) * batch.valid_mask).sum()
        weighted = self.coefficient * kl_sum
        count = batch.valid_mask.sum()
        reward = (batch.results[:, None] * batch.valid_mask).sum()
        sums: Sums = {
            "kl": (kl_sum.detach(), count),
            "kl_coefficient": (self.coefficient * count, count),
            "reward": (reward, count),
            "shaped_return": (reward - weighted.detach(), count),
        }
        return weighted, sums

    @torch.no_grad()
    def kl_without_dropout(self, network: Network, reference: Tensor, batch: Tensors) -> Sums:
        """Return the KL of the policy as it plays, in nats per decision; exactly 0 for the reference's own weights.

        network: the trained network, in training mode, which is restored. reference: logits [B, T, 13] of `logits`.
        """
        network.eval()
        logits = network(batch.token_ids, batch.features, batch.legal, batch.valid_mask).logits  # [B, T, 13]
        network.train()
        kl_sum = (kl(logits, reference, batch.legal) * batch.valid_mask).sum()
        return {"kl_without_dropout": (kl_sum, batch.valid_mask.sum())}

    def adapt(self, measured: float) -> None:
        """Adapt the coefficient to a step's mean KL `measured` (nats per decision). Without a target nothing changes."""
        if self.target:
            error = min(1.0, max(-1.0, measured / self.target - 1))
            adapted = self.coefficient * math.exp(ADAPTATION_RATE * error)
            self.coefficient = min(self._initial * MAX_FACTOR, max(self._initial / MAX_FACTOR, adapted))
