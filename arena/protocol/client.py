"""A user on a Showdown server: one websocket, signed in, throttled, connected again when it breaks."""

from __future__ import annotations

import asyncio
import contextlib
import html
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import orjson
from asyncio_throttle import Throttler
from poke_env.data import to_id_str
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from arena.child import Watchdog
from arena.protocol.login import PASSWORD, Account, LoginFailed
from arena.venue import VenueFailed
from teamsets.errors import ArenaError, BadInput

#: Showdown gives up a user's battle after a minute or so without him.
_RECONNECT_SECONDS = 60.0
_SIGN_IN_SECONDS = 60.0
#: How often a connection is looked at on which nothing is heard, in seconds, and after how many looks it is given up.
_LOOK_SECONDS = 15.0
_LOOKS = 3

# websockets notes every connection that breaks; here that is handled, and the server's log has it.
_SILENT = logging.getLogger("arena.client")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False


class ConnectionLost(VenueFailed):
    """The server could not be reached, again and again, or refused the user."""


class ServerRefused(ConnectionLost, BadInput):
    """The server would not have the user, or what the user asked for; in its own words."""


@dataclass(frozen=True)
class Pace:
    """How fast a server may be spoken to: so many messages within so many seconds."""

    messages: int
    seconds: float


#: What Showdown's public servers let a user say without holding it back: a message each 0.6 s.
PUBLIC_PACE = Pace(5, 3.5)


class Room(Protocol):
    """Who listens to a room of the server."""

    def receive(self, lines: list[str]) -> None:
        """The lines of one message for the room; the first is `|init|battle` whenever the server begins anew."""


