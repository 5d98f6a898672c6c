"""A network's decisions at play, with the memory of its battles: kernel by kernel, or recorded as CUDA graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from agents.observation.observation import Observations
from agents.policy.network import Memory, Network, Output
from training.envs.venue import Ints

#: The smallest recorded sizes: battles, and decisions of each that are attended to; each further one is twice as large.
_FEWEST_BATTLES, _FEWEST_DECISIONS = 64, 16


class SeenTensors(NamedTuple):
    """The observations of n decisions on a network's device; see `Observations`."""

    token_ids: Tensor  # int16 [n, 19, 12]
    features: Tensor  # float32 [n, 19, 56]
    legal: Tensor  # bool [n, 13]

    @classmethod
    def of(cls, seen: Observations, device: torch.device) -> SeenTensors:
        """On a CPU the same memory."""
        return cls(*(torch.from_numpy(part).to(device) for part in seen))

    def take(self, rows: slice | Tensor) -> SeenTensors:
        """These decisions."""
        return SeenTensors(*(part[rows] for part in self))


class Steps(Protocol):
    """Decides for battles in slots, and remembers what they saw. decides_previews: as `Shape.team_preview`."""

    decides_previews: bool

    def step(self, seen: SeenTensors, slots: Tensor, positions: Tensor, longest: int) -> Output:
        """As `Network.step`, but that longest is at least the number of places that are filled."""

    def copy(self, sources: Ints, targets: Ints) -> None:
        """Give the battles in `targets` the memories of those in `sources`."""


class EagerSteps:
    """Every kernel is started by itself. slots: as many battles."""

    def __init__(self, network: Network, slots: int) -> None:
        self._network, self.decides_previews = network, network.shape.team_preview
        self._memory = Memory(network.shape, slots, next(network.parameters()).device)

    def step(self, seen: SeenTensors, slots: Tensor, positions: Tensor, longest: int) -> Output:
        return self._network.step(*seen, self._memory, slots, positions, longest=longest)

    def copy(self, sources: Ints, targets: Ints) -> None:
        self._memory.copy(sources, targets)


class EnsembleSteps:
    """Several networks as one: the means of their probabilities, of actions and of results."""

    def __init__(self, parts: Sequence[Steps]) -> None:
        self._parts = parts
        self.decides_previews = all(part.decides_previews for part in parts)

    def step(self, seen: SeenTensors, slots: Tensor, positions: Tensor, longest: int) -> Output:
        outputs = [part.step(seen, slots, positions, longest) for part in self._parts]
        return Output(_mixed([each.logits for each in outputs]), _mixed([each.value for each in outputs]))

    def copy(self, sources: Ints, targets: Ints) -> None:
        for part in self._parts:
            part.copy(sources, targets)


def _mixed(logits: list[Tensor]) -> Tensor:
    """The logits of the mean of distributions, each [..., k]."""
    return torch.stack(logits).softmax(-1).mean(0).log()


class _Recorded(NamedTuple):
    """A step of n battles. graph: None: its kernels are started by themselves, as on a CPU."""

    seen: SeenTensors
    slots: Tensor  # int64 [n]
    positions: Tensor  # int64 [n]
    graph: torch.cuda.CUDAGraph | None
    output: Output | None


class RecordedSteps:
    """The kernels of a step, some hundred small ones for whose start a GPU would wait, are recorded and started as one.

    A step is filled up to the next recorded size with battles that nobody plays, in a slot of their own, `slots`. It is
    recorded with the first step of a size. The network's weights may change in place. slots: as many battles.
    """

    def __init__(self, network: Network, slots: int) -> None:
        self._network, self.slots, self.decides_previews = network, slots, network.shape.team_preview
        self._device = next(network.parameters()).device
        self._memory = Memory(network.shape, slots + 1, self._device)
        self._recorded: dict[tuple[int, int], _Recorded] = {}
        self._pool = torch.cuda.graph_pool_handle() if self._device.type == "cuda" else None

    @torch.no_grad()
    def step(self, seen: SeenTensors, slots: Tensor, positions: Tensor, longest: int) -> Output:
        n, window = len(slots), self._network.shape.window
        size = (_at_least(n, _FEWEST_BATTLES), min(_at_least(longest, _FEWEST_DECISIONS), window))
        if size not in self._recorded:
            self._recorded[size] = self._record(*size, seen)
        recorded = self._recorded[size]
        for whole, part in zip(recorded.seen, seen, strict=True):
            whole[:n] = part
        recorded.slots[:n], recorded.positions[:n] = slots, positions
        recorded.slots[n:] = self.slots
        recorded.positions[n:] = 0
        output = recorded.output
        if recorded.graph is None or output is None:
            output = self._run(recorded.seen, recorded.slots, recorded.positions, size[1])
        else:
            recorded.graph.replay()
        return Output(output.logits[:n].clone(), output.value[:n].clone())

    def copy(self, sources: Ints, targets: Ints) -> None:
        self._memory.copy(sources, targets)

    def _record(self, battles: int, longest: int, like: SeenTensors) -> _Recorded:
        """like: observations of any number of decisions, for their shapes and types."""
        seen = SeenTensors(*(part.new_zeros(battles, *part.shape[1:]) for part in like))
        seen.legal.fill_(True)
        slots = torch.full((battles,), self.slots, device=self._device)
        positions = torch.zeros(battles, dtype=torch.int64, device=self._device)
        if self._device.type != "cuda":
            return _Recorded(seen, slots, positions, None, None)
        aside = torch.cuda.Stream(self._device)
        aside.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(aside):  # libraries choose and load their kernels, which cannot be recorded
            self._run(seen, slots, positions, longest)
        torch.cuda.current_stream(self._device).wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, self._pool, capture_error_mode="thread_local"):
            output = self._run(seen, slots, positions, longest)
        return _Recorded(seen, slots, positions, graph, output)

    def _run(self, seen: SeenTensors, slots: Tensor, positions: Tensor, longest: int) -> Output:
        return self._network.step(*seen, self._memory, slots, positions, longest=longest)


def _at_least(number: int, size: int) -> int:
    """The first of size, 2 size, 4 size, … that is not less than a number."""
    while size < number:
        size *= 2
    return size
