"""The dashboard's server as a thread of the test, and its stream of changes."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from arena.dashboard.app import application

PATIENCE = 60.0


class Place:
    """A dashboard that is served. Every request is one connection."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}/"

    def ask(self, path: str, *, method: str = "GET", **headers: str) -> tuple[int, http.client.HTTPMessage, bytes]:
        """Status, headers and body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def json(self, path: str) -> Any:
        return json.loads(self.ask(path)[2])

    @contextmanager
    def stream(self, path: str = "/events") -> Iterator[Iterator[tuple[str, Any]]]:
        """(part, data) of the events, as they arrive."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("GET", path)
        answer = connection.getresponse()
        assert answer.headers["content-type"].startswith("text/event-stream")

        def told() -> Iterator[tuple[str, Any]]:
            for line in answer:
                if line.startswith(b"data: "):
                    event = json.loads(line[6:])
                    yield event["part"], event["data"]

        try:
            yield told()
        finally:
            connection.close()

    def first(self, path: str = "/events") -> dict[str, Any]:
        """All parts of the first look."""
        parts: dict[str, Any] = {}
        with self.stream(path) as told:
            for name, data in told:
                if name == "ready":
                    return parts
                parts[name] = data
        raise AssertionError("the stream ended before its first look did")


@contextmanager
def served(db: Path, *folders: Path, token: str | None = None, port: int = 0) -> Iterator[Place]:
    """A dashboard on the loopback."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    app = application(db, folders, token, lambda: server.should_exit)
    config = uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=3)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    end = time.monotonic() + PATIENCE
    while not server.started:
        assert thread.is_alive() and time.monotonic() < end
        time.sleep(0.01)
    try:
        yield Place(listening.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listening.close()