class User(Protocol):
    """What a battle needs of a signed-in user of ours; see Client."""

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
    """A signed-in user. Make it with `Client.connect()`; use it as an async context manager.

    user: its id on the server. on_battle: makes the listener of a battle that begins (room id -> Room). on_challenge:
    told (user, format) of a challenge by another. on_message: told (user, text) of what another says to us. on_search:
    told (formats searched, rooms of our battles) whenever that changes. on_refusal: told the words of every popup.
    on_return: called when the connection had broken and stands again. lost: set to the reason when it cannot be mended.
    """

    def __init__(self, uri: str, account: Account, pace: Pace | None = None, patience: float | None = None) -> None:
        self.uri, self.account, self.name, self.user = uri, account, account.name, to_id_str(account.name)
        self.on_battle: Callable[[str], Room | None] = lambda room: None
        self.on_challenge: Callable[[str, str], None] = lambda user, format_id: None
        self.on_message: Callable[[str, str], None] = lambda user, text: None
        self.on_search: Callable[[list[str], list[str]], None] = lambda formats, rooms: None
        self.on_refusal: Callable[[str], None] = lambda words: None
        self.on_return: Callable[[], None] = lambda: None
        self.lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._rooms: dict[str, Room] = {}
        self._throttler = None if pace is None else Throttler(pace.messages, pace.seconds)
        self._outgoing: asyncio.Queue[str] = asyncio.Queue()
        self._signed_in = asyncio.Event()
        self._socket: ClientConnection | None = None
        self._patience = _RECONNECT_SECONDS if patience is None else patience
        self._heard = False
        self._popup = ""
        self._refused = False
        self._task = asyncio.ensure_future(self._stay())

    @classmethod
    async def connect(
        cls, uri: str, who: str | Account, *, pace: Pace | None = None, patience: float | None = None
    ) -> Client:
        """Connects and signs in. Raises ConnectionLost, or ServerRefused when the server would not have the user.

        who: a name, where there are no passwords, or an account. pace: None for a server without limits. patience: for
        how many seconds the first connection is tried; by default as long as a broken one.
        """
        client = cls(uri, Account(who) if isinstance(who, str) else who, pace, patience)
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
        """Why it is `lost`, as an exception."""
        return (ServerRefused if self._refused else ConnectionLost)(self.lost.result())

    def say(self, text: str, room: str = "") -> None:
        """Queues a message, a command mostly. What is queued while the connection is broken is dropped."""
        self._outgoing.put_nowait(f"{room}|{text}")

    def use_team(self, packed: str | None) -> None:
        """The team for the challenges that follow; None where the format draws it."""
        self.say(f"/utm {packed or 'null'}")

    def challenge(self, user: str, format_id: str) -> None:
        """Challenges another user."""
        self.say(f"/challenge {user}, {format_id}")

    def accept(self, user: str) -> None:
        """Accepts the challenge of another user."""
        self.say(f"/accept {user}")

    def join(self, room: str, listener: Room) -> None:
        """Listens to a room, if it does not yet."""
        if room not in self._rooms:
            self._rooms[room] = listener
            self.say(f"/join {room}")

    def leave(self, room: str) -> None:
        """Listens no longer to a room."""
        if self._rooms.pop(room, None) is not None:
            self.say(f"/noreply /leave {room}")

    async def close(self) -> None:
        """Signs off."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _stay(self) -> None:
        """Connects, and again when that breaks, until it cannot be mended."""
        loop = asyncio.get_running_loop()
        broken_since, pause, why = loop.time(), 0.05, ""
        patience = self._patience
        while loop.time() - broken_since < patience:
            try:
                # No pings: an agent that thinks long holds the loop, and would pass for a broken connection.
                async with connect(self.uri, max_size=None, ping_interval=None, logger=_SILENT) as socket:
                    await self._talk(socket, min(_SIGN_IN_SECONDS, patience))
                why = "the server closed the connection"
            except (ServerRefused, LoginFailed) as error:
                why = str(error)
                # A name may be "in use" by our own connection, whose end the server has not noticed yet.
                if self._socket is None or isinstance(error, LoginFailed):
                    self._refused = True
                    break
            except (OSError, TimeoutError, WebSocketException) as error:
                why = str(error) or type(error).__name__
            if self._popup:
                self._refused = True
                why = f"the server closed the connection: {self._popup}"
                break
            if self._signed_in.is_set():
                self._signed_in.clear()
                patience, broken_since, pause = _RECONNECT_SECONDS, loop.time(), 0.05
            await asyncio.sleep(pause)
            pause = min(2 * pause, 2.0)
        else:
            why = f"no connection for {patience:g} s: {why}"
        self.lost.set_result(f"{self.uri}: {why}")

    async def _talk(self, socket: ClientConnection, patience: float) -> None:
        """One connection, from its beginning to its end. patience: seconds for the sign-in."""
        self._popup = ""
        try:
            async with asyncio.timeout(patience):
                await self._sign_in(socket)
        except TimeoutError:
            raise TimeoutError(f"not signed in within {patience:g} s") from None
        self._popup = ""
        while not self._outgoing.empty():
            self._outgoing.get_nowait()
        again = self._socket is not None
        self._socket = socket
        self._signed_in.set()
        if again:
            for room in self._rooms:
                self.say(f"/join {room}")
            self.on_return()
        background = [asyncio.ensure_future(self._send(socket)), asyncio.ensure_future(self._probe(socket))]
        try:
            async for message in socket:
                assert isinstance(message, str)
                self._heard = True
                self._hear(message)
        finally:
            for task in background:
                task.cancel()

    async def _sign_in(self, socket: ClientConnection) -> None:
        """Until the server calls the connection by the user's name. What pops up before the end says why it ends."""
        if not self.account.has_password:
            with contextlib.suppress(WebSocketException):  # closed already: it has said why
                await self._speak(socket, f"|/trn {self.name},0,")
        while True:
            message = await socket.recv()
            assert isinstance(message, str)
            for line in message.split("\n"):
                words = line.split("|")
                if line.startswith("|challstr|") and self.account.has_password:
                    assertion = await self.account.assertion(line[10:])
                    await self._speak(socket, f"|/trn {self.name},0,{assertion}")
                elif line.startswith("|nametaken|"):
                    wanted = "" if self.account.has_password else f" (if it wants a password, set {PASSWORD})"
                    raise ServerRefused(f"user name '{self.name}' was refused: {_plain(words[-1])}{wanted}")
                elif line.startswith("|popup|"):
                    self._popup = _plain(line[7:])
                elif line.startswith("|updateuser|") and words[3] == "1" and to_id_str(words[2]) == self.user:
                    return

    async def _probe(self, socket: ClientConnection) -> None:
        """Abort a connection that answers no ping: one that died without a close frame would be kept open."""

        def answered(pong: asyncio.Future[float]) -> None:
            self._heard = self._heard or not (pong.cancelled() or pong.exception())

        watchdog, silent = Watchdog(), 0.0
        while silent < _LOOKS * _LOOK_SECONDS:
            await asyncio.sleep(_LOOK_SECONDS)
            silent = watchdog.check(self._heard, _LOOK_SECONDS)
            self._heard = False
            if silent:
                asyncio.ensure_future(await socket.ping()).add_done_callback(answered)
        socket.transport.abort()

    async def _send(self, socket: ClientConnection) -> None:
        with contextlib.suppress(WebSocketException):  # the receiving end sees it, too, and sees to it
            while True:
                await self._speak(socket, await self._outgoing.get())

    async def _speak(self, socket: ClientConnection, message: str) -> None:
        if self._throttler is not None:
            await self._throttler.acquire()
        await socket.send(message)

    def _hear(self, message: str) -> None:
        lines = message.split("\n")
        if lines[0].startswith(">"):
            self._hear_room(lines[0][1:], lines[1:])
            return
        for line in lines:
            words = line.split("|")
            kind = words[1] if len(words) > 1 else ""
            if kind == "popup":
                self.on_refusal(_plain(line[7:]))
            elif kind == "updatesearch":
                found = orjson.loads(line[14:])
                self.on_search(found["searching"], list(found["games"] or {}))
            elif kind == "pm":
                self._hear_pm(to_id_str(words[2]), "|".join(words[4:]))

    def _hear_pm(self, sender: str, text: str) -> None:
        if text.startswith("/error "):  # of what we said to somebody
            self.on_refusal(_plain(text[7:]))
        elif sender == self.user:
            return
        elif text.startswith("/challenge "):
            self.on_challenge(sender, text.split(" ", 1)[1].split("|", 1)[0])
        else:
            self.on_message(sender, text)

    def _hear_room(self, room: str, lines: list[str]) -> None:
        listener = self._rooms.get(room)
        if listener is None and lines[0] == "|init|battle":
            listener = self.on_battle(room)
            if listener is not None:
                self._rooms[room] = listener
        if listener is not None:
            listener.receive(lines)


def _plain(words: str) -> str:
    """What a server says in a popup, as one line of text."""
    text = re.sub(r"^(\|(modal|html)\|)+", "", words)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).replace("||", " ").split())
