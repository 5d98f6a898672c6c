"""The hidden states of amago's trajectory encoders for many battles."""

import torch

#: Decisions of every forward pass on a CPU, padded where there are fewer: an answer does not depend on who else asks.
PASS_SIZE = 16
#: Initial number of seats whose memory is held; doubled when all are in use.
INITIAL_SLOTS = 16


class Memory:
    """The hidden states of the trajectory encoder for all seats: rows of tensors, copied into a pass and back."""

    def __init__(self, policy, device):
        self.encoder, self.device = policy.traj_encoder, device
        self._stored = []  # tensors with a row for each slot, of the encoder's kind; none if it has no memory
        self._of_size = {}
        self._free = []

    def learn(self, state):
        """Take the tensors' shapes from the state that a pass has returned."""
        self._stored = [
            (torch.zeros((*part.shape[:dim], 0, *part.shape[dim + 1 :]), dtype=part.dtype, device=self.device), dim)
            for part, dim in _parts(state)
        ]
        self._rows = 0
        self._grow(INITIAL_SLOTS + 1)
        self._free.remove(0)  # the slot of rows that only fill a pass
        self._of_size[PASS_SIZE] = state

    def slot(self):
        """Allocate a slot, with the memory of the start of a battle."""
        if not self._free:
            self._grow(self._rows)
        slot = self._free.pop()
        for part, dim in self._stored:
            part.select(dim, slot).zero_()
        return slot

    def release(self, slot):
        """Free a slot."""
        self._free.append(slot)

    def _grow(self, more):
        self._stored = [
            (torch.cat([part, part.new_zeros((*part.shape[:dim], more, *part.shape[dim + 1 :]))], dim), dim)
            for part, dim in self._stored
        ]
        self._free += range(self._rows, self._rows + more)
        self._rows += more

    def read(self, slots):
        """Return the hidden state of a pass over these slots."""
        if not self._stored:
            return None
        if len(slots) not in self._of_size:
            self._of_size[len(slots)] = self.encoder.init_hidden_state(len(slots), self.device)
        rows = [part.index_select(dim, self._index(slots)) for part, dim in self._stored]
        state = self._of_size[len(slots)]
        if not hasattr(state, "seq_lens"):
            return rows[0]
        state.key_cache.data, state.val_cache.data, state.seq_lens = rows
        return state

    def write(self, slots, state):
        """Keep the hidden state after a pass, except of the rows that only filled it."""
        kept = [row for row, slot in enumerate(slots) if slot]
        index = self._index([slots[row] for row in kept])
        for (stored, dim), (part, _) in zip(self._stored, _parts(state), strict=True):
            stored.index_copy_(dim, index, part.index_select(dim, self._index(kept)).to(stored.dtype))

    def _index(self, rows):
        return torch.tensor(rows, dtype=torch.long, device=self.device)


def _parts(state):
    """Return the tensors of a hidden state, each with its dimension of rows. Raises ValueError for an unknown kind."""
    if state is None:
        return []
    if hasattr(state, "key_cache"):  # amago's TformerTrajEncoder
        return [(state.key_cache.data, 1), (state.val_cache.data, 1), (state.seq_lens, 0)]
    if hasattr(state, "dim"):  # its GRUTrajEncoder: a tensor [layers, rows, width]
        return [(state, 1)]
    raise ValueError(
        f"a trajectory encoder with the hidden state {type(state).__name__}: transformers and GRUs are supported"
    )
