"""Probabilities of a policy's actions, from its logits and the legal actions."""

from __future__ import annotations

import torch
from torch import Tensor


def log_probs(logits: Tensor, legal: Tensor) -> Tensor:
    """Return log π [..., 13]; 0 instead of -inf for illegal actions, so that products with a probability of 0 are 0."""
    return torch.log_softmax(logits, dim=-1).masked_fill(~legal, 0.0)


def log_prob_of(log_policy: Tensor, actions: Tensor) -> Tensor:
    """Return log π(a) [...] of the actions [...] played, from log π [..., 13]; undefined where the action is MISSING."""
    return log_policy.gather(-1, actions.clamp(min=0)[..., None])[..., 0]


def entropy(log_policy: Tensor) -> Tensor:
    """Return the entropy [...] in nats of a policy, from log π [..., 13] as `log_probs` returns it."""
    return -(log_policy.exp() * log_policy).sum(-1)


def kl(logits: Tensor, reference: Tensor, legal: Tensor) -> Tensor:
    """Return KL(π || π_ref) [...] in nats, from both policies' logits [..., 13] and the legal actions, bool [..., 13]."""
    log_policy, log_reference = log_probs(logits, legal), log_probs(reference, legal)  # [..., 13], 0 where illegal
    policy = log_policy.exp()
    # π (r - 1 - log r) with π r = π_ref, because r alone may overflow. For an illegal action r is 1 and the term is 0.
    return (log_reference.exp() - policy - policy * (log_reference - log_policy)).sum(-1)
