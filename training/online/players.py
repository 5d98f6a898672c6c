"""Networks that play many seats at once, and the probabilities with which they do."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.observation.observation import Observations
from agents.policy.network import Memory, Network, expected_value

Ints = NDArray[np.int64]


class SamplingSettings(NamedTuple):
    """How a network's logits are played. temperature: their divisor; 0: the most probable action.

    epsilon: see `behaviour_log_probs`.
    """

    temperature: float
    epsilon: float


class SampledActions(NamedTuple):
    """Decisions of n seats. log_probs: of the actions, as played. values: expected returns, from -1 to 1."""

    actions: NDArray[np.int64]  # [n]
    log_probs: NDArray[np.float32]  # [n]
    logits: NDArray[np.float32]  # [n, 13], -inf for illegal actions
    values: NDArray[np.float32]  # [n]

    def take(self, rows: Ints) -> SampledActions:
        """These decisions; the same arrays if they are all."""
        if len(rows) == len(self.actions):
            return self
        return SampledActions(self.actions[rows], self.log_probs[rows], self.logits[rows], self.values[rows])


def behaviour_log_probs(logits: Tensor, legal: Tensor, manner: SamplingSettings) -> Tensor:
    """Return log μ [..., 13], of the policy as it is played; 0 for illegal actions.

    μ = (1 - ε) softmax(logits / temperature) + ε / number of legal actions; at temperature 0 the most probable action has
    all of the softmax. logits: [..., 13], -inf for illegal actions.
    """
    if manner.temperature == 0:
        log_policy = torch.zeros_like(logits).scatter(-1, logits.argmax(-1, keepdim=True), 1.0).log()
    else:
        log_policy = torch.log_softmax(logits / manner.temperature, dim=-1)
    if manner.epsilon:
        evenly = torch.log(manner.epsilon / legal.sum(-1, keepdim=True).clamp(min=1).float())
        kept = math.log1p(-manner.epsilon) if manner.epsilon < 1 else -math.inf
        log_policy = torch.logaddexp(log_policy + kept, evenly)
    return log_policy.masked_fill(~legal, 0.0)


def returns_of(value_logits: Tensor) -> Tensor:
    """Return expected returns [...], from -1 (lost) to 1 (won), of a network's value logits [..., bins]."""
    return 2 * expected_value(value_logits) - 1


class NetworkPlayer:
    """A network in `slots` seats, each with the memory of its battle. network: in evaluation mode.

    generator: draws the actions, on the network's device.
    """

    def __init__(self, network: Network, slots: int, manner: SamplingSettings, generator: torch.Generator) -> None:
        self._network, self._manner, self._generator = network, manner, generator
        self.device = next(network.parameters()).device
        self._memory = Memory(network.shape, slots, self.device)
        self._positions = np.zeros(slots, np.int64)

    def decide(self, slots: Ints, seen: Observations) -> SampledActions:
        """Decide for the seats in these slots, and remember what they saw. slots: [n], all different."""
        logits, values, legal = self._step(slots, seen)
        self._positions[slots] += 1
        if self._manner == SamplingSettings(0.0, 0.0):
            actions = logits.argmax(-1)
            log_probs = torch.zeros_like(values)
        else:
            log_policy = behaviour_log_probs(logits, legal, self._manner)
            probabilities = log_policy.exp().masked_fill(~legal, 0.0)
            actions = torch.multinomial(probabilities, 1, generator=self._generator)[:, 0]
            log_probs = log_policy.gather(1, actions[:, None])[:, 0]
        return SampledActions(
            actions.cpu().numpy(), log_probs.cpu().numpy(), logits.cpu().numpy(), values.cpu().numpy()
        )

    def values(self, slots: Ints, seen: Observations) -> NDArray[np.float32]:
        """The expected returns [n] of positions that are not played on."""
        _, values, _ = self._step(slots, seen)
        return values.cpu().numpy()

    def copy(self, sources: Ints, targets: Ints) -> None:
        """Give the seats in `targets` the memories of those in `sources`."""
        for cache in (self._memory.keys, self._memory.values):
            cache[:, targets] = cache[:, sources]
        self._positions[targets] = self._positions[sources]

    def _step(self, slots: Ints, seen: Observations) -> tuple[Tensor, Tensor, Tensor]:
        device = self.device
        legal = torch.from_numpy(seen.legal).to(device)
        output = self._network.step(
            torch.from_numpy(seen.token_ids).to(device),
            torch.from_numpy(seen.features).to(device),
            legal,
            self._memory,
            torch.from_numpy(slots).to(device),
            torch.from_numpy(self._positions[slots]).to(device),
        )
        return output.logits, returns_of(output.value), legal
