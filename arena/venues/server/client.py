"""A user on a Showdown server: one websocket, signed in, throttled, reconnected when it breaks."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from asyncio_throttle import Throttler
from poke_env.data import to_id_str
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedError, WebSocketException
from websockets.frames import CloseCode

from arena.processes.child import SilenceCounter
from arena.venue import VenueFailed
from arena.venues.server.login import PASSWORD, Account, LoginFailed
from arena.venues.server.messages import BadMessage, parsing, plain_text, searches, text_of
from teamsets.errors import ArenaError, BadInput

_SIGN_IN_SECONDS = 60.0
#: Number of checks of a silent connection after which it is aborted.
_MAX_SILENT_CHECKS = 3
#: A message that cannot be read breaks the connection; after so many in so many seconds the user does not connect again.
_BAD_MESSAGES, _BAD_MESSAGES_SECONDS = 3, 600.0
#: What we close a connection with whose message cannot be read.
_UNREADABLE = (CloseCode.PROTOCOL_ERROR, CloseCode.INVALID_DATA, CloseCode.MESSAGE_TOO_BIG)

# websockets logs each broken connection; they are handled here, and the server logs them.
_SILENT = logging.getLogger("arena.client")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False


class ConnectionLost(VenueFailed):
    """The server was repeatedly unreachable, or refused the user."""


class ServerRefused(ConnectionLost, BadInput):
    """The server refused the user or a request, with the server's message."""


@dataclass(frozen=True)
class RateLimit:
    """A rate limit: number of messages per number of seconds."""

    messages: int
    seconds: float


@dataclass(frozen=True)
class ConnectionLimits:
    """Limits of a user's connection.

    reconnect_seconds: how long a broken one is tried again; Showdown lets a user lose about a minute after a disconnect.
    check_seconds: interval of the checks of a silent one. max_message_bytes: longer messages cannot be read; the log of a
    long battle has 1 MB.
    """

    reconnect_seconds: float = 60.0
    check_seconds: float = 15.0
    max_message_bytes: int = 32 << 20


#: The rate at which Showdown's public servers do not delay messages: one per 0.6 s.
PUBLIC_RATE_LIMIT = RateLimit(5, 3.5)


class Room(Protocol):
    """Listener of a room of the server."""

    def receive(self, lines: list[str]) -> None:
        """Process the lines of one message; the first is `|init|battle` when the server sends the room from its start."""


class User(Protocol):
    """The interface of a signed-in user that a battle uses; see Client."""

    user: str
    lost: asyncio.Future[str]
    on_battle: Callable[[str], Room | None]
    on_challenge: Callable[[str, str], None]
    on_refusal: Callable[[str], None]
    on_return: Callable[[], None]

    def say(self, text: str, room: str = "") -> None: ...

    def use_team(self, packed: str | None) -> None: ...

    def challenge(self, user: str, format_id: str) -> None: ...

    def accept(self, user: str) -> None: ...

    def join(self, room: str, listener: Room) -> None: ...

    def leave(self, room: str) -> None: ...


