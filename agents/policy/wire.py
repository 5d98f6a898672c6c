"""The protocol between workers and the inference server, and the paths of their sockets.

A frame is a header (`HEAD`: length of the body, kind, session, position) and a body. A session is a number that the client
chose for one seat of one battle; the position is the number of decisions that the seat had before. In the header of ASK_MANY
the session is a number for the whole frame, which its answer repeats, and the position is n.

| kind | from | body |
|---|---|---|
| ASK | client | an observation: token_ids int16 [19, 12], features float32 [19, 56], legal bool [13] |
| ASK_MANY | client | n <= MAX_BATCH decisions: sessions and positions uint32 [n], token_ids [n, 19, 12], features, legal |
| FORGET | client | empty: the battle is over |
| READY | server | empty: the checkpoint is loaded; the first frame of a connection |
| ANSWER | server | float32 [14]: 13 logits and the value, from 0 (lost) to 1 (won); [n, 14] after ASK_MANY |
| FAILED | server | UTF-8: the error |
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import struct
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from agents.policy.actions import ACTIONS
from agents.policy.observation import FEATURES, IDS_PER_TOKEN, TOKENS, Observation, Observations
from teamsets.errors import BadInput

ASK, FORGET, READY, ANSWER, FAILED, ASK_MANY = range(1, 7)
HEAD = struct.Struct("<IBII")
#: Maximum length of a body in bytes, above that of any valid frame.
MAX_BODY = 1 << 21
#: Maximum number of decisions in a forward pass, and in ASK_MANY.
MAX_BATCH = 256
#: Maximum length of a socket's path in bytes, on the stricter systems.
_MAX_SOCKET_PATH = 103

_ID_BYTES, _FEATURE_BYTES = TOKENS * IDS_PER_TOKEN * 2, TOKENS * FEATURES * 4
_OBSERVATION_BYTES = _ID_BYTES + _FEATURE_BYTES + ACTIONS
_DECISION_BYTES = 8 + _OBSERVATION_BYTES


def lock_of(path: Path) -> Path:
    """Return the lock file of a socket, held while a process connects to, starts or ends its server."""
    return path.with_suffix(".lock")


def log_of(path: Path) -> Path:
    """Return the log file of a socket's server; it is deleted when the server ends without an error."""
    return path.with_suffix(".log")


def frame(kind: int, session: int = 0, position: int = 0, body: bytes = b"") -> bytes:
    """Encode a frame."""
    return HEAD.pack(len(body), kind, session, position) + body


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


class Framed(asyncio.Protocol):
    """A connection that exchanges frames. Subclasses implement `frame_received`."""

    def __init__(self) -> None:
        self._received = bytearray()
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        offset = 0
        while len(self._received) - offset >= HEAD.size:
            length, kind, session, position = HEAD.unpack_from(self._received, offset)
            if length > MAX_BODY:
                assert self.transport is not None
                self.transport.abort()
                return
            end = offset + HEAD.size + length
            if end > len(self._received):
                break
            self.frame_received(kind, session, position, bytes(self._received[offset + HEAD.size : end]))
            offset = end
        del self._received[:offset]

    def frame_received(self, kind: int, session: int, position: int, body: bytes) -> None:
        raise NotImplementedError


def runtime_folder() -> Path:
    """Return the user's folder for sockets, locks and logs. Raises BadInput if it belongs to another user."""
    folder = Path(tempfile.gettempdir()) / f"arena-policy-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    about = folder.lstat()
    if about.st_uid != os.getuid() or about.st_mode & 0o077 or folder.is_symlink():
        raise BadInput(
            f"{folder}: must be a folder with access for its owner only (mode 0700): remove it, or set TMPDIR to another one"
        )
    return folder


def socket_path(folder: Path, identity: str, device: str) -> Path:
    """Return the socket of the server of a checkpoint on a device. Raises BadInput if its path is too long."""
    key = hashlib.sha256(f"{folder.resolve()}\n{identity}\n{device}".encode()).hexdigest()[:16]
    path = runtime_folder() / f"{key}.socket"
    if len(os.fsencode(path)) > _MAX_SOCKET_PATH:
        raise BadInput(f"{path}: too long for the path of a socket: set TMPDIR to a shorter folder")
    return path
