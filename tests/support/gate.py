"""Stand-ins around a Showdown server for the tests of signing in: a login server, and a gate that wants assertions."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import WebSocketException

ASSERTION = "the,signed,assertion"


class Gate:
    """A server with accounts in front of one without: signs in only who shows the assertion, and breaks connections.

    accounts: False for a server without. messages: after how many a connection is broken, each time a few more; None:
    never. cuts: how often that was. assertions: what was shown.
    """

    def __init__(self, uri: str, messages: int | None = None, accounts: bool = True) -> None:
        self.behind, self.messages, self.accounts = uri, messages, accounts
        self.cuts = 0
        self.assertions: list[str] = []

    @contextlib.asynccontextmanager
    async def open(self):  # type: ignore[no-untyped-def]
        """Its own URI, as long as it is open."""
        async with serve(self._pass, "127.0.0.1", 0, max_size=None) as listening:
            port = next(iter(listening.sockets)).getsockname()[1]
            yield f"ws://127.0.0.1:{port}/showdown/websocket"

    async def _pass(self, user: ServerConnection) -> None:
        async with connect(self.behind, max_size=None, proxy=None) as server:
            back = asyncio.ensure_future(self._pass_back(user, server))
            try:
                with contextlib.suppress(WebSocketException):
                    async for message in user:
                        assert isinstance(message, str)
                        if message.startswith("|/trn ") and self.accounts:
                            name, number, assertion = message.split(",", 2)
                            self.assertions.append(assertion)
                            if assertion != ASSERTION:
                                await user.send("|nametaken|x|Your authentication token was invalid.")
                                continue
                            message = f"{name},{number},"
                        await server.send(message)
            finally:
                back.cancel()

    async def _pass_back(self, user: ServerConnection, server) -> None:  # type: ignore[no-untyped-def]
        passed = 0
        with contextlib.suppress(WebSocketException):
            async for message in server:
                await user.send(message)
                passed += 1
                if self.messages is not None and passed > self.messages:
                    self.cuts += 1
                    self.messages += 2
                    user.transport.abort()
                    return


class LoginServer:
    """Answers as Showdown's login server does. answer: sent instead, where it is set. forms: what it was sent."""

    def __init__(self, password: str) -> None:
        self.password, self.answer, self.status = password, "", 200
        self.forms: list[dict[str, str]] = []

    @contextlib.contextmanager
    def open(self) -> Iterator[str]:
        """Its address, as long as it is open."""
        login = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                text = self.rfile.read(int(self.headers["Content-Length"])).decode()
                login.forms.append({key: value[0] for key, value in parse_qs(text).items()})
                self.send_response(login.status)
                if login.status == 302:
                    self.send_header("Location", f"http://127.0.0.1:{self.server.server_address[1]}/elsewhere")
                self.end_headers()
                self.wfile.write(login.said().encode())

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/action.php"
        finally:
            server.shutdown()
            server.server_close()

    def said(self) -> str:
        if self.answer:
            return self.answer
        if self.forms[-1].get("pass") == self.password:
            return f']{{"actionsuccess": true, "assertion": "{ASSERTION}"}}'
        return ']{"actionsuccess": false, "assertion": ";;Wrong password."}'