class Client:
    """A signed-in user. Create it with `Client.connect()`; use it as an async context manager.

    user: id on the server. on_battle: returns the listener of a new battle (room id -> Room). on_challenge(user, format):
    called at a challenge. on_message(user, text): called at a private message. on_search(formats, rooms): called when the
    searched formats or the user's battle rooms change. on_refusal(text): called at each popup. on_return: called after a
    reconnection. lost: set to the reason when reconnecting failed for good.
    """

    def __init__(
        self,
        uri: str,
        account: Account,
        rate_limit: RateLimit | None = None,
        patience: float | None = None,
        limits: ConnectionLimits | None = None,
    ) -> None:
        self.uri, self.account, self.name, self.user = uri, account, account.name, to_id_str(account.name)
        self.on_battle: Callable[[str], Room | None] = lambda room: None
        self.on_challenge: Callable[[str, str], None] = lambda user, format_id: None
        self.on_message: Callable[[str, str], None] = lambda user, text: None
        self.on_search: Callable[[list[str], list[str]], None] = lambda formats, rooms: None
        self.on_refusal: Callable[[str], None] = lambda text: None
        self.on_return: Callable[[], None] = lambda: None
        self.lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._rooms: dict[str, Room] = {}
        self._throttler = None if rate_limit is None else Throttler(rate_limit.messages, rate_limit.seconds)
        self._outgoing: asyncio.Queue[str] = asyncio.Queue()
        self._signed_in = asyncio.Event()
        self._socket: ClientConnection | None = None
        self._limits = limits or ConnectionLimits()
        self._patience = self._limits.reconnect_seconds if patience is None else patience
        self._active = False
        self._popup = ""
        self._was_refused = False
        self._bad_messages: list[float] = []  # when they came
        self._task = asyncio.ensure_future(self._keep_connected())
        self._task.add_done_callback(self._on_task_end)

    @classmethod
    async def connect(
        cls,
        uri: str,
        who: str | Account,
        *,
        rate_limit: RateLimit | None = None,
        patience: float | None = None,
        limits: ConnectionLimits | None = None,
    ) -> Client:
        """Connect and sign in. Raises ConnectionLost, or ServerRefused if the server refuses the user.

        who: a name, on servers without passwords, or an account. rate_limit: None: not limited. patience: seconds for the
        first connection; None: as for a reconnection. limits: None: the defaults.
        """
        client = cls(uri, Account(who) if isinstance(who, str) else who, rate_limit, patience, limits)
        waiting = asyncio.ensure_future(client._signed_in.wait())
        try:
            await asyncio.wait({waiting, client._task}, return_when=asyncio.FIRST_COMPLETED)
        except BaseException:
            await client.close()
            raise
        finally:
            waiting.cancel()
        if client.lost.done():
            raise client.failure
        return client

    @property
    def failure(self) -> ArenaError:
        """Return the reason in `lost` as an exception."""
        return (ServerRefused if self._was_refused else ConnectionLost)(self.lost.result())

    def say(self, text: str, room: str = "") -> None:
        """Queue a message, usually a command. Messages queued while the connection is broken are dropped."""
        self._outgoing.put_nowait(f"{room}|{text}")

    def use_team(self, packed: str | None) -> None:
        """Set the team for the next challenges; None if the format generates it."""
        self.say(f"/utm {packed or 'null'}")

    def challenge(self, user: str, format_id: str) -> None:
        """Challenge another user."""
        self.say(f"/challenge {user}, {format_id}")

    def accept(self, user: str) -> None:
        """Accept the challenge of another user."""
        self.say(f"/accept {user}")

    def join(self, room: str, listener: Room) -> None:
        """Join a room, unless already joined."""
        if room not in self._rooms:
            self._rooms[room] = listener
            self.say(f"/join {room}")

    def leave(self, room: str) -> None:
        """Leave a room."""
        if self._rooms.pop(room, None) is not None:
            self.say(f"/noreply /leave {room}")

    @property
    def connected(self) -> bool:
        """Whether the user is signed in at the moment."""
        return self._signed_in.is_set()

    async def close(self) -> None:
        """Sign off."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _on_task_end(self, task: asyncio.Task[None]) -> None:
        """Whatever ends the connection's task is known to those who wait for the server."""
        if not task.cancelled() and (error := task.exception()) is not None and not self.lost.done():
            self.lost.set_result(f"{self.uri}: {type(error).__name__}: {error}")

    async def _keep_connected(self) -> None:
        """Connect, and reconnect whenever the connection breaks, until that fails for good."""
        loop = asyncio.get_running_loop()
        broken_since, pause, why = loop.time(), 0.05, ""
        patience = self._patience
        while loop.time() - broken_since < patience:
            try:
                # No pings: an agent that blocks the loop would look like a broken connection.
                max_size = self._limits.max_message_bytes
                async with connect(self.uri, max_size=max_size, ping_interval=None, logger=_SILENT) as socket:
                    await self._run_connection(socket, min(_SIGN_IN_SECONDS, patience))
                why = "the server closed the connection"
            except (ServerRefused, LoginFailed) as error:
                why = str(error)
                # The name may be "in use" by our previous connection, whose end the server has not noticed yet.
                if self._socket is None or isinstance(error, LoginFailed):
                    self._was_refused = True
                    break
            except (OSError, TimeoutError, WebSocketException, BadMessage) as error:
                why = str(error) or type(error).__name__
                recent = [when for when in self._bad_messages if loop.time() - when < _BAD_MESSAGES_SECONDS]
                self._bad_messages = [*recent, loop.time()] if _is_unreadable(error) else recent
                if len(self._bad_messages) >= _BAD_MESSAGES:
                    why += f", {_BAD_MESSAGES} times: it does not speak Showdown's protocol"
                    break
            if self._popup:
                self._was_refused = True
                why = f"the server closed the connection: {self._popup}"
                break
            if self._signed_in.is_set():
                self._signed_in.clear()
                patience, broken_since, pause = self._limits.reconnect_seconds, loop.time(), 0.05
            await asyncio.sleep(pause)
            pause = min(2 * pause, 2.0)
        else:
            why = f"no connection for {patience:g} s: {why}"
        self.lost.set_result(f"{self.uri}: {why}")

    async def _run_connection(self, socket: ClientConnection, patience: float) -> None:
        """Run one connection from start to end. patience: seconds for the sign-in."""
        self._popup = ""
        try:
            async with asyncio.timeout(patience):
                await self._sign_in(socket)
        except TimeoutError:
            raise TimeoutError(f"not signed in within {patience:g} s") from None
        self._popup = ""
        while not self._outgoing.empty():
            self._outgoing.get_nowait()
        reconnected = self._socket is not None
        self._socket = socket
        self._signed_in.set()
        if reconnected:
            for room in self._rooms:
                self.say(f"/join {room}")
            self.on_return()
        background = [asyncio.ensure_future(self._send(socket)), asyncio.ensure_future(self._probe(socket))]
        try:
            async for message in socket:
                self._active = True
                self._handle_message(text_of(message))
        finally:
            for task in background:
                task.cancel()

    async def _sign_in(self, socket: ClientConnection) -> None:
        """Sign in: return when the server confirms the name. A popup before the connection ends contains the reason."""
        if not self.account.has_password:
            with contextlib.suppress(WebSocketException):  # closed already; the reason was given
                await self._transmit(socket, f"|/trn {self.name},0,")
        while True:
            message = text_of(await socket.recv())
            for line in message.split("\n"):
                fields = line.split("|")
                if line.startswith("|challstr|") and self.account.has_password:
                    assertion = await self.account.assertion(line[10:])
                    await self._transmit(socket, f"|/trn {self.name},0,{assertion}")
                elif line.startswith("|nametaken|"):
                    wanted = "" if self.account.has_password else f" (if it wants a password, set {PASSWORD})"
                    raise ServerRefused(f"user name '{self.name}' was refused: {plain_text(fields[-1])}{wanted}")
                elif line.startswith("|popup|"):
                    self._popup = plain_text(line[7:])
                elif line.startswith("|updateuser|"):
                    with parsing("|updateuser|"):
                        is_signed_in = fields[3] == "1" and to_id_str(fields[2]) == self.user
                    if is_signed_in:
                        return

    async def _probe(self, socket: ClientConnection) -> None:
        """Abort a connection that answers no ping: one that died without a close frame would be kept open."""

        def answered(pong: asyncio.Future[float]) -> None:
            self._active = self._active or not (pong.cancelled() or pong.exception())

        silence_counter, silent, seconds = SilenceCounter(), 0.0, self._limits.check_seconds
        while silent < _MAX_SILENT_CHECKS * seconds:
            await asyncio.sleep(seconds)
            silent = silence_counter.check(self._active, seconds)
            self._active = False
            if silent:
                asyncio.ensure_future(await socket.ping()).add_done_callback(answered)
        socket.transport.abort()

    async def _send(self, socket: ClientConnection) -> None:
        with contextlib.suppress(WebSocketException):  # the receiving task notices it, too, and reconnects
            while True:
                await self._transmit(socket, await self._outgoing.get())

    async def _transmit(self, socket: ClientConnection, message: str) -> None:
        if self._throttler is not None:
            await self._throttler.acquire()
        await socket.send(message)

    def _handle_message(self, message: str) -> None:
        lines = message.split("\n")
        if lines[0].startswith(">"):
            self._handle_room_message(lines[0][1:], lines[1:])
            return
        for line in lines:
            fields = line.split("|")
            kind = fields[1] if len(fields) > 1 else ""
            if kind == "popup":
                self.on_refusal(plain_text(line[7:]))
            elif kind == "updatesearch":
                self.on_search(*searches(line[14:]))
            elif kind == "pm":
                with parsing("|pm|"):
                    sender, text = to_id_str(fields[2]), "|".join(fields[4:])
                self._handle_private_message(sender, text)

    def _handle_private_message(self, sender: str, text: str) -> None:
        if text.startswith("/error "):  # an echo of our own message
            self.on_refusal(plain_text(text[7:]))
        elif sender == self.user:
            return
        elif text.startswith("/challenge "):
            self.on_challenge(sender, text.split(" ", 1)[1].split("|", 1)[0])
        else:
            self.on_message(sender, text)

    def _handle_room_message(self, room: str, lines: list[str]) -> None:
        listener = self._rooms.get(room)
        if listener is None and lines[:1] == ["|init|battle"]:
            listener = self.on_battle(room)
            if listener is not None:
                self._rooms[room] = listener
        if listener is not None and lines:
            listener.receive(lines)


def _is_unreadable(error: Exception) -> bool:
    """Whether a connection ended because of a message that cannot be read."""
    if isinstance(error, ConnectionClosedError):
        return error.sent is not None and error.sent.code in _UNREADABLE
    return isinstance(error, BadMessage)
