"""The terms that all policy-gradient rules share: log-probabilities as played, entropy, and the KL to the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from torch import Tensor

from agents.policy.distributions import entropy, log_prob_of, log_probs
from training.online.players import played
from training.online.rollout import Rollout

if TYPE_CHECKING:
    from training.online.trainer import Trainer


class PolicyTerms(NamedTuple):
    """log_prob: log μ(a | h) [n] of the actions, as they are played. entropy: of π at temperature 1, mean, nats.

    penalty: coefficient · mean KL to the reference, where that is in the loss; else 0.
    """

    log_prob: Tensor
    entropy: Tensor
    penalty: Tensor


def policy_terms(
    trainer: Trainer, rollout: Rollout, index: Tensor, logits: Tensor, reference: Tensor | None
) -> PolicyTerms:
    """index: int64 [n], decisions of the rollout. logits: [n, 13], the network's for them. reference: logits [D, 13]."""
    legal = rollout.legal[index]
    return PolicyTerms(
        log_prob_of(played(logits, legal, rollout.manner), rollout.actions[index]),
        entropy(log_probs(logits, legal)).mean(),
        trainer.penalty(logits, None if reference is None else reference[index], legal),
    )
