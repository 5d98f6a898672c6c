"""A local Showdown server: the npm package's, in a temporary folder; it ends with the process that started it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson

from arena.processes.child import Message, MessageProcess
from arena.venue import VenueFailed
from teamsets.errors import BadInput
from teamsets.logs import last_line, new_log
from teamsets.showdown import node, package

_SCRIPT = Path(__file__).with_name("start.mjs")
#: A cold start on a busy machine takes some ten seconds.
_START_SECONDS = 120.0
_ANSWER_SECONDS = 30.0
_LOGS_KEPT = 20
#: Parts of the package that the server reads; they are linked, never written.
_LINKED = ("dist", "data", "server", "translations", "package.json")

# Helper processes that the server would start.
_HELPERS = [
    "validator",
    "verifier",
    "localartemis",
    "remoteartemis",
    "friends",
    "chatdb",
    "modlog",
    "pm",
    "battlesearch",
    "datasearch",
]

_CONFIG = {
    # No passwords: `/trn NAME,0,` signs in. No limits on messages and battles of one address.
    "noguestsecurity": True,
    "nothrottle": True,
    "noipchecks": True,
    # Nobody rules this server by the address they come from.
    "backdoor": False,
    "consoleips": [],
    # The sockets in the main process (it can then take any free port), battles in one of their own.
    "subprocesses": {"network": 0, "simulator": 1, **dict.fromkeys(_HELPERS, 0)},
    # It speaks to nobody outside this machine and writes no files.
    "loginserver": "http://127.0.0.1:9/",
    "nofswriting": True,
    "repl": False,
    "watchconfig": False,
    "loguserstats": 0,
    "reportbattles": False,
    "reportbattlejoins": False,
    "autolockdown": False,
    # Otherwise it puts a hint of its own among the battle's lines.
    "allowrequestingties": False,
}


class ServerDied(VenueFailed):
    """The server ended, or does not respond. Its battles count for neither agent and are played again."""


class LocalServer(MessageProcess):
    """A running server. Create it with `LocalServer.launch()`; use it as an async context manager.

    uri: of its websocket. log_path: output of the server and its processes. dead: set to the reason when it ends.
    """

    Died = ServerDied

    uri: str
    port: int
    _address: str

    def __init__(self, folder: Path, log_path: Path) -> None:
        super().__init__()
        self.folder, self.log_path = folder, log_path
        self._ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._failure = ""

    @classmethod
    async def launch(cls, *, address: str = "127.0.0.1", port: int = 0, log_path: Path | None = None) -> LocalServer:
        """Start a server, and wait until it responds.

        address, port: where it listens; 0: any free port. log_path: None: a new file in the cache folder.
        Raises MissingTool without node or the package, BadInput if it cannot listen there, ServerDied if it does not
        start.
        """
        log_path = log_path or new_log("server-logs", _LOGS_KEPT)
        folder = Path(tempfile.mkdtemp(prefix="arena-server-"))
        try:
            _lay_out(folder, address, port)
            # Links are not resolved: the server finds its config and its folders beside the links, not in the package.
            flags = ("--preserve-symlinks", "--preserve-symlinks-main")
            command = [node(), *flags, str(_SCRIPT), str(folder)]
            log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            try:
                _, server = await asyncio.get_running_loop().subprocess_exec(
                    lambda: cls(folder, log_path), *command, stderr=log, start_new_session=True
                )
            finally:
                os.close(log)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        try:
            await server._wait_until_ready(address, port)
        except BaseException:
            await server.close()
            raise
        return server

    async def _wait_until_ready(self, address: str, port: int) -> None:
        ready_or_dead: set[asyncio.Future[Any]] = {self._ready, self.dead}
        await asyncio.wait(ready_or_dead, timeout=_START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if self.dead.done():
            error = self.dead.result()
            if any(code in error for code in ("EADDRINUSE", "EADDRNOTAVAIL", "EACCES")):
                raise BadInput(f"address {address}, port {port}: cannot listen ({error}): choose another")
            raise ServerDied(f"the Showdown server did not start: {error}; its log is {self.log_path}")
        if not self._ready.done():
            raise ServerDied(f"the Showdown server was not up after {_START_SECONDS:g} s; its log is {self.log_path}")
        self.port = self._ready.result()
        host = "127.0.0.1" if address == "0.0.0.0" else address
        self._address = host
        self.uri = f"ws://{host}:{self.port}/showdown/websocket"
        await self.check()

    async def check(self) -> None:
        """Wait until both its socket and its main loop have responded. Raises ServerDied."""
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                reader, writer = await asyncio.open_connection(self._address, self.port)
                writer.write(b"GET /showdown/info HTTP/1.0\r\n\r\n")
                status = await reader.readline()
                writer.close()
                await self.ask({"op": "ping"})
        except (OSError, TimeoutError) as error:
            raise ServerDied(f"the Showdown server at {self.uri} does not respond: {error or 'no response'}") from None
        if b" 200 " not in status:
            raise ServerDied(f"the Showdown server at {self.uri} answers {status!r}")

    async def expect(self, order: Message, listener: Callable[[Message], None]) -> int:
        """Set up the next battle of some users. Returns its number, for `forget`.

        order: format, seed, maxTurns and players as start.mjs documents them. listener: receives start.mjs's messages about
        that battle, and {"died": reason} when the server ends. Raises ServerDied.
        """
        number = next(self._ids)
        try:
            await self.ask({**order, "op": "expect"}, number)
        except asyncio.CancelledError:
            self.send({"op": "forget", "id": number})
            raise
        self._listeners[number] = listener
        return number

    async def is_online(self, user: str) -> bool:
        """Return whether a user is online. Raises ServerDied."""
        return bool((await self.ask({"op": "online", "user": user}))["online"])

    async def refusal(self, user: str) -> str:
        """Return the server's last refusal to a user; empty if none. Raises ServerDied."""
        return str((await self.ask({"op": "online", "user": user}))["refusal"])

    async def is_challenged(self, by: str, user: str) -> bool:
        """Return whether a challenge between two users is pending. Raises ServerDied."""
        answer = await self.ask({"op": "challenged", "by": by, "user": user})
        return bool(answer["challenged"])

    def lose(self, number: int, role: str) -> None:
        """Let a side of a battle forfeit."""
        self.send({"op": "lose", "id": number, "side": role})

    async def watch_searches(
        self, users: Sequence[str], formats: Sequence[str], listener: Callable[[Message], None]
    ) -> int:
        """Let the ladder match only users of registered battles. Returns a number, for `forget`.

        users: the local ones. formats: can be searched, also those that Showdown's own ladder does not have. listener:
        receives {"search": user, "format": id} when a user searches a battle, and {"gone": user} when the user leaves, with
        "format" if only a search was cancelled. Raises ServerDied.
        """
        number = next(self._ids)
        await self.ask({"op": "searches", "users": list(users), "formats": list(formats)}, number)
        self._listeners[number] = listener
        return number

    def refuse_search(self, user: str, format_id: str) -> None:
        """Cancel a user's search."""
        self.send({"op": "refuse", "user": user, "format": format_id})

    def show_popup(self, user: str, text: str) -> None:
        """Show a popup to a user. (On Showdown, unregistered users cannot send private messages.)"""
        self.send({"op": "popup", "user": user, "text": text})

    def forget(self, number: int) -> None:
        """Remove a listener, and its battle at the server."""
        if self._listeners.pop(number, None) is not None:
            self.send({"op": "forget", "id": number})

    def send(self, message: Message) -> None:
        """Write a message, as start.mjs documents it."""
        self.write_line(orjson.dumps(message))

    async def close(self) -> None:
        """End the server and all its processes. Its log is kept."""
        await self.end_within(5, self.dead)

    async def __aenter__(self) -> LocalServer:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def line_received(self, line: bytes) -> None:
        message = orjson.loads(line)
        if "ready" in message:
            self._ready.set_result(message["ready"])
        elif "failed" in message:
            self._failure = message["failed"]
        else:
            self.deliver(message)

    def last_error_line(self) -> str:
        """Return why it could not start, or the last line of its log."""
        return self._failure or last_line(self.log_path)

    def connection_lost(self, exc: Exception | None) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)  # remaining processes of its group
        shutil.rmtree(self.folder, ignore_errors=True)
        error = self.last_error_line()
        self.report_death(f"the Showdown server ended with status {self.status}" + (f": {error}" if error else ""))


def _lay_out(folder: Path, address: str, port: int) -> None:
    """Create the server's folder: links to the package, and its config."""
    for name in _LINKED:
        (folder / name).symlink_to(package() / name)
    (folder / "node_modules").symlink_to(package().parent)
    for name in ("config", "databases", "logs/repl", "logs/modlog"):
        (folder / name).mkdir(parents=True)
    (folder / "databases" / "schemas").symlink_to(package() / "databases" / "schemas")
    (folder / "databases" / "migrations").symlink_to(package() / "databases" / "migrations")
    config = orjson.dumps({**_CONFIG, "bindaddress": address, "port": port}).decode()
    (folder / "config" / "config.js").write_text(f"module.exports = {config};\n")
