"""`arena ladder`: an agent plays on another Showdown server; every battle is stored."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field

from agents import Agent, AgentSource, resolve
from arena.battles.guard import StepGuard
from arena.battles.seat import Fault, make_agent
from arena.battles.session import prepared_agent
from arena.fixture import FixtureTeam
from arena.record import BattleRecord
from arena.remote.ladder import Ladder, Matchmaking
from arena.remote.servers import with_page
from arena.remote.user_battle import UNSEEN, Entrant, UserBattle
from arena.run.entrants import check_available, check_ours, load_pools, stored_pools
from arena.run.lifecycle import new_run, run_lifecycle
from arena.store import FINISHED, Store
from arena.validation import Settings
from arena.venue import Rules
from arena.venues.server.client import Client, RateLimit
from arena.venues.server.login import Account
from teamsets.errors import BadInput
from teamsets.formats import series_format

#: Seconds in which the first connection must succeed: a mistyped address should fail soon.
_PATIENCE = 20.0


class LadderSettings(Settings):
    """Settings of `arena ladder`. server: its websocket. challenge: a user to challenge; accept: wait for challenges instead
    of searching the ladder. user_page: of the user's ratings, with {user}. best_of: of the series that are played, which
    `battles` counts then; format: of their battles.
    The account is not part of the settings, so it is not stored."""

    server: str
    agent: str
    format: str
    team_set: str
    battles: Annotated[int, Field(ge=1)]
    best_of: Annotated[int, Field(ge=1)] = 1
    challenge: str = ""
    accept: bool = False
    user_page: str = ""
    rules: Rules = Rules()


@dataclass(frozen=True)
class LadderRun:
    """A run that is ready to be played. teams: to draw from; none where the server draws them."""

    run_id: str
    settings: LadderSettings
    source: AgentSource
    team_set: str
    teams: tuple[FixtureTeam, ...]

    def entrant(self, number: int, game: int = 1) -> Entrant:
        """Return our side of the battle of that number, or of a battle of the series of that number."""
        seed = f"{self.run_id}/{number}"
        team = random.Random(seed).choice(self.teams) if self.teams else UNSEEN
        make = _prepared(self.source, self.settings.format)
        return Entrant(
            self.source.spec,
            make,
            self.settings.format,
            team,
            self.team_set,
            f"unseen {seed}" if game == 1 else f"unseen {seed}/{game}",
            self.settings.best_of,
            game,
            series_seed=f"unseen {seed}",
        )


def _prepared(source: AgentSource, format_id: str) -> Callable[[], Agent]:
    """How to create an agent that has prepared for the format: its first decision is timed."""
    return functools.partial(prepared_agent, lambda spec: source.make(), source.spec, format_id)


def prepare(store: Store, settings: LadderSettings) -> LadderRun:
    """Check the settings, load the teams, and record the run in the store. Raises BadInput that names the problem."""
    source = resolve(settings.agent)
    check_ours([source], "ladder")
    check_available([source], (settings.format,))
    pools, _ = load_pools((settings.format,), (settings.team_set,))
    (((format_id, team_set), teams),) = pools.items()
    try:
        make_agent(StepGuard(), 0, _prepared(source, settings.format))
    except Fault as fault:
        raise BadInput(f"agent '{source.spec}': cannot be created, and would forfeit every battle: {fault}") from None
    config = {
        **settings.model_dump(),
        "agents": [source.spec],
        "formats": [format_id],
        "team_sets": [team_set],
        "pools": stored_pools(pools),
    }
    with new_run(store, "ladder", config, [source], pools) as run_id:
        return LadderRun(run_id, settings, source, team_set, teams)


async def play(
    run: LadderRun,
    store: Store,
    account: Account,
    rate_limit: RateLimit | None,
    *,
    log: Callable[[str], None],
    show: Callable[[int, UserBattle, BattleRecord], None],
) -> bool:
    """Play the battles of a run, one after the other; return True if all were played.

    The first Ctrl-C (SIGTERM) finishes the battle or series in progress and ends; the second one forfeits it. show(number,
    battle, record) is called after each battle, once it is stored. Raises ServerRefused and ConnectionLost; finished battles
    are stored.
    """
    settings = run.settings
    async with (
        run_lifecycle(store, run.run_id) as lifecycle,
        await Client.connect(settings.server, account, rate_limit=rate_limit, patience=_PATIENCE) as client,
    ):
        matchmaking = Matchmaking(settings.challenge, settings.accept)
        ladder = Ladder(client, matchmaking, StepGuard(), settings.rules, log)
        lifecycle.stop_with(ladder.stop)
        await ladder.enter()
        for count in range(1, settings.battles + 1):
            battle = None if ladder.stopping else await ladder.battle(run.entrant(count))
            if battle is None:
                break
            game = 1
            while battle is not None:
                if battle.begun:
                    record = await _with_page(battle.record(), settings, client.name, log)
                    lifecycle.keep(record)
                    show(count, battle, record)
                else:
                    log(f"{count} of {settings.battles}: no battle: {battle.over.exception()}")
                game += 1
                battle = await ladder.next_game(run.entrant(count, game))
        else:
            lifecycle.status = FINISHED
    return lifecycle.status == FINISHED


async def _with_page(
    record: BattleRecord, settings: LadderSettings, user: str, log: Callable[[str], None]
) -> BattleRecord:
    """The record with what the user's page says, if there is one; a page that cannot be read is only reported."""
    if record.ladder is None or not settings.user_page:
        return record
    format_id = series_format(settings.format, settings.best_of)
    try:
        return replace(record, ladder=await with_page(record.ladder, settings.user_page, user, format_id))
    except OSError as error:
        log(f"GXE and Glicko are not stored: {urlsplit(settings.user_page).netloc}: {error}")
        return record
