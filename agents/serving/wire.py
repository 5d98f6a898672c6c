"""Frames between workers and a model's server, and the paths of its socket, lock and log.

A frame is a header (`HEAD`: length of the body, kind, session, position) and a body. A session is a number that the client
chose for one seat of one battle. What the position and the bodies mean is the server's matter.

| kind | from | body |
|---|---|---|
| READY | server | empty: the model is loaded; the first frame of a connection |
| ASK | client | a question |
| FORGET | client | empty: the battle is over |
| ANSWER | server | the answer to ASK, with its session |
| FAILED | server | UTF-8: the error |
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import struct
import tempfile
from pathlib import Path

from teamsets.errors import BadInput

ASK, FORGET, READY, ANSWER, FAILED = range(1, 6)
HEAD = struct.Struct("<IBII")
#: Maximum length of a body in bytes, above that of any valid frame.
MAX_BODY = 1 << 21
#: Maximum length of a socket's path in bytes, on the stricter systems.
_MAX_SOCKET_PATH = 103


def lock_of(path: Path) -> Path:
    """Return the lock file of a socket, held while a process connects to, starts or ends its server."""
    return path.with_suffix(".lock")


def log_of(path: Path) -> Path:
    """Return the log file of a socket's server; it is deleted when the server ends without an error."""
    return path.with_suffix(".log")


def frame(kind: int, session: int = 0, position: int = 0, body: bytes = b"") -> bytes:
    """Encode a frame."""
    return HEAD.pack(len(body), kind, session, position) + body


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


def socket_path(key: str) -> Path:
    """Return the socket of the server of a model. key: names its weights and device. Raises BadInput if it is too long."""
    path = runtime_folder() / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.socket"
    if len(os.fsencode(path)) > _MAX_SOCKET_PATH:
        raise BadInput(f"{path}: too long for the path of a socket: set TMPDIR to a shorter folder")
    return path
