"""One of our agents on a server of other people's: battle after battle, found by a search or by challenges."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from arena.ladder.user_battle import Ours, UserBattle
from arena.protocol.client import Client, ServerRefused
from arena.simulator.guard import StepGuard
from arena.venue import Rules
from teamsets.errors import BadInput

#: How long the server may take to say which battles we are in, and to end one that we forfeit.
_ANSWER_SECONDS = 10.0
#: How long after a rated battle the new rating is waited for.
_RATING_SECONDS = 3.0
#: What comes from a challenged user when there will be no battle; and when his connection broke, or he went.
_NO_BATTLE, _CANCELLED = re.compile(r"rejected the challenge.*"), "Challenge cancelled"
_AGAIN_SECONDS = 1.0
#: Showdown wants so many seconds between two challenges of a user.
_TOO_SOON, _CHALLENGE_PAUSE = "less than 10 seconds after your last challenge", 10.0


@dataclass(frozen=True)
class Way:
    """How opponents are found: by a search on the ladder, by challenging `user`, or by accepting who challenges us."""

    user: str = ""
    accept: bool = False

    @property
    def rated(self) -> bool:
        return not self.user and not self.accept


def server_uri(text: str) -> str:
    """The websocket of a server that is named by its address or by its host: "sim3.psim.us", "localhost:8000"."""
    address = text if "://" in text else f"//{text}"
    with contextlib.suppress(ValueError):
        parts = urlsplit(address)
        host, port, path = parts.hostname, parts.port, parts.path.rstrip("/")
        if host and parts.username is None and parts.scheme in ("", "ws", "wss", "http", "https") and not parts.query:
            here = host in ("localhost", "127.0.0.1", "::1")
            secure = parts.scheme in ("wss", "https") or (not parts.scheme and not here)
            name = f"[{host}]" if ":" in host else host
            where = f"{name}:{port}" if port else name
            return f"{'wss' if secure else 'ws'}://{where}{path or '/showdown/websocket'}"
    raise BadInput("--server: not a server address: write e.g. sim3.psim.us or ws://localhost:8000")


class Ladder:
    """An agent's way from battle to battle; one at a time.

    tell: gets a line for people whenever there is something to say.
    """

    def __init__(
        self,
        client: Client,
        way: Way,
        guard: StepGuard,
        rules: Rules,
        tell: Callable[[str], None],
    ) -> None:
        self.client, self.way, self.guard, self.rules, self.tell = client, way, guard, rules, tell
        self.host = urlsplit(client.uri).netloc
        self.current: UserBattle | None = None
        self._ours: Ours | None = None
        loop = asyncio.get_running_loop()
        self._stopping: asyncio.Future[None] = loop.create_future()
        self._found: asyncio.Future[UserBattle] = loop.create_future()
        self._rooms: asyncio.Future[list[str]] = loop.create_future()
        self._confirmed = False
        self._serial = 0
        self._resuming: asyncio.Task[None] | None = None
        client.on_battle = self._begin
        client.on_search = self._searching
        client.on_challenge = self._challenged
        client.on_message = self._answered
        client.on_refusal = self._refused
        client.on_return = self._back

    @property
    def stopping(self) -> bool:
        return self._stopping.done()

    def stop(self) -> None:
        """The first time: no more battles, the one under way is finished. The second time that one is forfeited."""
        if not self.stopping:
            self._stopping.set_result(None)
            if self.current is not None:
                self.tell("Stopping after this battle. Ctrl-C again forfeits it.")
        elif self.current is not None:
            self.tell("Forfeiting.")
            self.current.give_up("forfeited by Ctrl-C")

    async def enter(self) -> None:
        """Makes sure that nobody plays under this name at the moment: our moves would be made in that battle."""
        rooms = await self._running()
        if rooms:
            raise ServerRefused(
                f"{self.client.uri}: user '{self.client.name}' is in a battle already ({rooms[0]}): finish it first"
            )

    async def battle(self, ours: Ours) -> UserBattle | None:
        """Finds an opponent and plays to the end. None when `stop` was called before there was one.

        Raises ServerRefused in the server's words, ConnectionLost when there is no way back to it.
        """
        self._ours, self._found = ours, asyncio.get_running_loop().create_future()
        self.client.use_team(ours.team.packed)
        self._seek()
        await self._one_of(self._found, self._stopping)
        if not self._found.done():
            await self._withdraw()
        if not self._found.done():
            self._found.cancel()
            return None
        self.current = battle = self._found.result()
        await self._one_of(battle.over)
        if battle.stopped and not battle.over.done():
            await asyncio.wait({battle.over}, timeout=_ANSWER_SECONDS)
        await self._rating(battle)
        self.current = None
        self.client.leave(battle.room)
        return battle

    async def _one_of(self, *awaited: asyncio.Future[Any]) -> None:
        """Until one of these is done. Raises what ended the connection, if that comes first."""
        waited: set[asyncio.Future[Any]] = {*awaited, self.client.lost}
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if not any(each.done() for each in awaited):
            if self.current is not None:
                self.current.lost(str(self.client.failure))
                return
            raise self.client.failure

    def _seek(self) -> None:
        assert self._ours is not None
        self._confirmed = False
        if self._found.done() or self.stopping or self.way.accept:
            return
        if self.way.user:
            self.client.challenge(self.way.user, self._ours.format)
        else:
            self.client.say(f"/search {self._ours.format}")

    async def _withdraw(self) -> None:
        """Takes back a search or a challenge. A battle that has begun in the meantime is found."""
        if self.way.user:
            self.client.say(f"/cancelchallenge {self.way.user}")
        if await self._running() and not self._found.done():
            await asyncio.wait({self._found}, timeout=_ANSWER_SECONDS)

    async def _running(self) -> list[str]:
        """The rooms of the battles that the user is in. What is searched for is searched for no longer."""
        self._rooms = asyncio.get_running_loop().create_future()
        self.client.say("/cancelsearch")
        waited: set[asyncio.Future[Any]] = {self._rooms, self.client.lost}
        await asyncio.wait(waited, timeout=_ANSWER_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        return self._rooms.result() if self._rooms.done() else []

    async def _rating(self, battle: UserBattle) -> None:
        """Waits a little for our new rating, which the server works out after the end."""
        for _ in range(round(_RATING_SECONDS / 0.1)):
            if not self.way.rated or battle.rating is not None or battle.over.exception() is not None:
                return
            await asyncio.sleep(0.1)

    # what the client tells

    def _begin(self, room: str) -> UserBattle | None:
        """A battle of the user's: ours, if it is the one that we are looking for."""
        if self._ours is None or self._found.done() or room.split("-")[1] != self._ours.format:
            return None
        self._serial += 1
        battle = UserBattle(self.client, room, self._ours, self.guard, self.rules, self._serial, self.host)
        self._found.set_result(battle)
        return battle

    def _searching(self, formats: list[str], rooms: list[str]) -> None:
        if self._ours is not None and self._ours.format in formats:
            self._confirmed = True
        elif not formats and not self._rooms.done():
            self._rooms.set_result(rooms)

    def _challenged(self, user: str, format_id: str) -> None:
        if not self.way.accept or self._ours is None or self._found.done() or self.stopping:
            return
        if format_id == self._ours.format:
            self.client.accept(user)
        else:
            self.client.say(f"/reject {user}")

    def _answered(self, user: str, text: str) -> None:
        if user != self.way.user or self._found.done():
            return
        no = _NO_BATTLE.search(text)
        if no is not None:
            self._found.set_exception(ServerRefused(f"{self.client.uri}: challenge to {user}: {no[0]}"))
        elif _CANCELLED in text:
            asyncio.get_running_loop().call_later(_AGAIN_SECONDS, self._seek)

    def _refused(self, words: str) -> None:
        """A popup. While nothing has come of our search or challenge yet, it is the answer to that."""
        if self._ours is None or self._found.done() or self._confirmed or self.stopping:
            self.tell(f"Message from the server: {words}")
        elif _TOO_SOON in words:
            asyncio.get_running_loop().call_later(_CHALLENGE_PAUSE, self._seek)
        elif "is not challenging you" not in words:  # he has taken it back
            self._found.set_exception(ServerRefused(f"{self.client.uri}: the server refused: {words}"))

    def _back(self) -> None:
        """The connection had been broken."""
        if self.current is not None:
            self.current.back()
        elif self._ours is not None and not self._found.done():
            self._resuming = asyncio.ensure_future(self._resume())

    async def _resume(self) -> None:
        """Goes on looking for an opponent, or joins the battle that has begun while we were away."""
        for room in await self._running():
            battle = self._begin(room)
            if battle is not None:
                self.client.join(room, battle)
                return
        assert self._ours is not None
        self.client.use_team(self._ours.team.packed)
        self._seek()
