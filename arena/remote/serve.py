"""`arena serve`: a local server on which people and programs play against the pool; every battle is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from arena.battles.guard import StepGuard
from arena.fixture import FixtureTeam
from arena.ratings.evidence import default_anchor
from arena.record import BattleRecord
from arena.remote.lobby import Limits, Lobby
from arena.run.entrants import check_available, check_ours, load_pools, resolve_each, stored_pools
from arena.run.lifecycle import new_run, run_lifecycle
from arena.store import FINISHED, Store
from arena.validation import Settings, Texts
from arena.venue import Rules
from arena.venues.server.local import LocalServer, ServerDied


class ServeSettings(Settings):
    """Settings of `arena serve`. patience: a visitor's seconds for one decision. battles: after so many it ends; None:
    when it is stopped. port: 0 for any that is free. limits: on what visitors may have open."""

    agents: Texts
    formats: Texts
    team_set: str
    address: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 0
    patience: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 150.0
    battles: Annotated[int | None, Field(ge=1)] = None
    limits: Limits = Limits()
    rules: Rules = Rules()


@dataclass(frozen=True)
class ServeRun:
    """A run that is ready to be opened. pools: format -> teams of our agents; none where Showdown draws them."""

    run_id: str
    settings: ServeSettings
    pools: dict[str, tuple[FixtureTeam, ...]]


def prepare(store: Store, settings: ServeSettings) -> ServeRun:
    """Check the settings, load the teams, and record the run in the store. Raises BadInput that names the problem.

    Battles that its agents played with each other in earlier runs count for its ratings, so that visitors are rated on
    the same scale.
    """
    sources = resolve_each(settings.agents)
    specs = tuple(source.spec for source in sources)
    check_ours(sources, "serve")
    check_available(sources, settings.formats)
    pools, _ = load_pools(settings.formats, (settings.team_set,))
    config = {
        **settings.model_dump(),
        "agents": specs,
        "team_sets": list(dict.fromkeys(team_set for _, team_set in pools)),
        "anchor": default_anchor(specs),
        "pools": stored_pools(pools),
    }
    with new_run(store, "serve", config, sources, pools) as run_id:
        store.reuse_battles(run_id)
        return ServeRun(run_id, settings, {format_id: teams for (format_id, _), teams in pools.items()})


async def serve(
    run: ServeRun,
    store: Store,
    *,
    log: Callable[[str], None],
    on_open: Callable[[LocalServer, Lobby], None],
    show: Callable[[Lobby], None],
    on_battle: Callable[[BattleRecord], None],
) -> bool:
    """Run the server until it is stopped; return True if all battles were finished.

    on_open(server, lobby) is called when visitors may come, show(lobby) four times a second, on_battle(record) after each
    battle, once it is kept. The first Ctrl-C (SIGTERM) stops new battles, the second one aborts those in progress.
    Raises ServerDied; finished battles are stored.
    """
    settings = run.settings
    stopping, dropping = asyncio.Event(), asyncio.Event()
    played = 0

    def stop() -> None:
        (dropping if stopping.is_set() else stopping).set()

    async with run_lifecycle(store, run.run_id) as lifecycle:

        def keep(record: BattleRecord) -> None:
            nonlocal played
            lifecycle.keep(record)
            fixture = record.fixture
            lifecycle.keep_teams(fixture.format, fixture.team_set, (team for team in fixture.teams if team.packed))
            played += 1
            on_battle(record)
            if settings.battles is not None and played >= settings.battles:
                stopping.set()

        async with await LocalServer.launch(address=settings.address, port=settings.port) as server:
            lobby = Lobby(
                server,
                StepGuard(),
                settings.rules,
                run.pools,
                settings.team_set,
                run.run_id,
                patience=settings.patience,
                keep=keep,
                log=log,
                limits=settings.limits,
            )
            lifecycle.stop_with(stop)
            try:
                await lobby.open(settings.agents)
                on_open(server, lobby)
                lifecycle.repeat(0.25, lambda: show(lobby))
                await _first(server, lobby, stopping)
                lobby.closing = True
                if not lobby.idle.is_set():
                    log(
                        f"No new battles are started. Waiting for {len(lobby.in_progress)} in progress; Ctrl-C again aborts "
                        "them."
                    )
                await _first(server, lobby, lobby.idle, dropping)
                if lobby.idle.is_set():
                    lifecycle.status = FINISHED
            finally:
                await lobby.close()
    return lifecycle.status == FINISHED


async def _first(server: LocalServer, lobby: Lobby, *events: asyncio.Event) -> None:
    """Wait until one of the events is set. Raises ServerDied, and errors of the lobby."""
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    ends: list[asyncio.Future[Any]] = [*waiting, server.dead, lobby.failed]
    try:
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waiting:
            each.cancel()
    if lobby.failed.done():
        lobby.failed.result()
    if server.dead.done():
        raise ServerDied(server.dead.result())
