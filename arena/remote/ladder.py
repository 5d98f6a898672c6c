"""An agent on an external server: one battle after another, found by ladder search or challenges."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from arena.battles.guard import StepGuard
from arena.remote.series_room import SeriesRoom
from arena.remote.user_battle import Entrant, ServerLimits, UserBattle
from arena.validation import is_loopback
from arena.venue import Rules
from arena.venues.server.client import Client, ServerRefused
from arena.venues.server.messages import format_of, series_format_of
from teamsets.errors import BadInput

#: How often the time limits of a battle are checked, in seconds.
_CHECK_SECONDS = 1.0
#: Messages from a challenged user if there will be no battle; and if the user disconnected or left.
_NO_BATTLE, _CANCELLED = re.compile(r"rejected the challenge.*"), "Challenge cancelled"
_RETRY_SECONDS = 1.0
#: Seconds that Showdown requires between two challenges of a user.
_TOO_SOON, _CHALLENGE_PAUSE = "less than 10 seconds after your last challenge", 10.0


@dataclass(frozen=True)
class Matchmaking:
    """How opponents are found: by a search on the ladder, by challenging `user`, or by accepting challenges."""

    user: str = ""
    accept: bool = False

    @property
    def rated(self) -> bool:
        return not self.user and not self.accept


def server_uri(text: str) -> str:
    """Return the websocket URI of a server given by its address or host: "sim3.psim.us", "localhost:8000"."""
    address = text if "://" in text else f"//{text}"
    with contextlib.suppress(ValueError):
        parts = urlsplit(address)
        host, port, path = parts.hostname, parts.port, parts.path.rstrip("/")
        if host and parts.username is None and parts.scheme in ("", "ws", "wss", "http", "https") and not parts.query:
            here = is_loopback(host)
            secure = parts.scheme in ("wss", "https") or (not parts.scheme and not here)
            name = f"[{host}]" if ":" in host else host
            where = f"{name}:{port}" if port else name
            return f"{'wss' if secure else 'ws'}://{where}{path or '/showdown/websocket'}"
    raise BadInput("--server: not a server address: write e.g. sim3.psim.us or ws://localhost:8000")


class Ladder:
    """Plays an agent's battles on a server, one at a time.

    log: called with lines to print. limits: of the server's answers; None: the defaults.
    """

    def __init__(
        self,
        client: Client,
        matchmaking: Matchmaking,
        guard: StepGuard,
        rules: Rules,
        log: Callable[[str], None],
        limits: ServerLimits | None = None,
    ) -> None:
        self.client, self.matchmaking, self.guard, self.rules, self.log = client, matchmaking, guard, rules, log
        self.limits = limits or ServerLimits()
        self.host = urlsplit(client.uri).netloc
        self.current: UserBattle | None = None
        self.series: SeriesRoom | None = None
        self._entrant: Entrant | None = None
        loop = asyncio.get_running_loop()
        self._stopping: asyncio.Future[None] = loop.create_future()
        self._next_battle: asyncio.Future[UserBattle] = loop.create_future()
        self._rooms: asyncio.Future[list[str]] = loop.create_future()
        self._awaits_rooms = False
        self._confirmed = False
        self._serial = 0
        self._played: set[str] = set()  # rooms of battles
        self._resuming: asyncio.Task[None] | None = None
        client.on_battle = self._on_room
        client.on_search = self._on_search
        client.on_challenge = self._on_challenge
        client.on_message = self._on_private_message
        client.on_refusal = self._on_popup
        client.on_return = self._on_reconnected

    @property
    def stopping(self) -> bool:
        return self._stopping.done()

    def stop(self) -> None:
        """Stop after the battle or series in progress; forfeit it if called a second time, leave it the third time."""
        if not self.stopping:
            self._stopping.set_result(None)
            if self.current is not None or self.series is not None:
                self.log(
                    f"Stopping after this {'battle' if self.series is None else 'series'}. Ctrl-C again forfeits it."
                )
        elif self.current is not None or self.series is not None:
            self.log("Forfeiting.")
            if self.series is not None:
                self.series.forfeit()
            if self.current is not None:
                self.current.give_up("forfeited by Ctrl-C")

    async def enter(self) -> None:
        """Check that the user is not in a battle yet: our choices would be made in it."""
        rooms = await self._running()
        if rooms:
            raise ServerRefused(
                f"{self.client.uri}: user '{self.client.name}' is in a battle already ({rooms[0]}): finish it first"
            )

    async def battle(self, entrant: Entrant) -> UserBattle | None:
        """Find an opponent, and play to the end. Returns None if `stop` was called before one was found.

        It is the first battle of a series if the entrant's is one; `next_game` plays the others.
        Raises ServerRefused with the server's message, ConnectionLost if reconnecting fails.
        """
        self._entrant, self._next_battle = entrant, asyncio.get_running_loop().create_future()
        self.client.use_team(entrant.team.packed)
        self._find_opponent()
        await self._wait_for_any(self._next_battle, self._stopping)
        if not self._next_battle.done():
            await self._withdraw()
        if not self._next_battle.done():
            self._next_battle.cancel()
            return None
        return await self._play()

    async def next_game(self, entrant: Entrant) -> UserBattle | None:
        """Play the next battle of the series in progress to its end. Returns None if it is over, or there is none."""
        series = self.series
        if series is None:
            return None
        self._entrant, self._next_battle = entrant, asyncio.get_running_loop().create_future()
        self._confirmed = True  # nothing is asked of the server that it could refuse
        if not series.over.done():
            series.be_ready()
            await self._wait_for_any(self._next_battle, series.over)
        if not self._next_battle.done():
            self._next_battle.cancel()
            self.client.leave(series.room)
            self.series = None
            return None
        return await self._play()

    async def _play(self) -> UserBattle:
        """Play the battle that has been found to its end."""
        self.current = battle = self._next_battle.result()
        if self.series is not None:
            self.series.begin()
        await self._play_to_end(battle)
        if self.series is not None and battle.over.exception() is None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.series.settled(), self.limits.answer)
        if self.series is None or self.series.over.done():
            await self._wait_for_rating(battle)
        self.current = None
        self.client.leave(battle.room)
        return battle

    async def _play_to_end(self, battle: UserBattle) -> None:
        """Wait for the end of a battle. It ends by its time limits if the server does not end it."""
        while not battle.over.done():
            waited: set[asyncio.Future[Any]] = {battle.over, self.client.lost}
            await asyncio.wait(waited, timeout=_CHECK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if self.client.lost.done():
                battle.on_connection_lost(str(self.client.failure))
            elif self.client.connected:
                battle.check_time()
            else:
                battle.wait_longer()

    async def _wait_for_any(self, *awaited: asyncio.Future[Any]) -> None:
        """Wait until one of these is done. Raises the reason if the connection ends first."""
        waited: set[asyncio.Future[Any]] = {*awaited, self.client.lost}
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if not any(each.done() for each in awaited):
            raise self.client.failure

    def _find_opponent(self) -> None:
        assert self._entrant is not None
        self._confirmed = False
        if self._next_battle.done() or self.stopping or self.matchmaking.accept:
            return
        if self.matchmaking.user:
            self.client.challenge(self.matchmaking.user, self._entrant.server_format)
        else:
            self.client.say(f"/search {self._entrant.server_format}")

    async def _withdraw(self) -> None:
        """Withdraw a search or a challenge. Returns a battle that has started meanwhile."""
        if self.matchmaking.user:
            self.client.say(f"/cancelchallenge {self.matchmaking.user}")
        if await self._running() and not self._next_battle.done():
            await asyncio.wait({self._next_battle}, timeout=self.limits.answer)

    async def _running(self) -> list[str]:
        """Return the rooms of the user's battles. Cancels open searches."""
        self._rooms, self._awaits_rooms = asyncio.get_running_loop().create_future(), True
        self.client.say("/cancelsearch")
        waited: set[asyncio.Future[Any]] = {self._rooms, self.client.lost}
        await asyncio.wait(waited, timeout=self.limits.answer, return_when=asyncio.FIRST_COMPLETED)
        self._awaits_rooms = False
        return self._rooms.result() if self._rooms.done() else []

    async def _wait_for_rating(self, battle: UserBattle) -> None:
        """Wait briefly for our new rating, which the server computes after the end."""
        for _ in range(round(self.limits.rating / 0.1)):
            if not self.matchmaking.rated or battle.rating is not None or battle.over.exception() is not None:
                return
            await asyncio.sleep(0.1)

    # callbacks of the client

    def _on_room(self, room: str) -> UserBattle | SeriesRoom | None:
        """Return the listener of a battle of the user's, or of its series, if it is the one that we are looking for."""
        if self._entrant is not None and series_format_of(room) == self._entrant.server_format and self.series is None:
            self.series = SeriesRoom(self.client, room)
            return self.series
        return self._on_battle(room)

    def _on_battle(self, room: str) -> UserBattle | None:
        if self._entrant is None or self._next_battle.done() or format_of(room) != self._entrant.server_format:
            return None
        if room in self._played:  # the server lists a battle of a series for a while after its end
            return None
        self._played.add(room)
        self._serial += 1
        battle = UserBattle(
            self.client, room, self._entrant, self.guard, self.rules, self._serial, self.host, self.limits
        )
        self._next_battle.set_result(battle)
        return battle

    def _on_search(self, formats: list[str], rooms: list[str]) -> None:
        if self._entrant is not None and self._entrant.server_format in formats:
            self._confirmed = True
        elif not formats and not self._rooms.done():
            self._rooms.set_result(rooms)

    def _on_challenge(self, user: str, format_id: str) -> None:
        if not self.matchmaking.accept or self._entrant is None or self._next_battle.done() or self.stopping:
            return
        if format_id == self._entrant.server_format:
            self.client.accept(user)
        else:
            self.client.say(f"/reject {user}")

    def _on_private_message(self, user: str, text: str) -> None:
        if user != self.matchmaking.user or self._next_battle.done():
            return
        no = _NO_BATTLE.search(text)
        if no is not None:
            self._next_battle.set_exception(ServerRefused(f"{self.client.uri}: challenge to {user}: {no[0]}"))
        elif _CANCELLED in text:
            asyncio.get_running_loop().call_later(_RETRY_SECONDS, self._find_opponent)

    def _on_popup(self, text: str) -> None:
        """Handle a popup. Until our search or challenge has led to a battle, it is the answer to that."""
        if self._entrant is None or self._next_battle.done() or self._confirmed or self.stopping:
            self.log(f"Message from the server: {text}")
        elif _TOO_SOON in text:
            asyncio.get_running_loop().call_later(_CHALLENGE_PAUSE, self._find_opponent)
        elif "is not challenging you" not in text:  # the challenge was withdrawn
            self._next_battle.set_exception(ServerRefused(f"{self.client.uri}: the server refused: {text}"))

    def _on_reconnected(self) -> None:
        """Handle a reconnection."""
        if self._awaits_rooms:
            self.client.say("/cancelsearch")
        if self.current is not None:
            self.current.on_reconnected()
        elif self._entrant is not None and not self._next_battle.done():
            self._resuming = asyncio.ensure_future(self._resume())

    async def _resume(self) -> None:
        """Continue to look for an opponent, or join the battle and the series that have begun meanwhile."""
        for room in await self._running():
            listener = self._on_room(room)
            if listener is not None:
                self.client.join(room, listener)
        if self._next_battle.done() or self.series is not None:
            return
        assert self._entrant is not None
        self.client.use_team(self._entrant.team.packed)
        self._find_opponent()
