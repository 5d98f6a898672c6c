"""The server venue: fixtures played over websockets on a local Showdown server. Records equal the simulator's."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

from agents.external import ProgramAgent
from arena.battles.guard import StepGuard
from arena.battles.session import SeatIsolation, source_of
from arena.fixture import SEATS, Fixture
from arena.record import BattleRecord
from arena.venue import Rules
from arena.venues.server.battle import ServedBattle
from arena.venues.server.client import Client
from arena.venues.server.local import LocalServer, ServerDied
from arena.venues.server.programs import Programs
from arena.venues.server.remote_player import RemotePlayer

#: Numbers for user names. Per process: users of an earlier venue on the same server may still be online.
_numbers = itertools.count(1)


class ServerVenue:
    """Plays fixtures on a server, many concurrently.

    Each local seat uses a user that is signed in once and reused. An external program is started for each of its battles
    (arena/venues/server), and signs in under a new name. isolation: see `BattleSession`.
    """

    def __init__(
        self, server: LocalServer, guard: StepGuard, rules: Rules, isolation: SeatIsolation | None = None
    ) -> None:
        self.server, self.guard, self.rules, self.isolation = server, guard, rules, isolation
        self._idle: list[Client] = []
        self._leaving: set[asyncio.Task[None]] = set()  # programs whose battles are over

    async def play(self, fixture: Fixture, serial: int) -> BattleRecord:
        """Play one fixture to its end, whatever the agents do.

        serial: the fixture's number, which the guard shares with other processes. Raises ServerDied, ConnectionLost or
        SimulatorCrashed if the venue, not an agent, failed.
        """
        programs = _programs(fixture)
        clients = {role: await self._client() for role in SEATS if role not in programs}
        remote_players = {role: self._remote_player(agent) for role, agent in programs.items()}
        battle = ServedBattle(
            self.server,
            self.guard,
            self.rules,
            fixture,
            serial,
            clients=clients,
            remote_players=remote_players,
            isolation=self.isolation,
        )
        try:
            if programs:
                async with Programs(battle, programs, self._leaving) as running:
                    record = await battle.play(running.pair_players)
            else:
                record = await battle.play(battle.challenge)
        except BaseException:
            for client in clients.values():  # they may still be in this battle
                await client.close()
            raise
        finally:
            battle.clean_up()
        self._idle += clients.values()
        return record

    @property
    def gone(self) -> bool:
        return self.server.dead.done()

    def end(self) -> None:
        self.server.end_input()

    async def close(self) -> None:
        """Sign off all users, and end all programs."""
        for client in self._idle:
            await client.close()
        self._idle.clear()
        for task in self._leaving:
            task.cancel()
        await asyncio.gather(*self._leaving, return_exceptions=True)

    async def __aenter__(self) -> ServerVenue:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _remote_player(self, agent: ProgramAgent) -> RemotePlayer:
        # All names have the same length: foul-play removes its own name from the title to find its opponent's.
        user = f"visitor{next(_numbers):07d}"
        return RemotePlayer(user, patience=self.rules.think_limit + agent.allowance, join_limit=agent.start_limit)

    async def _client(self) -> Client:
        while self._idle:
            client = self._idle.pop()
            if not client.lost.done():
                return client
        connecting = asyncio.ensure_future(Client.connect(self.server.uri, f"arena{next(_numbers)}"))
        waited_for: set[asyncio.Future[Any]] = {connecting, self.server.dead}
        try:
            await asyncio.wait(waited_for, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not connecting.done():
                connecting.cancel()
        if self.server.dead.done():
            raise ServerDied(self.server.dead.result())
        return connecting.result()


def _programs(fixture: Fixture) -> dict[str, ProgramAgent]:
    """Return role -> the external program that plays it."""
    seats = zip(SEATS, fixture.agents, fixture.external_seats, strict=True)
    made = {role: source_of(spec).make() for role, spec, is_external in seats if is_external}
    return {role: agent for role, agent in made.items() if isinstance(agent, ProgramAgent)}
