"""The gradient noise scale: the number of decisions from which a larger minibatch stops paying.

Simple noise scale of McCandlish et al. 2018, "An Empirical Model of Large-Batch Training", appendix A:

    B = tr(Σ) / |G|²        Σ: covariance of one decision's gradient, G: the true gradient

A minibatch much smaller than B is mostly noise, one much larger is wasted. Both parts are estimated without a further
backward pass: from the squared norms of the gradients of an iteration's m minibatches of b decisions (their mean: `small`)
and of the mean gradient (`big`),

    |G|²  ≈  (m b · big - b · small) / (m b - b)        tr(Σ)  ≈  (small - big) / (1/b - 1/(m b))

and each is averaged over iterations before they are divided, because the estimates of one iteration are wild. The weights
move a little from one minibatch to the next, and decisions of one battle are not independent: it is an order of magnitude.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils import get_total_norm

#: The share of the average that an iteration keeps.
_KEPT = 0.97


class NoiseScale:
    """Of one network. It gets the gradients of a rollout's minibatches, each decision once; `close` ends the rollout."""

    def __init__(self) -> None:
        self._sum: list[Tensor] = []
        self._squared_norms: list[float] = []
        self._sizes: list[int] = []
        self._noise = self._signal = 0.0

    def add(self, gradients: Sequence[Tensor], norm: float, decisions: int) -> None:
        """Take up the gradient of a minibatch's mean loss, before it is clipped.

        gradients: of each parameter; norm: of all together; decisions: in the minibatch.
        """
        if not math.isfinite(norm):
            return
        if not self._sum:
            self._sum = [torch.zeros_like(gradient) for gradient in gradients]
        torch._foreach_add_(self._sum, list(gradients), alpha=decisions)
        self._squared_norms.append(norm**2)
        self._sizes.append(decisions)

    def close(self) -> float | None:
        """End a rollout. Returns the noise scale in decisions; None where there is one minibatch only, or no signal."""
        norms, sizes, total = self._squared_norms, self._sizes, sum(self._sizes)
        if len(sizes) > 1:
            small, size = sum(norms) / len(norms), total / len(sizes)
            big = float(get_total_norm(self._sum)) ** 2 / total**2
            signal = (total * big - size * small) / (total - size)
            noise = (small - big) / (1 / size - 1 / total)
            self._signal = _KEPT * self._signal + (1 - _KEPT) * signal
            self._noise = _KEPT * self._noise + (1 - _KEPT) * noise
        self._sum, self._squared_norms, self._sizes = [], [], []
        return self._noise / self._signal if self._signal > 0 and self._noise > 0 else None

    def state(self) -> dict[str, Any]:
        """What a checkpoint must store to resume, between two rollouts."""
        return {"noise": self._noise, "signal": self._signal}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a `state`."""
        self._noise, self._signal = state["noise"], state["signal"]
