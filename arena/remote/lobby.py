"""The lobby of a local server: agents of the pool are its users, and play against visitors."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from poke_env.data import to_id_str
from pydantic import Field

from arena.battles.guard import StepGuard
from arena.fixture import SEATS, Fixture, FixtureTeam, digest, showdown_seed
from arena.processes.child import Message
from arena.record import BattleRecord
from arena.schedules.plan import DRAWN, draw_teams
from arena.validation import Settings
from arena.venue import Rules, VenueFailed
from arena.venues.server.battle import ServedBattle
from arena.venues.server.client import Client, Room
from arena.venues.server.local import LocalServer
from arena.venues.server.remote_player import RemotePlayer, fixture_as_played

#: Seconds that a visitor has to join a requested battle: the request may have been withdrawn.
JOIN_SECONDS = 30.0
#: Showdown's limit on the length of a name.
_MAX_NAME = 18


class BattleClient:
    """An agent's client as one of its battles uses it (see `User`)."""

    def __init__(self, client: Client) -> None:
        self.client, self.user, self.lost = client, client.user, client.lost
        self.on_battle: Callable[[str], Room | None] = lambda room: None
        self.on_challenge: Callable[[str, str], None] = lambda user, format_id: None
        self.on_refusal: Callable[[str], None] = lambda text: None
        self.on_return: Callable[[], None] = lambda: None
        self.begun = asyncio.Event()
        self.say, self.use_team = client.say, client.use_team
        self.challenge, self.accept = client.challenge, client.accept
        self.join, self.leave = client.join, client.leave

    def begin(self, room: str) -> Room | None:
        """Return the listener if the room is this battle's. (Only one battle of a client waits for its room at a time.)"""
        listener = self.on_battle(room)
        if listener is not None:
            self.begun.set()
        return listener


@dataclass
class LobbyAgent:
    """An agent of the pool as a user: it plays against any number of visitors concurrently.

    name: its user name. on_challenge(agent, visitor, format): called at a challenge. clients: one per battle.
    """

    spec: str
    name: str
    client: Client
    on_challenge: Callable[[LobbyAgent, str, str], None]
    clients: list[BattleClient] = field(default_factory=list)
    arranging: asyncio.Lock = field(default_factory=asyncio.Lock)
    battles: int = 0

    def __post_init__(self) -> None:
        client = self.client
        client.on_battle = self._begin
        client.on_challenge = lambda user, format_id: self.on_challenge(self, user, format_id)
        client.on_refusal = lambda text: self._for_each_client(
            lambda client: None if client.begun.is_set() else client.on_refusal(text)
        )
        client.on_return = lambda: self._for_each_client(lambda client: client.on_return())

    def _begin(self, room: str) -> Room | None:
        return next((listener for client in self.clients if (listener := client.begin(room)) is not None), None)

    def _for_each_client(self, what: Callable[[BattleClient], None]) -> None:
        for client in list(self.clients):
            what(client)


class Limits(Settings):
    """Maximum number of open battles and requests (searches, challenges): per visitor, and in total."""

    visitor: Annotated[int, Field(ge=1)] = 5
    total: Annotated[int, Field(ge=1)] = 100


@dataclass(eq=False)
class _Request:
    """A visitor's request for a battle.

    task: plays it. battle: None while it waits. dropped: the visitor withdrew it, or left.
    """

    task: asyncio.Task[None] | None = None
    battle: ServedBattle | None = None
    dropped: bool = False

    @property
    def has_room(self) -> bool:
        return self.battle is not None and self.battle.room != ""


#: The visitor, the format, and the requested agent ("" on the ladder).
_RequestKey = tuple[str, str, str]


@dataclass(frozen=True)
class VisitorBattle:
    """A battle between a visitor and an agent that is in progress."""

    visitor: str
    agent: LobbyAgent
    battle: ServedBattle

    @property
    def turn(self) -> int:
        return max(seat.battle.turn for seat in self.battle.seats.values())


