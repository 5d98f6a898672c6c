"""The bodies of frames between workers and the inference server (agents/serving/wire.py has the frames).

The position is the number of decisions that the seat had before. The sizes are those of singles: a network of doubles has
others (agents/observation/layout.py). In the header of ASK_MANY the session is a number for the
whole frame, which its answer repeats, and the position is n.

| kind | from | body |
|---|---|---|
| ASK | client | an observation: token_ids int16 [19, 12], features float32 [19, 56], legal bool [13] |
| ASK_MANY | client | n <= MAX_BATCH decisions: sessions and positions uint32 [n], token_ids [n, 19, 12], features, legal |
| ANSWER | server | float32 [14]: 13 logits and the value, from 0 (lost) to 1 (won); [n, 14] after ASK_MANY |
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agents.observation.layout import SINGLES, Layout
from agents.observation.observation import Observation, Observations
from agents.observation.vocabulary import vocabulary

ASK_MANY = 6
#: Maximum number of decisions in a forward pass, and in ASK_MANY.
MAX_BATCH = 256
#: Bound of a feature's absolute value, far above that of any true one; below it no sum in a network overflows.
MAX_FEATURE = 1e6


def _id_bytes(layout: Layout) -> int:
    return layout.tokens * layout.ids * 2


def observation_bytes(layout: Layout = SINGLES) -> int:
    """Return the length of an observation in bytes."""
    return _id_bytes(layout) + layout.tokens * layout.features * 4 + layout.actions


def packed(observation: Observation) -> bytes:
    """Encode an observation as the body of ASK."""
    return observation.token_ids.tobytes() + observation.features.tobytes() + observation.legal.tobytes()


def check_size(body: bytes, layout: Layout = SINGLES) -> None:
    """Raise ValueError if a body of ASK cannot be an observation."""
    if len(body) != observation_bytes(layout):
        raise ValueError(f"an observation of {len(body)} bytes: must be {observation_bytes(layout)}")


def faults(observations: Observations) -> dict[int, str]:
    """Return row -> what is wrong, of the rows that must not reach a network.

    A token id outside of the vocabulary would end the whole batch with an error; a feature that is no number, or is huge,
    would stay in the memory of the battle's slot.
    """
    token_ids, features, legal = observations
    ids, numbers = token_ids.reshape(len(legal), -1), features.reshape(len(legal), -1)
    checks = {
        f"a token id outside of 0 to {vocabulary().size - 1}": ((ids < 0) | (ids >= vocabulary().size)).any(axis=1),
        f"a feature that is not a number from {-MAX_FEATURE:g} to {MAX_FEATURE:g}": (  # NaN fails every comparison
            ~(np.abs(numbers) <= MAX_FEATURE).all(axis=1)
        ),
        "a legal action that is neither true nor false": (legal.view(np.uint8) > 1).any(axis=1),
    }
    by_row: dict[int, str] = {}
    for fault, rows in checks.items():
        for row in np.flatnonzero(rows).tolist():
            by_row.setdefault(row, fault)
    return by_row


def unpacked(bodies: list[bytes], layout: Layout = SINGLES) -> Observations:
    """Decode bodies of ASK, each of which `check_size` has accepted."""
    batch = np.frombuffer(bytearray(b"".join(bodies)), dtype=np.uint8).reshape(len(bodies), observation_bytes(layout))
    ids, end = _id_bytes(layout), -layout.actions
    token_ids = np.ascontiguousarray(batch[:, :ids]).view(np.int16).reshape(-1, layout.tokens, layout.ids)
    features = np.ascontiguousarray(batch[:, ids:end]).view(np.float32).reshape(-1, layout.tokens, layout.features)
    return Observations(token_ids, features, np.ascontiguousarray(batch[:, end:]).view(np.bool_))


def packed_many(sessions: Sequence[int], positions: Sequence[int], observations: Observations) -> bytes:
    """Encode n decisions as the body of ASK_MANY."""
    return np.array([sessions, positions], np.uint32).tobytes() + b"".join(part.tobytes() for part in observations)


def unpacked_many(n: int, body: bytes, layout: Layout = SINGLES) -> tuple[list[int], list[int], Observations]:
    """Decode the body of ASK_MANY: sessions, positions, observations.

    Raises ValueError if it is malformed, if a session is in it twice, or if a row has one of the `faults`.
    """
    size = 8 + observation_bytes(layout)
    if not 0 < n <= MAX_BATCH or len(body) != n * size:
        raise ValueError(f"{n} decisions in {len(body)} bytes")
    features, legal = (8 + _id_bytes(layout)) * n, (size - layout.actions) * n
    data = np.frombuffer(bytearray(body), np.uint8)  # torch wants arrays that are writable
    numbers = data[: 8 * n].view(np.uint32)
    sessions, positions = numbers[:n].tolist(), numbers[n:].tolist()
    observations = Observations(
        data[8 * n : features].view(np.int16).reshape(n, layout.tokens, layout.ids),
        data[features:legal].view(np.float32).reshape(n, layout.tokens, layout.features),
        data[legal:].view(np.bool_).reshape(n, layout.actions),
    )
    if len(set(sessions)) < n:
        raise ValueError(f"{n} decisions of {len(set(sessions))} sessions")
    for row, fault in faults(observations).items():
        raise ValueError(f"decision {row} of {n} has {fault}")
    return sessions, positions, observations
