"""Brings what seats see to a network's device, and the actions back, while a GPU works on something else.

On a CPU neither copies anything.
"""

from __future__ import annotations

import torch
from torch import Tensor

from agents.observation.layout import Layout
from agents.observation.observation import Observations
from training.envs.network_steps import SeenTensors
from training.envs.venue import Battles, Ints


def _empty(seats: int, layout: Layout, *, pin_memory: bool = False) -> SeenTensors:
    """Room for what so many seats see. torch aligns it to 64 bytes, NumPy to 16 alone.

    The last bits of a product of matrices depend on the alignment on some CPUs, and a resumed run has the same numbers.
    """
    return SeenTensors(
        torch.empty((seats, layout.tokens, layout.ids), dtype=torch.int16, pin_memory=pin_memory),
        torch.empty((seats, layout.tokens, layout.features), dtype=torch.float32, pin_memory=pin_memory),
        torch.empty((seats, layout.actions), dtype=torch.bool, pin_memory=pin_memory),
    )


class Transfer:
    """For up to `seats` seats at a time, of which one lot is under way: `observe`, `send`, `receive`, and so on.

    On a GPU observations are written into page-locked memory, from which they are copied while the CPU goes on. It is
    written again only after `receive`, by when the copy is over.
    """

    def __init__(self, device: torch.device, seats: int, layout: Layout) -> None:
        self._device, self._layout = device, layout
        self._buffers: SeenTensors | None = None
        self._sent = torch.empty(0, dtype=torch.int64)
        if device.type == "cuda":
            self._buffers = _empty(seats, layout, pin_memory=True)
            self._actions = torch.empty(seats, dtype=torch.int64, pin_memory=True)
            self._copied = torch.cuda.Event()

    def observe(self, battles: Battles, rows: Ints, seats: Ints) -> SeenTensors:
        """What seat `seats[k]` of the battle in row `rows[k]` sees."""
        if self._buffers is None:
            parts = _empty(len(rows), self._layout)
        else:
            parts = SeenTensors(*(buffer[: len(rows)] for buffer in self._buffers))
        battles.observe(rows, seats, Observations(*(part.numpy() for part in parts)))
        return SeenTensors(*(part.to(self._device, non_blocking=True) for part in parts))

    def send(self, actions: Tensor) -> None:
        """Begin to fetch actions, int64 [n]."""
        if self._buffers is None:
            self._sent = actions
            return
        self._sent = self._actions[: len(actions)]
        self._sent.copy_(actions, non_blocking=True)
        self._copied.record()

    def receive(self) -> Ints:
        """The actions that were sent, as soon as they are there."""
        if self._buffers is not None:
            self._copied.synchronize()
        return self._sent.numpy()