class Lobby:
    """The agents of the pool as users of a server, and their battles with visitors.

    pools: format -> the teams of the agents; empty if Showdown generates the teams. patience: seconds per decision of a
    visitor. keep(record): called with each battle. log(text): prints a line. limits: of open battles and requests; a
    visitor beyond them receives a message. join_limit: seconds that a visitor has to join a requested battle.
    """

    def __init__(
        self,
        server: LocalServer,
        guard: StepGuard,
        rules: Rules,
        pools: Mapping[str, Sequence[FixtureTeam]],
        team_set: str,
        seed: str,
        *,
        patience: float,
        keep: Callable[[BattleRecord], None],
        log: Callable[[str], None],
        limits: Limits | None = None,
        join_limit: float = JOIN_SECONDS,
    ) -> None:
        self.server, self.guard, self.rules, self.pools, self.team_set = server, guard, rules, pools, team_set
        self.seed, self.patience, self.keep, self.log = seed, patience, keep, log
        self.agents: list[LobbyAgent] = []
        self.in_progress: list[VisitorBattle] = []
        self.closing = False
        self.idle = asyncio.Event()  # set while no battle is in progress
        self.idle.set()
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._met: Counter[tuple[str, str]] = Counter()  # visitor, spec
        self.limits, self.join_limit = limits or Limits(), join_limit
        self._open: Counter[str] = Counter()  # visitor: battles and requests
        self._requests: dict[_RequestKey, _Request] = {}  # the latest request of each kind, until its battle is over
        self._tasks: set[asyncio.Task[None]] = set()
        self._serials = itertools.count(1)
        self._searches = 0

    async def open(self, specs: Sequence[str]) -> None:
        """Sign the agents in; from now on visitors can play."""
        for spec in specs:
            name = user_name(spec, {agent.client.user for agent in self.agents})
            client = await Client.connect(self.server.uri, name)
            self.agents.append(LobbyAgent(spec, name, client, self._on_challenge))
        users = [agent.client.user for agent in self.agents]
        self._searches = await self.server.watch_searches(users, list(self.pools), self._on_search)

    async def close(self) -> None:
        """Sign the agents off. Battles in progress are dropped."""
        self.closing = True
        self.server.forget(self._searches)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for agent in self.agents:
            await agent.client.close()

    def choose(self, visitor: str) -> LobbyAgent:
        """Return a visitor's opponent on the ladder: the agent met least, then the one that has played least."""
        return min(self.agents, key=lambda r: (self._met[visitor, r.spec], len(r.clients), r.battles))

    def _on_challenge(self, agent: LobbyAgent, visitor: str, format_id: str) -> None:
        if self._refuses(visitor, format_id):
            agent.client.say(f"/reject {visitor}")
        else:
            key = (visitor, format_id, agent.name)
            self._begin(agent, key, lambda client: client.accept(visitor))

    def _on_search(self, message: Message) -> None:
        """Handle the start or end of a user's search (or the end of the server, which `server.dead` reports as well)."""
        if "gone" in message:
            self._on_visitor_gone(message["gone"], message.get("format"))
            return
        visitor, format_id = message.get("search", ""), message.get("format", "")
        ours = {agent.client.user for agent in self.agents}
        if not visitor or visitor in ours:
            return
        if self._refuses(visitor, format_id):
            self.server.refuse_search(visitor, format_id)
            return
        self._begin(self.choose(visitor), (visitor, format_id, ""), lambda client: client.say(f"/search {format_id}"))

    def _on_visitor_gone(self, visitor: str, format_id: str | None) -> None:
        """Drop requests of a visitor who will not join: the search in a format, or all requests (None).

        A battle in progress continues: the visitor may return to it.
        """
        for key, request in list(self._requests.items()):
            is_withdrawn = format_id is None or key[1:] == (format_id, "")
            if key[0] == visitor and is_withdrawn and request.task and not request.has_room:
                request.dropped = True
                request.task.cancel()

    def _refuses(self, visitor: str, format_id: str) -> bool:
        """Return whether the request is refused; the visitor receives the reason in a popup."""
        if self.closing:
            why = "This server starts no more battles."
        elif format_id not in self.pools:
            why = f"Only {', '.join(self.pools)} is played on this server."
        elif (open_requests := self._open[visitor]) >= self.limits.visitor:
            why = (
                f"You have {open_requests} open battles and requests. The limit is {self.limits.visitor} per visitor: "
                "please finish one first."
            )
        elif self._open.total() >= self.limits.total:
            why = (
                f"{self._open.total()} battles and requests are open on this server. The limit is {self.limits.total}: "
                "please try again later."
            )
        else:
            return False
        self.server.show_popup(visitor, why)
        return True

    def _begin(self, agent: LobbyAgent, key: _RequestKey, pair_players: Callable[[BattleClient], None]) -> None:
        """Start the battle of a request, unless the same request is already open.

        A request whose battle has a room is not: the visitor, who is in that room, requests another battle.
        """
        open_request = self._requests.get(key)
        if open_request is not None and not open_request.has_room:
            return
        self._open[key[0]] += 1
        self._met[key[0], agent.spec] += 1
        agent.battles += 1
        self.idle.clear()
        self._requests[key] = request = _Request()
        request.task = task = asyncio.ensure_future(self._play(agent, key, pair_players, request))
        self._tasks.add(task)
        task.add_done_callback(lambda task: self._done(task, agent, key, request))

    def _done(self, task: asyncio.Task[None], agent: LobbyAgent, key: _RequestKey, request: _Request) -> None:
        self._tasks.discard(task)
        if self._requests.get(key) is request:  # and no newer one
            del self._requests[key]
        visitor = key[0]
        self._open[visitor] -= 1
        if not self._open[visitor]:
            del self._open[visitor]
        if request.dropped:
            self._met[visitor, agent.spec] -= 1
            agent.battles -= 1
            self.log(f"{visitor} did not come to a battle against {agent.name}")
        if not self._tasks:
            self.idle.set()
        if not task.cancelled() and (error := task.exception()) is not None and not self.failed.done():
            self.failed.set_exception(error)

    async def _play(
        self, agent: LobbyAgent, key: _RequestKey, pair_players: Callable[[BattleClient], None], request: _Request
    ) -> None:
        """Play one battle, from the visitor's request to its record."""
        visitor, format_id, _ = key
        serial = next(self._serials)
        client = BattleClient(agent.client)
        try:
            async with agent.arranging:
                request.battle = battle = self._battle(agent, client, visitor, format_id, serial)
                visit = VisitorBattle(visitor, agent, battle)
                agent.clients.append(client)
                playing = asyncio.ensure_future(battle.play(lambda: pair_players(client)))
                begun = asyncio.ensure_future(client.begun.wait())
                try:
                    await asyncio.wait({playing, begun}, return_when=asyncio.FIRST_COMPLETED)
                except asyncio.CancelledError:
                    playing.cancel()
                    await asyncio.gather(playing, return_exceptions=True)  # before the next battle is registered
                    raise
                finally:
                    begun.cancel()
            self.in_progress.append(visit)
            try:
                self._store_result(await playing, visit)
            except VenueFailed as error:
                self.log(f"{visitor} against {agent.name}: no result: {error}")
            finally:
                playing.cancel()
                self.in_progress.remove(visit)
        finally:
            if client in agent.clients:
                agent.clients.remove(client)

    def _battle(
        self, agent: LobbyAgent, client: BattleClient, visitor: str, format_id: str, serial: int
    ) -> ServedBattle:
        """Create a battle. serial: the visitor is p1 if it is even. The visitor brings the team, if any."""
        name = digest([self.seed, serial])
        teams = draw_teams(name, format_id, self.pools[format_id])
        role, theirs = SEATS if serial % 2 else SEATS[::-1]
        agents = (agent.spec, f"user:{visitor}")
        drawn = not self.pools[format_id]
        fixture = Fixture(
            format_id,
            agents if role == "p1" else agents[::-1],
            teams,
            showdown_seed("battle", name),
            name,
            DRAWN if drawn else self.team_set,
        )
        remote_player = RemotePlayer(visitor, patience=self.patience, join_limit=self.join_limit, own_team=not drawn)
        return ServedBattle(
            self.server,
            self.guard,
            self.rules,
            fixture,
            serial,
            clients={role: client},
            remote_players={theirs: remote_player},
        )

    def _store_result(self, record: BattleRecord, visit: VisitorBattle) -> None:
        visitor, agent = visit.visitor, visit.agent
        if not record.input_log:  # the request was withdrawn
            agent.client.say("/cancelsearch")
            self.log(f"{visitor} did not come to a battle against {agent.name}")
            return
        self.keep(replace(record, fixture=fixture_as_played(record.fixture, record.input_log)))


def user_name(spec: str, names_in_use: set[str]) -> str:
    """Return a user name for an agent: "heuristic:max-damage" becomes "max-damage". Server names are short.

    names_in_use: as ids.
    """
    text = re.sub(r"[^a-zA-Z0-9-]+", " ", spec.partition(":")[2] or spec).strip() or "agent"
    if not re.search("[a-zA-Z]", text):
        text = f"agent {text}"
    for number in itertools.count(1):
        end = "" if number == 1 else f" {number}"
        name = text[: _MAX_NAME - len(end)].strip() + end
        if to_id_str(name) not in names_in_use:
            return name
    raise AssertionError("there are more numbers")
