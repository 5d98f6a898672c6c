"""Ports of this machine for processes that are about to be started."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reserved_port() -> Iterator[int]:
    """Yield a free port of 127.0.0.1 on which a server can listen, and which no other process gets by chance meanwhile.

    Importing torch takes a process seconds, in which the system may give away a port that is merely free. A socket that is
    bound and does not listen keeps it; SO_REUSEADDR, which servers set too, lets them share it.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield int(holder.getsockname()[1])
