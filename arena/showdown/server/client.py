"""A user on a Showdown server: one websocket, signed in, throttled, connected again when it breaks."""

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
from websockets.exceptions import WebSocketException

from arena.showdown.table import VenueFailed

#: Showdown gives up a user's battle after a minute or so without him.
_RECONNECT_SECONDS = 60.0
_SIGN_IN_SECONDS = 60.0

# websockets notes every connection that breaks; here that is handled, and the server's log has it.
_SILENT = logging.getLogger("arena.client")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False


class ConnectionLost(VenueFailed):
    """The server could not be reached, again and again, or refused the user."""


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


class Client:
    """A signed-in user. Make it with `Client.connect()`; use it as an async context manager.

    user: its id on the server. on_battle: makes the listener of a battle that begins (room id -> Room). on_challenge:
    told (user, format) of a challenge by another. on_refusal: told the words of every popup. on_return: called when the
    connection had broken and stands again. lost: set to the reason when it cannot be mended.
    """

    def __init__(self, uri: str, name: str, pace: Pace | None = None) -> None:
        self.uri, self.name, self.user = uri, name, to_id_str(name)
        self.on_battle: Callable[[str], Room | None] = lambda room: None
        self.on_challenge: Callable[[str, str], None] = lambda user, format_id: None
        self.on_refusal: Callable[[str], None] = lambda words: None
        self.on_return: Callable[[], None] = lambda: None
        self.lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._rooms: dict[str, Room] = {}
        self._throttler = None if pace is None else Throttler(pace.messages, pace.seconds)
        self._outgoing: asyncio.Queue[str] = asyncio.Queue()
        self._signed_in = asyncio.Event()
        self._socket: ClientConnection | None = None
        self._task = asyncio.ensure_future(self._stay())

    @classmethod
    async def connect(cls, uri: str, name: str, *, pace: Pace | None = None) -> Client:
        """Connects and signs in, with no password. pace: None for a server without limits. Raises ConnectionLost."""
        client = cls(uri, name, pace)
        waiting = asyncio.ensure_future(client._signed_in.wait())
        try:
            await asyncio.wait({waiting, client._task}, return_when=asyncio.FIRST_COMPLETED)
        except BaseException:
            await client.close()
            raise
        finally:
            waiting.cancel()
        if client.lost.done():
            raise ConnectionLost(client.lost.result())
        return client

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
        while loop.time() - broken_since < _RECONNECT_SECONDS:
            try:
                # No pings: an agent that thinks long holds the loop, and would pass for a broken connection.
                async with connect(self.uri, max_size=None, ping_interval=None, logger=_SILENT) as socket:
                    await self._talk(socket)
                why = "the server closed the connection"
            except ConnectionLost as error:
                self.lost.set_result(str(error))
                return
            except (OSError, TimeoutError, WebSocketException) as error:
                why = str(error) or type(error).__name__
            if self._signed_in.is_set():
                self._signed_in.clear()
                broken_since, pause = loop.time(), 0.05
            await asyncio.sleep(pause)
            pause = min(2 * pause, 2.0)
        self.lost.set_result(f"{self.uri}: no connection for {_RECONNECT_SECONDS:g} s: {why}")

    async def _talk(self, socket: ClientConnection) -> None:
        """One connection, from its beginning to its end."""
        async with asyncio.timeout(_SIGN_IN_SECONDS):
            await self._sign_in(socket)
        while not self._outgoing.empty():
            self._outgoing.get_nowait()
        again = self._socket is not None
        self._socket = socket
        self._signed_in.set()
        if again:
            for room in self._rooms:
                self.say(f"/join {room}")
            self.on_return()
        sending = asyncio.ensure_future(self._send(socket))
        try:
            async for message in socket:
                assert isinstance(message, str)
                self._hear(message)
        finally:
            sending.cancel()

    async def _sign_in(self, socket: ClientConnection) -> None:
        await self._speak(socket, f"|/trn {self.name},0,")
        while True:
            message = await socket.recv()
            assert isinstance(message, str)
            for line in message.split("\n"):
                words = line.split("|")
                if line.startswith("|nametaken|"):
                    raise ConnectionLost(f"{self.uri}: user name '{self.name}' was refused: {words[-1]}")
                if line.startswith("|updateuser|") and words[3] == "1" and to_id_str(words[2]) == self.user:
                    return

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
                self.on_refusal(line[7:].replace("||", " ").strip())
            elif kind == "pm" and words[4].startswith("/challenge ") and to_id_str(words[2]) != self.user:
                self.on_challenge(to_id_str(words[2]), words[4].split(" ", 1)[1])

    def _hear_room(self, room: str, lines: list[str]) -> None:
        listener = self._rooms.get(room)
        if listener is None and lines[0] == "|init|battle":
            listener = self.on_battle(room)
            if listener is not None:
                self._rooms[room] = listener
        if listener is not None:
            listener.receive(lines)
