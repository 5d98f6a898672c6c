"""The server venue: fixtures played over websockets on a Showdown server of our own, with the same records as ever."""

from __future__ import annotations

import asyncio
import functools
import itertools
from typing import Any

import orjson

from arena.fixture import SEATS, Fixture
from arena.record import BattleRecord
from arena.showdown.guard import StepGuard
from arena.showdown.seat import Fault
from arena.showdown.server.client import Client
from arena.showdown.server.local import LocalServer, Message, ServerDied
from arena.showdown.server.room import BattleRoom, Hooks
from arena.showdown.simulator import Rules, SimulatorCrashed
from arena.showdown.table import Table, player_options

#: A battle in which nobody thinks and nothing is heard for so long hangs.
_SILENCE_SECONDS = 60.0
_LOOK_SECONDS = 2.0


class ServerVenue:
    """Plays fixtures between our own agents on a server. Many at once: `play` returns when its battle is over.

    Each battle takes two users, which are signed in once and used again.
    """

    def __init__(self, server: LocalServer, guard: StepGuard, rules: Rules) -> None:
        self.server, self.guard, self.rules = server, guard, rules
        self._idle: list[Client] = []
        self._numbers = itertools.count(1)

    async def play(self, fixture: Fixture, serial: int) -> BattleRecord:
        """Plays one fixture to its end, whatever the agents do.

        serial: a number for this fixture that the guard shows to other processes. Raises ServerDied, ConnectionLost or
        SimulatorCrashed when the venue, and no agent, failed.
        """
        clients = {role: await self._client() for role in SEATS}
        table = _Table(self, fixture, serial, clients)
        try:
            record = await table.play()
        except BaseException:
            for client in clients.values():  # they may still be in that battle
                await client.close()
            raise
        self._idle += clients.values()
        return record

    @property
    def gone(self) -> bool:
        return self.server.dead.done()

    def end(self) -> None:
        self.server.end_input()

    async def close(self) -> None:
        """Signs all users off."""
        for client in self._idle:
            await client.close()
        self._idle.clear()

    async def __aenter__(self) -> ServerVenue:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _client(self) -> Client:
        while self._idle:
            client = self._idle.pop()
            if not client.lost.done():
                return client
        connecting = asyncio.ensure_future(Client.connect(self.server.uri, f"arena{next(self._numbers)}"))
        waited_for: set[asyncio.Future[Any]] = {connecting, self.server.dead}
        try:
            await asyncio.wait(waited_for, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not connecting.done():
                connecting.cancel()
        if self.server.dead.done():
            raise ServerDied(self.server.dead.result())
        return connecting.result()


class _Table(Table):
    """One battle on the server: two users, a room for each seat, and what the server's launcher says of it."""

    def __init__(self, venue: ServerVenue, fixture: Fixture, serial: int, clients: dict[str, Client]) -> None:
        super().__init__(
            fixture,
            venue.guard,
            serial,
            tag=f"battle-{fixture.format}-{serial}",
            think_limit=venue.rules.think_limit,
        )
        self.server, self.rules, self.clients = venue.server, venue.rules, clients
        self.over: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.ending: dict[str, Any] | None = None
        self.room = ""
        self._begun = False
        self.rooms = {role: self._battle_room(role) for role in SEATS}

    def _battle_room(self, role: str) -> BattleRoom:
        hooks = Hooks(
            say=lambda text: self.clients[role].say(text, self.room),
            failed=lambda fault: self.lose(role, fault),
            ended=self._look_whether_over,
            broke=self.break_off,
        )
        return BattleRoom(self.seats[role], self.rules.max_turns, hooks)

    async def play(self) -> BattleRecord:
        """Brings the two users together and waits for the end."""
        options = player_options(self.fixture)
        order = {
            "format": self.fixture.format,
            "seed": self.fixture.seed,
            "maxTurns": self.rules.max_turns,
            "players": [{**options[role], "user": self.clients[role].user} for role in SEATS],
        }
        number = await self.server.expect(order, self._hear)
        watch = asyncio.ensure_future(self._watch())
        try:
            self._listen()
            self._meet()
            end = await self.over
        finally:
            watch.cancel()
            for role, client in self.clients.items():
                self.rooms[role].silence()
                client.on_battle = lambda room: None
                client.on_return = lambda: None
                client.leave(self.room)
            self.server.forget(number)
        return self.record({**end, "inputLog": _as_simulated(end["inputLog"])})

    def lose(self, role: str, fault: Fault) -> None:
        """The seat has failed: it loses. Only the first fault counts."""
        if self.fault is None:
            self.fault = (role, fault)
            for room in self.rooms.values():
                room.silence()
            self.clients[role].say("/forfeit", self.room)

    def break_off(self, error: Exception) -> None:
        """The venue has failed: nobody's loss."""
        if not self.over.done():
            self.over.set_exception(error)

    def _listen(self) -> None:
        first, second = (self.clients[role] for role in SEATS)
        for role, client in self.clients.items():
            client.on_battle = functools.partial(self._begin, role)
            client.on_refusal = self._refused
            client.on_return = functools.partial(self._back, role)
        second.on_challenge = lambda user, format_id: second.accept(user) if user == first.user else None

    def _meet(self) -> None:
        """p1 challenges, p2 accepts. The launcher sees to it that the battle is the one of the fixture."""
        for role, client in self.clients.items():
            client.use_team(self.fixture.teams[SEATS.index(role)].packed)
        first, second = (self.clients[role] for role in SEATS)
        first.challenge(second.user, self.fixture.format)

    def _begin(self, role: str, room: str) -> BattleRoom:
        begins, self.room = not self._begun, room
        self._begun = True
        if begins:
            for loser, fault in self.faults.items():
                self.lose(loser, fault)
        return self.rooms[role]

    def _back(self, role: str) -> None:
        """The connection of a seat had been broken: what was said meanwhile, and perhaps just before, is lost."""
        client = self.clients[role]
        if not self.room:
            client.say("/cancelchallenge")
            self._meet()
            return
        client.join(self.room, self.rooms[role])
        if self.fault is not None and self.fault[0] == role:
            client.say("/forfeit", self.room)

    def _refused(self, words: str) -> None:
        if not self.room and ("rejected" in words or "invalid" in words):
            self.break_off(SimulatorCrashed(f"{self.fixture.format}: the server refused the battle: {words}"))

    def _hear(self, message: Message) -> None:
        """What the launcher says of this battle."""
        if "room" in message:
            self.room = message["room"]
        elif "end" in message:
            self.ending = message["end"]
            self._look_whether_over()
        elif "crash" in message:
            self.break_off(SimulatorCrashed(f"{self.fixture.format}, seed {self.fixture.seed}: {message['crash']}"))
        elif "died" in message:
            self.break_off(ServerDied(message["died"]))

    def _look_whether_over(self) -> None:
        """Over is what has ended for both seats and for the launcher, whichever hears of it first."""
        if self.ending is not None and all(room.over for room in self.rooms.values()) and not self.over.done():
            self.over.set_result(self.ending)

    async def _watch(self) -> None:
        """Gives the battle up when a connection is lost for good, or when it hangs."""
        silent, heard = 0, -1
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            for client in self.clients.values():
                if client.lost.done():
                    self.break_off(ServerDied(client.lost.result()))
            now = sum(len(seat.log) + len(seat.decisions) for seat in self.seats.values())
            # Looks are counted, not seconds: an agent that holds the loop for long delays the looks as well.
            silent = silent + 1 if now == heard else 0
            heard = now
            if silent * _LOOK_SECONDS > _SILENCE_SECONDS + self.rules.think_limit:
                self.break_off(ServerDied(f"{self.server.uri}: nothing was heard in {self.room or 'no room'}"))


def _as_simulated(input_log: list[str]) -> list[str]:
    """A server's input log as the simulator would have kept it: users are the seats, nothing of avatars and chat."""
    kept: list[str] = []
    for line in input_log:
        if line.startswith((">version", ">chat")):
            continue
        if line.startswith(">player "):
            role = line[8:10]
            said = orjson.loads(line[11:])
            player = {key: role if key == "name" else said[key] for key in ("name", "team", "seed") if key in said}
            line = f">player {role} {orjson.dumps(player).decode()}"
        kept.append(line)
    return kept
