"""The bodies of frames between workers and the inference server (agents/serving/wire.py has the frames).

The position is the number of decisions that the seat had before. In the header of ASK_MANY the session is a number for the
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

from agents.policy.actions import ACTIONS
from agents.policy.observation import FEATURES, IDS_PER_TOKEN, TOKENS, Observation, Observations

ASK_MANY = 6
#: Maximum number of decisions in a forward pass, and in ASK_MANY.
MAX_BATCH = 256

_ID_BYTES, _FEATURE_BYTES = TOKENS * IDS_PER_TOKEN * 2, TOKENS * FEATURES * 4
_OBSERVATION_BYTES = _ID_BYTES + _FEATURE_BYTES + ACTIONS
_DECISION_BYTES = 8 + _OBSERVATION_BYTES


def packed(observation: Observation) -> bytes:
    """Encode an observation as the body of ASK."""
    return observation.token_ids.tobytes() + observation.features.tobytes() + observation.legal.tobytes()


def unpacked(bodies: list[bytes]) -> Observations:
    """Decode bodies of ASK. Raises ValueError if malformed."""
    batch = np.frombuffer(b"".join(bodies), dtype=np.uint8).reshape(len(bodies), _OBSERVATION_BYTES)
    token_ids = np.ascontiguousarray(batch[:, :_ID_BYTES]).view(np.int16).reshape(-1, TOKENS, IDS_PER_TOKEN)
    features = np.ascontiguousarray(batch[:, _ID_BYTES:-ACTIONS]).view(np.float32).reshape(-1, TOKENS, FEATURES)
    return Observations(token_ids, features, np.ascontiguousarray(batch[:, -ACTIONS:]).view(np.bool_))


def packed_many(sessions: Sequence[int], positions: Sequence[int], observations: Observations) -> bytes:
    """Encode n decisions as the body of ASK_MANY."""
    return np.array([sessions, positions], np.uint32).tobytes() + b"".join(part.tobytes() for part in observations)


def unpacked_many(n: int, body: bytes) -> tuple[list[int], list[int], Observations]:
    """Decode the body of ASK_MANY: sessions, positions, observations. Raises ValueError if malformed."""
    if not 0 < n <= MAX_BATCH or len(body) != n * _DECISION_BYTES:
        raise ValueError(f"{n} decisions in {len(body)} bytes")
    features = (8 + _ID_BYTES) * n
    legal = features + _FEATURE_BYTES * n
    data = np.frombuffer(bytearray(body), np.uint8)  # torch wants arrays that are writable
    numbers = data[: 8 * n].view(np.uint32)
    return (
        numbers[:n].tolist(),
        numbers[n:].tolist(),
        Observations(
            data[8 * n : features].view(np.int16).reshape(n, TOKENS, IDS_PER_TOKEN),
            data[features:legal].view(np.float32).reshape(n, TOKENS, FEATURES),
            data[legal:].view(np.bool_).reshape(n, ACTIONS),
        ),
    )
