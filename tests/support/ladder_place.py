"""A Showdown server that is not the arena's, and agents that play there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from agents import resolve
from arena.battles.guard import StepGuard
from arena.fixture import FixtureTeam
from arena.remote.ladder import Ladder, Matchmaking
from arena.remote.user_battle import UNSEEN, Entrant, ServerLimits
from arena.venue import Rules
from arena.venues.server.client import Client
from arena.venues.server.local import LocalServer
from teamsets.loading import load_set

DRAWN = "gen1randombattle"
PATIENT = Rules(think_limit=60.0)


class Place:
    """A server of other people's, on an event loop of its own: its first battle of a format takes seconds."""

    def __init__(self) -> None:
        self.runner = asyncio.Runner()
        self.server = self.runner.run(LocalServer.launch())
        self.host = f"127.0.0.1:{self.server.port}"

    def close(self) -> None:
        self.runner.run(self.server.close())
        self.runner.close()

    def run(self, what: Callable[[], Awaitable[Any]]) -> Any:
        async def limited() -> Any:
            return await asyncio.wait_for(what(), 120)

        return self.runner.run(limited())


def entrant(spec: str, number: int = 1, *, format_id: str = DRAWN, team: FixtureTeam = UNSEEN) -> Entrant:
    source = resolve(spec)
    return Entrant(source.spec, source.make, format_id, team, "drawn", f"unseen {spec}/{number}")


def team_of(format_id: str) -> FixtureTeam:
    team = load_set("competitive", format_id).teams[0]
    return FixtureTeam(team.id, team.name, packed=team.packed)


def ladder(
    client: Client,
    matchmaking: Matchmaking | None = None,
    said: list[str] | None = None,
    limits: ServerLimits | None = None,
) -> Ladder:
    log = (said if said is not None else []).append
    return Ladder(client, matchmaking or Matchmaking(), StepGuard(), PATIENT, log, limits)


async def until_begun(one: Ladder) -> None:
    for _ in range(6000):
        if one.current is not None and one.current.begun:
            return
        await asyncio.sleep(0.02)
    raise AssertionError("no battle has begun")
