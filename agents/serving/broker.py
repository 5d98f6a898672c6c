"""The servers of a run with `--isolate`, which only processes with its mailbox can reach.

The socket of a server has a path for all processes of a user; here it has none. A process that holds the mailbox (client.py)
makes a pair of sockets and posts one of them, with the server that it wants; the broker starts that server, if it does not
run, and hands the socket on. Nothing is found in a folder or in /proc/net/unix. Processes inherit the mailbox: the run's
workers, their nurseries, and the agent processes that run only the arena's own code.

`python -m agents.serving.broker MODULE …` runs a server, closed to other processes of the user before it loads anything.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import runpy
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import orjson

from agents.serving import wire
from agents.serving.client import Mailbox, launch
from teamsets.processes import close_to_others

#: Maximum size of a request in bytes: the paths of a server's arguments.
_MAX_REQUEST = 1 << 16


class Broker:
    """Starts servers and hands sockets on to them, on the running event loop, until `close`. mailbox: for its clients."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._folder = Path(tempfile.mkdtemp(prefix="arena-servers-"))
        self._requests, self._post = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.mailbox = Mailbox(self._post.fileno(), self._folder)
        self._servers: dict[str, tuple[subprocess.Popen[bytes], socket.socket]] = {}  # by the name of their path
        self._requests.setblocking(False)
        self._loop.add_reader(self._requests, self._receive)

    def _receive(self) -> None:
        message, descriptors, _, _ = socket.recv_fds(self._requests, _MAX_REQUEST, 1)
        try:
            self._hand_on(orjson.loads(message), descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _hand_on(self, request: dict[str, Any], descriptors: list[int]) -> None:
        """Send a socket to its server, started if it does not run. A server that is gone is replaced once."""
        name = Path(request["path"]).name
        if name in self._servers:
            with contextlib.suppress(OSError):
                socket.send_fds(self._servers[name][1], [b"+"], descriptors)
                return
            self._servers.pop(name)[1].close()
        self._servers[name] = self._start(self._folder / name, request)
        with contextlib.suppress(OSError):  # it has ended at once: its client reads why in the log
            socket.send_fds(self._servers[name][1], [b"+"], descriptors)

    def _start(self, path: Path, request: dict[str, Any]) -> tuple[subprocess.Popen[bytes], socket.socket]:
        ours, its = socket.socketpair()
        with its, wire.log_of(path).open("wb") as log:
            own = ["--socket", os.fspath(path), "--clients", str(its.fileno()), "--threads", request["threads"]]
            arguments = [request["module"], *request["arguments"], *own]
            return launch("agents.serving.broker", arguments, log, its.fileno()), ours

    def close(self) -> None:
        """Take no more requests. The servers end when their clients have gone."""
        self._loop.remove_reader(self._requests)
        self._requests.close()
        self._post.close()
        for name, (process, clients) in self._servers.items():
            clients.close()
            if process.poll() is None:  # else an error message names its log
                wire.log_of(self._folder / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self._folder.rmdir()


if __name__ == "__main__":
    close_to_others()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
