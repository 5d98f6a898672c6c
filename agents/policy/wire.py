"""What the workers and the inference server say to each other, and where they find each other.

A frame is a head (`HEAD`: the length of its body, its kind, the session, the position), and a body. A session is a number
that the client chose for one seat of one battle; the position is how many decisions that seat had before.

| kind | from | body |
|---|---|---|
| ASK | client | an observation: ids int16 [19, 12], numbers float32 [19, 56], legal bool [13] |
| FORGET | client | none: the battle is over |
| READY | server | none: the checkpoint is loaded; the first frame of a connection |
| ANSWER | server | float32 [14]: 13 logits and the value from 0 (lost) to 1 (won) |
| FAILED | server | UTF-8: why there is no answer |
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.policy.actions import ACTIONS
from agents.policy.observation import NUMBERS, TOKENS, WORDS, Observation
from teamsets.errors import BadInput

ASK, FORGET, READY, ANSWER, FAILED = range(1, 6)
HEAD = struct.Struct("<IBII")
#: Longer than any frame; what says it has more is not of ours.
LONGEST = 1 << 20
#: What the kernel takes as the name of a socket, on the stricter systems.
_LONGEST_NAME = 103

_IDS, _NUMBERS = TOKENS * WORDS * 2, TOKENS * NUMBERS * 4


def lock_of(place: Path) -> Path:
    """The lock of a socket: held by who looks for its server, or ends it."""
    return place.with_suffix(".lock")


def log_of(place: Path) -> Path:
    """Where the server of a socket writes what goes wrong; gone when it has ended in peace."""
    return place.with_suffix(".log")


def frame(kind: int, session: int = 0, position: int = 0, body: bytes = b"") -> bytes:
    """One frame, head and body."""
    return HEAD.pack(len(body), kind, session, position) + body


def packed(seen: Observation) -> bytes:
    """An observation as the body of ASK."""
    return seen.ids.tobytes() + seen.numbers.tobytes() + seen.legal.tobytes()


def unpacked(bodies: list[bytes]) -> tuple[NDArray[np.int16], NDArray[np.float32], NDArray[np.bool_]]:
    """Bodies of ASK -> ids [B, 19, 12], numbers [B, 19, 56], legal [B, 13]. Raises ValueError for another length."""
    size = _IDS + _NUMBERS + ACTIONS
    together = np.frombuffer(b"".join(bodies), dtype=np.uint8).reshape(len(bodies), size)
    ids = np.ascontiguousarray(together[:, :_IDS]).view(np.int16).reshape(-1, TOKENS, WORDS)
    numbers = np.ascontiguousarray(together[:, _IDS:-ACTIONS]).view(np.float32).reshape(-1, TOKENS, NUMBERS)
    return ids, numbers, np.ascontiguousarray(together[:, -ACTIONS:]).view(np.bool_)


class Framed(asyncio.Protocol):
    """A connection of frames. Subclasses say what to do with each."""

    def __init__(self) -> None:
        self._received = bytearray()
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        place = 0
        while len(self._received) - place >= HEAD.size:
            length, kind, session, position = HEAD.unpack_from(self._received, place)
            if length > LONGEST:
                assert self.transport is not None
                self.transport.abort()
                return
            end = place + HEAD.size + length
            if end > len(self._received):
                break
            self.frame_received(kind, session, position, bytes(self._received[place + HEAD.size : end]))
            place = end
        del self._received[:place]

    def frame_received(self, kind: int, session: int, position: int, body: bytes) -> None:
        raise NotImplementedError


def runtime_folder() -> Path:
    """This user's folder for sockets, locks and logs. Raises BadInput where another user has taken its name."""
    folder = Path(tempfile.gettempdir()) / f"arena-policy-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    about = folder.lstat()
    if about.st_uid != os.getuid() or about.st_mode & 0o077 or folder.is_symlink():
        raise BadInput(
            f"{folder}: must be a folder with access for its owner only (mode 0700): remove it, or set TMPDIR to another one"
        )
    return folder


def place_of(folder: Path, identity: str, device: str) -> Path:
    """The socket of the server of a checkpoint on a device; its lock and its log lie beside it."""
    key = hashlib.sha256(f"{folder.resolve()}\n{identity}\n{device}".encode()).hexdigest()[:16]
    place = runtime_folder() / f"{key}.socket"
    if len(os.fsencode(place)) > _LONGEST_NAME:
        raise BadInput(f"{place}: too long for the path of a socket: set TMPDIR to a shorter folder")
    return place


@contextmanager
def locked(path: Path, wait: bool = True) -> Iterator[bool]:
    """Holds a lock file, which is gone again afterwards. Yields False when it is held elsewhere and we do not wait."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if _is(path, handle):
                break
        except BlockingIOError:
            os.close(handle)
            yield False
            return
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
    try:
        yield True
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def _is(path: Path, handle: int) -> bool:
    """Whether a file is still the one under its name: who held a lock before us has removed it, and it locks nobody out."""
    try:
        return os.fstat(handle).st_ino == path.stat().st_ino
    except FileNotFoundError:
        return False
