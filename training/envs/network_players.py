"""Networks that play many seats at once, and the probabilities with which they do."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from agents.policy.network import expected_value
from training.envs.network_steps import SeenTensors, Steps
from training.envs.venue import Ints


class SamplingSettings(NamedTuple):
    """How a network's logits are played. temperature: their divisor; 0: the most probable action.

    epsilon: see `behaviour_log_probs`.
    """

    temperature: float
    epsilon: float


class SampledActions(NamedTuple):
    """Decisions of n seats, on the network's device. log_probs: of the actions, as played.

    values: expected returns, from -1 to 1.
    """

    actions: Tensor  # int64 [n]
    log_probs: Tensor  # float32 [n]
    logits: Tensor  # float32 [n, 13], -inf for illegal actions
    values: Tensor  # float32 [n]

    def take(self, rows: slice | Tensor) -> SampledActions:
        """These decisions."""
        return SampledActions(*(part[rows] for part in self))


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
    """A network in `slots` seats, each with the memory of its battle. steps: of a network in evaluation mode.

    generator: draws the actions, on the network's device. decides_previews: whether it chooses its lead in singles. Nothing
    here waits for a GPU.
    """

    def __init__(self, steps: Steps, slots: int, manner: SamplingSettings, generator: torch.Generator) -> None:
        self._steps, self._manner, self._generator = steps, manner, generator
        self.device, self.decides_previews = generator.device, steps.decides_previews
        self._positions = np.zeros(slots, np.int64)

    def begin(self, slots: Ints) -> None:
        """Forget what the seats in these slots saw: new battles begin there."""
        self._positions[slots] = 0

    @torch.no_grad()
    def decide(self, slots: Ints, seen: SeenTensors) -> SampledActions:
        """Decide for the seats in these slots, and remember what they saw. slots: [n], all different."""
        logits, values = self._step(slots, seen)
        self._positions[slots] += 1
        if self._manner == SamplingSettings(0.0, 0.0):
            return SampledActions(logits.argmax(-1), torch.zeros_like(values), logits, values)
        log_policy = behaviour_log_probs(logits, seen.legal, self._manner)
        probabilities = log_policy.exp().masked_fill(~seen.legal, 0.0)
        # The first of exponential waiting times with these rates; torch.multinomial does the same, but waits for the GPU.
        waiting = torch.empty_like(probabilities).exponential_(generator=self._generator)
        actions = (probabilities / waiting).argmax(-1)
        return SampledActions(actions, log_policy.gather(1, actions[:, None])[:, 0], logits, values)

    def values(self, slots: Ints, seen: SeenTensors) -> Tensor:
        """The expected returns [n] of positions that are not played on."""
        return self._step(slots, seen)[1]

    def copy(self, sources: Ints, targets: Ints) -> None:
        """Give the seats in `targets` the memories of those in `sources`."""
        self._steps.copy(sources, targets)
        self._positions[targets] = self._positions[sources]

    def _step(self, slots: Ints, seen: SeenTensors) -> tuple[Tensor, Tensor]:
        positions = self._positions[slots]
        output = self._steps.step(
            seen,
            torch.from_numpy(slots).to(self.device),
            torch.from_numpy(positions).to(self.device),
            int(positions.max()) + 1,
        )
        return output.logits, returns_of(output.value)
