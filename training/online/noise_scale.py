"""The gradient noise scale: the number of decisions from which a larger minibatch stops paying.

Simple noise scale of McCandlish et al. 2018, "An Empirical Model of Large-Batch Training", appendix A:

    B = tr(Σ) / |G|²        Σ: covariance of one decision's gradient, G: the true gradient

A minibatch much smaller than B is mostly noise, one much larger is wasted. Both parts are estimated without a further
backward pass, from the mean gradients g and h of the two halves of a minibatch, of n and m decisions, at the same weights:

    |G|²  ≈  g · h        tr(Σ)  ≈  |g - h|² / (1/n + 1/m)

and each is averaged over minibatches and iterations before they are divided, because single estimates are wild. Decisions of
one battle are not independent, and both sides' of a battle may be in different halves: it is an order of magnitude.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

#: The share of the average that an iteration keeps.
_KEPT = 0.97
#: Of a minibatch: from this share on the gradient is that of its first half.
_HALF = 0.4


class NoiseScale:
    """Of one network. It gets the gradients of minibatches as they grow, each decision once; `close` ends a rollout."""

    def __init__(self) -> None:
        self._share, self._decisions = 0.0, 0
        self._half: tuple[list[Tensor], float, int] | None = None  # gradient, share and decisions of a first half
        self._estimates: list[tuple[float, float]] = []
        self._noise = self._signal = 0.0

    def add(self, gradients: Sequence[Tensor], share: float, decisions: int) -> None:
        """Look at the gradient of a minibatch's mean loss as far as it is summed up, after each piece, before it is clipped.

        gradients: of each parameter; share: the piece's, of the minibatch's decisions, of which there are `decisions`. The
        minibatch ends where its shares add up to 1. One of a single piece says nothing.
        """
        self._share += share
        self._decisions += decisions
        if self._share > 1 - 1e-6:
            if self._half is not None:
                self._end(gradients, *self._half)
            self._share, self._decisions, self._half = 0.0, 0, None
        elif self._half is None and self._share > _HALF:
            self._half = [gradient.clone() for gradient in gradients], self._share, self._decisions

    def _end(self, whole: Sequence[Tensor], first: list[Tensor], share: float, decisions: int) -> None:
        """Estimate by a minibatch's gradient and the part of it that its first `decisions` decisions contributed."""
        second = [total - part for total, part in zip(whole, first, strict=True)]
        mine, others = 1 / share, 1 / (1 - share)
        signal = mine * others * _dot(first, second)
        squares = mine**2 * _dot(first, first) + others**2 * _dot(second, second)
        noise = (squares - 2 * signal) / (1 / decisions + 1 / (self._decisions - decisions))
        if math.isfinite(signal) and math.isfinite(noise):
            self._estimates.append((signal, noise))

    def close(self) -> float | None:
        """End a rollout. Returns the noise scale in decisions; None after one without estimates, or without a signal."""
        estimates, self._estimates = self._estimates, []
        if not estimates:
            return None
        signals, noises = zip(*estimates, strict=True)
        self._signal = _KEPT * self._signal + (1 - _KEPT) * sum(signals) / len(signals)
        self._noise = _KEPT * self._noise + (1 - _KEPT) * sum(noises) / len(noises)
        return self._noise / self._signal if self._signal > 0 else None

    def state(self) -> dict[str, Any]:
        """What a checkpoint must store to resume, between two rollouts."""
        return {"noise": self._noise, "signal": self._signal}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a `state`."""
        self._noise, self._signal = state["noise"], state["signal"]


def _dot(left: Sequence[Tensor], right: Sequence[Tensor]) -> float:
    """The inner product of two gradients, each in parts."""
    return float(sum(torch.dot(a.flatten(), b.flatten()) for a, b in zip(left, right, strict=True)))
