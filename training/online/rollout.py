"""What was collected between two updates: the decisions of whole battles, seat by seat, as tensors.

Decisions are packed: those of one seat of one battle (a trajectory) are consecutive and in their order, without padding. The
arrays of the engine's observations become tensors without a copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from agents.policy.network import Network, Output
from training.envs.network_players import SamplingSettings

#: Decisions that a CPU works through at a time. What a layer leaves of more for its way back is memory that the system gives
#: and takes back each time, which costs more than the learning: scripts/bench/minibatches.py.
PIECE_DECISIONS = 1024


class Padded(NamedTuple):
    """B trajectories of up to T decisions. places: int64 [B, T], where each decision is in the rollout; 0 at padding."""

    places: Tensor
    valid_mask: Tensor  # bool [B, T], False at padding

    def take(self, packed: Tensor) -> Tensor:
        """[D, ...] -> [B, T, ...]; what stands at padding has no meaning."""
        return packed[self.places]


class Piece(NamedTuple):
    """A part of a minibatch that is worked through on its own: the gradient of a minibatch's mean loss is the sum of its
    pieces', weighted by `share`.

    trajectories: int64 [B], on the CPU. decisions: how many of them are in the loss, 1 or more. share: of the minibatch's.
    """

    trajectories: Tensor
    decisions: int
    share: float


@dataclass(frozen=True)
class Rollout:
    """D decisions of B trajectories, all of one role.

    A return is from -1 (lost) to 1 (won). `values` and `log_probs` are those of the weights that played, exactly. in_loss:
    False for decisions that are context only (before a group's branch). bootstrap: the value of the position after the last
    decision of a truncated trajectory. group: battles of one group have the same number and the same start.
    """

    token_ids: Tensor  # int16 [D, 19, 12]
    features: Tensor  # float32 [D, 19, 56]
    legal: Tensor  # bool [D, 13]
    actions: Tensor  # int64 [D]
    log_probs: Tensor  # float32 [D], of the actions, as played
    logits: Tensor  # float32 [D, 13], before temperature; -inf for illegal actions
    values: Tensor  # float32 [D]
    in_loss: Tensor  # bool [D]
    others_token_ids: Tensor  # int16 [D, 19, 12], what the other seat saw; [0, 19, 12] where nobody asked for it
    others_features: Tensor  # float32 [D, 19, 56] or [0, 19, 56]
    searched_values: Tensor  # float32 [D, 13], a search's (positions.py); [0, 13] where nobody asked for it
    searched_second_values: Tensor  # float32 [D, 13], by an independent search; NaN without one; or [0, 13]
    searched_value: Tensor  # float32 [D] or [0], that of the position
    opponent_choices: Tensor  # int64 [D], ids of what the opponents chose (opponent_head.py), -1: not known; or [0]
    lengths: Tensor  # int64 [B]
    results: Tensor  # float32 [B], raw returns; 0 where truncated
    terminated: Tensor  # bool [B], False: truncated
    bootstrap: Tensor  # float32 [B]
    battle: Tensor  # int64 [B]
    seat: Tensor  # int64 [B]
    opponent: Tensor  # int64 [B], index into `opponents`
    group: Tensor  # int64 [B]
    opponents: tuple[str, ...]
    manner: SamplingSettings

    @property
    def starts(self) -> Tensor:
        """int64 [B]: where each trajectory begins."""
        return self.lengths.cumsum(0) - self.lengths

    @property
    def ends(self) -> Tensor:
        """int64 [B]: the last decision of each trajectory."""
        return self.lengths.cumsum(0) - 1

    @property
    def rewards(self) -> Tensor:
        """float32 [D]: raw rewards: the result at the last decision of a battle that has ended, else 0."""
        rewards = torch.zeros_like(self.values)
        rewards[self.ends] = self.results
        return rewards

    @property
    def decisions(self) -> int:
        return len(self.actions)

    def to(self, device: torch.device | str) -> Rollout:
        moved: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        tensors: Any = {name: x.to(device) for name, x in moved.items() if isinstance(x, Tensor)}
        return replace(self, **tensors)

    def padded(self, trajectories: Tensor | None = None) -> Padded:
        """These trajectories (int64 [B]; None: all) side by side, padded at their ends."""
        starts, lengths = self.starts, self.lengths
        if trajectories is not None:
            starts, lengths = starts[trajectories], lengths[trajectories]
        steps = torch.arange(int(lengths.max()), device=lengths.device)  # [T]
        valid = steps < lengths[:, None]  # [B, T]
        return Padded(torch.where(valid, starts[:, None] + steps, 0), valid)

    def packed(self, padded: Padded, values: Tensor) -> Tensor:
        """[B, T] of all trajectories -> [D]."""
        result = values.new_zeros(self.decisions)
        result[padded.places[padded.valid_mask]] = values[padded.valid_mask]
        return result

    @cached_property
    def host_lengths(self) -> NDArray[np.int64]:
        """[B]: `lengths`, not on a GPU."""
        return self.lengths.cpu().numpy()

    @cached_property
    def all_in_loss(self) -> bool:
        return bool(self.in_loss.all())

    @cached_property
    def _decisions_in_loss(self) -> NDArray[np.int64]:
        """[B]: of each trajectory, not on a GPU."""
        if self.all_in_loss:
            return self.host_lengths
        starts = self.host_lengths.cumsum() - self.host_lengths
        return np.add.reduceat(self.in_loss.cpu().numpy(), starts, dtype=np.int64)

    def minibatches(self, decisions: int, generator: torch.Generator) -> Iterator[Tensor]:
        """Yield trajectories (int64, on the CPU) in random order, about `decisions` decisions at a time."""
        yield from self._parts(torch.randperm(len(self.lengths), generator=generator), decisions)

    def pieces(self, trajectories: Tensor) -> list[Piece]:
        """Return the pieces of a minibatch that have decisions in the loss: two at least, where it has two trajectories.

        From the two halves of a minibatch, at the same weights, the gradient noise scale is estimated (noise_scale.py).
        """
        size = PIECE_DECISIONS if self.actions.device.type == "cpu" else 1 << 30
        parts = self._parts(trajectories, size, at_least=2)
        counts = [(part, int(self._decisions_in_loss[part.numpy()].sum())) for part in parts]
        total = sum(decisions for _, decisions in counts)
        return [Piece(part, decisions, decisions / total) for part, decisions in counts if decisions]

    def _parts(self, trajectories: Tensor, decisions: int, at_least: int = 1) -> Iterator[Tensor]:
        """Yield these trajectories in their order, about `decisions` decisions at a time, in `at_least` parts or more."""
        total = torch.from_numpy(self.host_lengths)[trajectories].cumsum(0)
        count = max(at_least, round(int(total[-1]) / decisions))
        part = ((total - 1) * count // total[-1]).clamp(max=count - 1)
        for number in range(count):
            chosen = trajectories[part == number]
            if len(chosen):
                yield chosen


def forward(network: nn.Module, rollout: Rollout, padded: Padded) -> Output:
    """Return a `Network`'s logits [B, T, 13] and value logits [B, T, bins], each battle from its first decision."""
    output: Output = network(
        padded.take(rollout.token_ids), padded.take(rollout.features), padded.take(rollout.legal), padded.valid_mask
    )
    return output


def forward_packed(network: Network, rollout: Rollout, trajectories: Tensor) -> tuple[Tensor, Output]:
    """Return the places in the rollout (int64 [n]) of these trajectories' decisions, and the network's outputs for them.

    trajectories: int64 [B], on the CPU. Logits are [n, 13] and value logits [n, bins]. Nothing is padded.
    """
    chosen = trajectories.numpy()
    lengths, starts = rollout.host_lengths[chosen], (rollout.host_lengths.cumsum() - rollout.host_lengths)[chosen]
    positions = np.arange(lengths.sum()) - np.repeat(lengths.cumsum() - lengths, lengths)
    device = rollout.actions.device
    index = torch.from_numpy(np.repeat(starts, lengths) + positions).to(device)
    return index, network.forward_packed(
        rollout.token_ids[index],
        rollout.features[index],
        rollout.legal[index],
        torch.from_numpy(positions).to(device),
    )


def forward_in_loss(network: Network, rollout: Rollout, trajectories: Tensor) -> tuple[Tensor, Output]:
    """As `forward_packed`, for those decisions alone that are in the loss; earlier ones of their battles are context."""
    index, output = forward_packed(network, rollout, trajectories)
    if rollout.all_in_loss:
        return index, output
    chosen = rollout.in_loss[index].nonzero()[:, 0]
    context = None if output.context is None else output.context[chosen]
    return index[chosen], Output(output.logits[chosen], output.value[chosen], context)
