"""A replay buffer of decisions, in which whole trajectories lie one after another.

A network sees the earlier decisions of a trajectory (one seat of one battle), so what is drawn is a window: a decision with
those before it, and those up to its n-step successor. Decisions are drawn uniformly or by priority (Schaul et al. 2016,
"Prioritized Experience Replay"); n-step returns follow Sutton & Barto 2018, section 7.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from teamsets.errors import BadInput

#: The smallest priority that a decision can have: ε of Schaul et al. 2016, so that each is drawn again at some time.
MIN_PRIORITY = 1e-6


class Windows(NamedTuple):
    """`count` drawn decisions i, each with the decisions around it in its trajectory, padded at the end to L decisions.

    A window has up to `context` decisions before i, then i, and those up to i + n or the last one of the trajectory. At
    padding, its last decision is repeated. n is `n_step`, or less where a truncated trajectory ends before.
    """

    fields: dict[str, Tensor]  # [count, L, ...]
    valid: Tensor  # bool [count, L], False at padding
    at: Tensor  # int64 [count], where i is in its window
    next_at: Tensor  # int64 [count], where i + n is in its window; 0 where the battle has ended by then
    returns: Tensor  # float32 [count], Σ_{k<n} γ^k r_{i+k}, over the rewards that exist
    discounts: Tensor  # float32 [count], γ^n; 0 where the battle has ended by then
    weights: Tensor  # float32 [count], importance weights, at most 1
    indices: Tensor  # int64 [count], of the decisions i, for `update_priorities`


class SumTree:
    """Non-negative values whose sums over subtrees are kept, to draw each in proportion to its value.

    A binary heap in one array: node 1 is the root, the children of node k are 2k and 2k + 1, and the values are the leaves.
    Each sum is that of its two children now, so the tree is a function of its leaves alone.
    """

    def __init__(self, size: int, device: torch.device | str) -> None:
        self._depth = max(0, size - 1).bit_length()
        self._nodes = torch.zeros(2 << self._depth, dtype=torch.float64, device=device)
        self.leaves = self._nodes[1 << self._depth :][:size]  # float64 [size], a view: changed by `put` and `fill` only

    @property
    def total(self) -> Tensor:
        """float64 []: the sum of all leaves."""
        return self._nodes[1]

    @property
    def nbytes(self) -> int:
        return self._nodes.nbytes

    def put(self, places: Tensor, values: Tensor) -> None:
        """Set leaves. places: int64 [n]; the largest value of equal places counts. values: float64 [n], not negative."""
        self.leaves.scatter_reduce_(0, places, values, "amax", include_self=False)
        node = places + (1 << self._depth)
        for _ in range(self._depth):
            node = node >> 1
            self._nodes[node] = self._nodes[2 * node] + self._nodes[2 * node + 1]

    def fill(self, values: Tensor) -> None:
        """Set the first n leaves to values (float64 [n]), and all others to 0."""
        self.leaves.zero_()
        self.leaves[: len(values)] = values
        for level in reversed(range(self._depth)):
            first = 1 << level
            children = self._nodes[2 * first : 4 * first]
            self._nodes[first : 2 * first] = children[0::2] + children[1::2]

    def draw(self, uniform: Tensor) -> Tensor:
        """Return the leaves (int64 [n]) at these fractions (float64 [n], from 0 to below 1) of the total, which is not 0.

        A leaf of 0 is never returned, also where a sum was rounded.
        """
        left_over = uniform * self.total
        node = torch.ones_like(uniform, dtype=torch.int64)
        for _ in range(self._depth):
            left, right = self._nodes[2 * node], self._nodes[2 * node + 1]
            to_right = (left_over >= left) & (right > 0)
            left_over = torch.where(to_right, left_over - left, left_over)
            node = 2 * node + to_right
        return node - (1 << self._depth)


class ReplayBuffer:
    """A ring of `capacity` decisions. The oldest are overwritten; what is left of their trajectory can still be drawn.

    fields: an example [0 or more, ...] of each array of a decision, which gives its shape and dtype; `rewards` (floating
    point, [...] is empty) must be one. device: of the buffer. prioritised: draw decision i with probability p_i^α / Σ p^α,
    else each with the same. priority_exponent: α, from 0 to 1. seed: of what is drawn, the same on every device.

    A decision is numbered by how many were added before it. It lies at its number modulo `capacity`.
    """

    def __init__(
        self,
        capacity: int,
        fields: Mapping[str, Tensor],
        *,
        device: torch.device | str,
        prioritised: bool,
        priority_exponent: float,
        seed: int,
    ) -> None:
        if capacity < 1:
            raise ValueError(f"capacity {capacity}: must be at least 1")
        if "rewards" not in fields or fields["rewards"].ndim != 1 or not fields["rewards"].is_floating_point():
            raise ValueError("fields: `rewards` must be one of them, floating point with one number per decision")
        self.capacity = capacity
        self.device = torch.device(device)
        self._prioritised, self._exponent = prioritised, priority_exponent
        self._fields = {
            name: torch.zeros((capacity, *example.shape[1:]), dtype=example.dtype, device=device)
            for name, example in fields.items()
        }
        self._begin = torch.zeros(
            capacity, dtype=torch.int64, device=device
        )  # number of its trajectory's first decision
        self._last = torch.zeros(capacity, dtype=torch.int64, device=device)  # number of its trajectory's last decision
        self._terminated = torch.zeros(capacity, dtype=torch.bool, device=device)
        self._tree = SumTree(capacity, device)  # p^α; 0: cannot be drawn
        self._largest = torch.ones((), dtype=torch.float64, device=device)  # p^α
        self._generator = torch.Generator().manual_seed(
            seed
        )  # on the CPU, where its state does not depend on the device
        self._added = 0
        self._drawable = 0

    def __len__(self) -> int:
        """The number of decisions in the buffer."""
        return min(self._added, self.capacity)

    @property
    def drawable(self) -> int:
        """The number of decisions that can be drawn: all but the last ones of truncated trajectories."""
        return self._drawable

    @property
    def nbytes(self) -> int:
        """Bytes on the device, which do not depend on how many decisions there are."""
        tensors = (*self._fields.values(), self._begin, self._last, self._terminated)
        return sum(tensor.nbytes for tensor in tensors) + self._tree.nbytes

    def add(self, fields: Mapping[str, Tensor], lengths: Tensor, terminated: Tensor) -> None:
        """Append B whole trajectories with D decisions in total, at the largest priority so far.

        fields: [D, ...], the decisions of a trajectory consecutive. lengths: int64 [B], at least 1. terminated: bool [B];
        False: truncated. Raises BadInput for a trajectory longer than the capacity, and ValueError for other fields,
        shapes or dtypes than the buffer's; then nothing is added.
        """
        lengths, terminated = lengths.cpu(), terminated.cpu()
        total = int(lengths.sum())
        self._check(fields, lengths, terminated, total)
        ends = self._added + lengths.cumsum(0)  # [B]
        kept = min(total, self.capacity)  # of several trajectories that are longer together, the end
        rows = {
            "begin": (ends - lengths).repeat_interleave(lengths)[total - kept :].to(self.device),
            "last": (ends - 1).repeat_interleave(lengths)[total - kept :].to(self.device),
            "terminated": terminated.repeat_interleave(lengths)[total - kept :].to(self.device),
        }
        self._added += total
        numbers = torch.arange(self._added - kept, self._added, device=self.device)
        places = numbers % self.capacity
        for name, storage in self._fields.items():
            storage.index_copy_(0, places, fields[name][total - kept :].to(self.device))
        self._begin[places], self._last[places] = rows["begin"], rows["last"]
        self._terminated[places] = rows["terminated"]
        has_next = rows["terminated"] | (numbers < rows["last"])
        self._tree.put(places, self._largest * has_next)
        self._drawable = int((self._tree.leaves > 0).sum())

    def sample(self, count: int, *, context: int, n_step: int, discount: float, importance_exponent: float) -> Windows:
        """Draw `count` decisions with replacement, and return their windows.

        context: maximum number of earlier decisions in a window. n_step: n, at least 1. discount: γ. importance_exponent: β
        of the weights (N P(i))^-β, which are divided by the largest of the sample (Schaul et al. 2016, section 3.4); N: the
        number of decisions that can be drawn. Without priorities all weights are 1. Raises ValueError if there is no
        decision that can be drawn (`drawable`).
        """
        if count < 1 or context < 0 or n_step < 1:
            raise ValueError(f"count {count}, context {context}, n_step {n_step}: must be at least 1, 0 and 1")
        if not self._drawable:
            raise ValueError(
                "the replay buffer has no decision to draw: add trajectories of two or more decisions first"
            )
        uniform = torch.rand(count, dtype=torch.float64, generator=self._generator).to(self.device)
        places = self._tree.draw(uniform)
        drawn = self._numbers(places)
        last, terminated = self._last[places], self._terminated[places]
        first = torch.maximum(self._begin[places], drawn - context).clamp(min=self._oldest)
        stop = torch.minimum(drawn + n_step, last)
        has_next = ~terminated | (drawn + n_step <= last)

        positions = first[:, None] + torch.arange(int((stop - first).max()) + 1, device=self.device)  # [count, L]
        inside = torch.minimum(positions, stop[:, None]) % self.capacity
        return Windows(
            fields={name: _rows(storage, inside) for name, storage in self._fields.items()},
            valid=positions <= stop[:, None],
            at=drawn - first,
            next_at=torch.where(has_next, stop - first, 0),
            returns=self._returns(drawn, stop - has_next.long(), n_step, discount),
            discounts=torch.where(has_next, (discount ** (stop - drawn).double()).float(), 0.0),
            weights=self._weights(places, importance_exponent),
            indices=drawn,
        )

    def update_priorities(self, indices: Tensor, priorities: Tensor) -> None:
        """Set the priorities p of drawn decisions; those overwritten since are skipped. Does nothing unless prioritised.

        indices: int64 [n], of `Windows`; of one that occurs more than once, the largest priority counts. priorities: [n],
        such as |TD error|, not negative; below MIN_PRIORITY they count as that. Raises ValueError for one that is negative
        or not finite, and for an index that was never drawn.
        """
        if not self._prioritised:
            return
        indices, priorities = indices.to(self.device), priorities.detach().to(self.device, torch.float64)
        wrong = ~torch.isfinite(priorities) | (priorities < 0)
        if wrong.any():
            raise ValueError(f"priority {float(priorities[wrong][0])}: must be finite and at least 0")
        unknown = (indices < 0) | (indices >= self._added)
        if unknown.any():
            raise ValueError(f"index {int(indices[unknown][0])}: must be one that `sample` returned")
        places = indices % self.capacity
        present = (indices >= self._oldest) & (self._tree.leaves[places] > 0)
        values = priorities[present].clamp(min=MIN_PRIORITY) ** self._exponent
        if len(values):
            self._tree.put(places[present], values)
            self._largest = torch.maximum(self._largest, values.max())

    def state(self) -> dict[str, Any]:
        """Return a copy of everything that `restore` needs, on the CPU; for torch.save. Only the filled part is copied."""
        return {
            **self._settings,
            "fields": {name: self._filled(storage) for name, storage in self._fields.items()},
            "begin": self._filled(self._begin),
            "last": self._filled(self._last),
            "terminated": self._filled(self._terminated),
            "priorities": self._filled(self._tree.leaves),
            "largest": float(self._largest),
            "generator": self._generator.get_state(),
            "added": self._added,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state, on any device. Raises BadInput if it is that of a buffer with other settings."""
        for name, value in self._settings.items():
            if state[name] != value:
                raise BadInput(
                    f"replay buffer: it was saved with {name} {state[name]}, not {value}: "
                    "resume with the settings of the saved run, or start another run"
                )
        self._added = state["added"]
        saved = {**state["fields"], **{name: state[name] for name in ("begin", "last", "terminated")}}
        own = {**self._fields, "begin": self._begin, "last": self._last, "terminated": self._terminated}
        for name, storage in own.items():
            storage[: len(self)] = saved[name].to(self.device)
        self._tree.fill(state["priorities"].to(self.device))
        self._largest.fill_(state["largest"])
        self._generator.set_state(state["generator"])
        self._drawable = int((self._tree.leaves > 0).sum())

    @property
    def _settings(self) -> dict[str, Any]:
        rows = {name: f"{storage.dtype} {list(storage.shape[1:])}" for name, storage in self._fields.items()}
        return {
            "capacity": self.capacity,
            "prioritised": self._prioritised,
            "priority_exponent": self._exponent,
            "rows": rows,
        }

    @property
    def _oldest(self) -> int:
        """The number of the oldest decision in the buffer."""
        return max(0, self._added - self.capacity)

    def _numbers(self, places: Tensor) -> Tensor:
        """Return the numbers of the decisions at these places."""
        return self._oldest + (places - self._oldest) % self.capacity

    def _filled(self, storage: Tensor) -> Tensor:
        return storage[: len(self)].to("cpu", copy=True)

    def _check(self, fields: Mapping[str, Tensor], lengths: Tensor, terminated: Tensor, total: int) -> None:
        if len(lengths) and int(lengths.max()) > self.capacity:
            raise BadInput(
                f"a trajectory of {int(lengths.max())} decisions does not fit in a replay buffer of {self.capacity}: "
                "raise replay.capacity"
            )
        if (lengths < 1).any() or lengths.shape != terminated.shape:
            raise ValueError("lengths: must be at least 1, one for each of `terminated`")
        if fields.keys() != self._fields.keys():
            raise ValueError(f"fields {', '.join(fields)}: must be {', '.join(self._fields)}")
        for name, storage in self._fields.items():
            expected, given = (total, *storage.shape[1:]), fields[name]
            if given.shape != expected or given.dtype != storage.dtype:
                raise ValueError(f"{name}: {given.dtype} {list(given.shape)}: must be {storage.dtype} {list(expected)}")

    def _returns(self, drawn: Tensor, last_reward: Tensor, n_step: int, discount: float) -> Tensor:
        """Return Σ_k γ^k r [count], over k < n_step up to the reward of the decision `last_reward` [count]."""
        steps = torch.arange(n_step, device=self.device)
        numbers = drawn[:, None] + steps  # [count, n_step]
        rewards = self._fields["rewards"][numbers % self.capacity].double()
        counted = torch.where(numbers <= last_reward[:, None], rewards * discount ** steps.double(), 0.0)
        return counted.sum(-1).float()

    def _weights(self, places: Tensor, exponent: float) -> Tensor:
        if not self._prioritised:
            return torch.ones(len(places), device=self.device)
        probabilities = self._tree.leaves[places] / self._tree.total
        weights = (self._drawable * probabilities) ** -exponent
        return (weights / weights.max()).float()


def _rows(storage: Tensor, places: Tensor) -> Tensor:
    """Return storage[places], [*places.shape, ...]."""
    return storage.index_select(0, places.flatten()).view(*places.shape, *storage.shape[1:])
