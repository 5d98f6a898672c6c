"""One battle on a local server: each local seat has a websocket; the launcher reports on remote players."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from arena.battles.guard import StepGuard
from arena.battles.seat import Fault
from arena.battles.session import BattleSession, SeatIsolation, player_options
from arena.fixture import SEATS, SHOW_SHEETS, Fixture
from arena.processes.child import Message, SilenceCounter
from arena.record import BattleRecord
from arena.venue import Rules, SimulatorCrashed
from arena.venues.server.client import User
from arena.venues.server.local import LocalServer, ServerDied
from arena.venues.server.remote_player import RemotePlayer, RemoteSeat, remote_seat
from arena.venues.server.room import BattleRoom, Hooks

#: A battle without any message for so long, beyond the decision time, hangs.
_SILENCE_SECONDS = 60.0
_CHECK_SECONDS = 2.0
#: The end of a battle that never started.
_NEVER_STARTED = {"winner": "", "turns": 0, "turnLimit": False, "inputLog": []}


class ServedBattle(BattleSession):
    """One battle on the server: each seat has a local client or a remote player.

    clients: role -> the user of a local seat. remote_players: role -> remote player (remote_player.py).
    """

    venue = "server"
    _pair_players: Callable[[], None]

    def __init__(
        self,
        server: LocalServer,
        guard: StepGuard,
        rules: Rules,
        fixture: Fixture,
        serial: int,
        *,
        clients: Mapping[str, User],
        remote_players: dict[str, RemotePlayer] | None = None,
        isolation: SeatIsolation | None = None,
    ) -> None:
        self.server, self.rules, self.clients, self.remote_players = server, rules, clients, remote_players or {}
        super().__init__(
            fixture,
            guard,
            serial,
            tag=f"battle-{fixture.format}-{serial}",
            think_limit=rules.think_limit,
            remote_seats=dict.fromkeys(self.remote_players, remote_seat),
            isolation=isolation,
        )
        self.over: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.ending: dict[str, Any] | None = None
        self.room = ""
        self._number = 0
        self._refusals: dict[str, str] = {}  # remote role -> why the server rejected its choices
        self.rooms = {role: self._battle_room(role) for role in SEATS}

    def _battle_room(self, role: str) -> BattleRoom:
        hooks = Hooks(
            say=lambda text: self.clients[role].say(text, self.room),
            on_fault=lambda fault: self.lose(role, fault),
            on_end=self._check_over,
            on_error=self.break_off,
        )
        return BattleRoom(self.seats[role], self.rules.max_turns, hooks, open_sheets=self.fixture.open_sheets)

    def user(self, role: str) -> str:
        """Return the user id of a side."""
        return self.remote_players[role].user if role in self.remote_players else self.clients[role].user

    async def play(self, pair_players: Callable[[], None]) -> BattleRecord:
        """Start the battle between the two users, and wait for its end.

        pair_players: called when the launcher expects the battle and the local clients listen: `challenge`, or e.g.
        accepting a challenge of the remote player. Called again if a local connection broke before the battle started.
        Raises ServerDied, ConnectionLost or SimulatorCrashed if the venue, not a player, failed.
        """
        self._pair_players = pair_players
        order = {
            "format": self.fixture.format,
            "seed": self.fixture.seed,
            "maxTurns": self.rules.max_turns,
            "openSheets": self.fixture.open_sheets,
            "players": [self._player(role) for role in SEATS],
        }
        self._number = await self.server.expect(order, self._on_message)
        watch = asyncio.ensure_future(self._watch())
        try:
            self._listen()
            self._start_pairing()
            end = await self.over
        finally:
            watch.cancel()
            for role, client in self.clients.items():
                self.rooms[role].silence()
                client.on_battle = lambda room: None
                client.on_return = lambda: None
                client.on_challenge = lambda user, format_id: None
                client.leave(self.room)
            self.server.forget(self._number)
        for seat in self.seats.values():
            if isinstance(seat, RemoteSeat):
                seat.read_decisions(end["inputLog"])
        await self.end_isolated_seats()
        return self.record({**end, "inputLog": _as_simulated(end["inputLog"], self.fixture.open_sheets)})

    def challenge(self) -> None:
        """Challenge the other user from a local client (p1's if both are local)."""
        role, client = next(iter(self.clients.items()))
        client.challenge(self.user("p2" if role == "p1" else "p1"), self.fixture.format)

    def withdraw(self) -> None:
        """Withdraw the challenge."""
        role, client = next(iter(self.clients.items()))
        client.say(f"/cancelchallenge {self.user('p2' if role == 'p1' else 'p1')}")

    def lose(self, role: str, fault: Fault) -> None:
        """Let a failed seat lose. Only the first fault counts, and an agent that could not be created failed first: its
        stand-in may be asked to act before the launcher has named the room."""
        if self.fault is not None or self.over.done():
            return
        role, fault = next(iter(self.faults.items()), (role, fault))
        self.fault = (role, fault)
        for room in self.rooms.values():
            room.silence()
        if self.room:
            self.server.lose(self._number, role)
        else:
            self.over.set_result(_NEVER_STARTED)

    def break_off(self, error: Exception) -> None:
        """Abort the battle: the venue failed, so it counts for neither side."""
        if not self.over.done():
            self.over.set_exception(error)

    def _player(self, role: str) -> dict[str, Any]:
        """Return the launcher's options of a side."""
        remote_player = self.remote_players.get(role)
        if remote_player is None:
            return {**player_options(self.fixture)[role], "user": self.clients[role].user}
        team = {} if remote_player.own_team else player_options(self.fixture)[role]
        return {**team, "user": remote_player.user, "patience": remote_player.patience}

    def _listen(self) -> None:
        for role, client in self.clients.items():
            client.on_battle = functools.partial(self._on_room, role)
            client.on_refusal = self._on_refusal
            client.on_return = functools.partial(self._on_reconnected, role)
            client.on_challenge = functools.partial(self._on_challenge, client)

    def _start_pairing(self) -> None:
        """Register the fixture at the launcher, which creates the battle from it."""
        for role, client in self.clients.items():
            client.use_team(self.fixture.teams[SEATS.index(role)].packed)
        self._pair_players()

    def _on_challenge(self, client: User, user: str, format_id: str) -> None:
        if user in map(self.user, SEATS) and format_id == self.fixture.format and not self.room:
            client.accept(user)

    def _on_room(self, role: str, room: str) -> BattleRoom | None:
        self.room = self.room or room  # the launcher reports it as well; either message may be first
        return self.rooms[role] if room == self.room else None

    def _on_reconnected(self, role: str) -> None:
        """Recover a seat after its connection broke: messages sent meanwhile, and perhaps just before, are lost."""
        client = self.clients[role]
        if not self.room:
            client.say("/cancelchallenge")
            self._start_pairing()
        else:
            client.join(self.room, self.rooms[role])

    def _on_refusal(self, message: str) -> None:
        for role, remote_player in self.remote_players.items():
            if not self.room and message.startswith(f"{remote_player.user} is not challenging you"):
                self.lose(role, Fault("timeout", "took the challenge back"))
        if not self.room and ("rejected" in message or "invalid" in message):
            self.break_off(SimulatorCrashed(f"{self.fixture.format}: the server refused the battle: {message}"))

    def _on_message(self, message: Message) -> None:
        """Process a message of the launcher about this battle."""
        if "side" in message:
            self._on_remote_message(message["side"], message)
        elif "room" in message:
            self.room = message["room"]
            for loser, fault in self.faults.items():
                self.lose(loser, fault)
        elif "end" in message:
            self.ending = message["end"]
            self._check_over()
        elif "crash" in message:
            self.break_off(SimulatorCrashed(f"{self.fixture.format}, seed {self.fixture.seed}: {message['crash']}"))
        elif "died" in message:
            self.break_off(ServerDied(message["died"]))

    def _on_remote_message(self, role: str, message: Message) -> None:
        """Process a message of the launcher about a remote player."""
        seat, patience = self.seats[role], self.remote_players[role].patience
        assert isinstance(seat, RemoteSeat)
        if "lines" in message:
            self.rooms[role].receive(message["lines"])
            for line in message["lines"]:
                if line.startswith("|error|[Invalid choice]"):
                    self._refusals[role] = line[7:]
        elif "chose" in message:
            seat.record_choice(message["chose"], message["ms"])
            self._refusals.pop(role, None)
        elif "late" in message and role in self._refusals:
            detail = f"no choice that the server took within {patience:g} s; the last: {self._refusals[role]}"
            self.lose(role, Fault("illegal", detail))
        elif "late" in message:
            self.lose(
                role,
                Fault("timeout", f"no choice within {patience:g} s" + ("" if seat.is_connected else ": it had left")),
            )
        else:
            seat.is_connected = message["here"]

    def _check_over(self) -> None:
        """Set `over` once both seats and the launcher have reported the end, in any order."""
        if self.ending is not None and all(room.over for room in self.rooms.values()) and not self.over.done():
            self.over.set_result(self.ending)

    async def _watch(self) -> None:
        """Abandon the battle if a connection is lost for good, if it hangs, or if a remote player does not join."""
        silence_counter, last_count = SilenceCounter(), -1
        max_patience = max(
            [self.rules.think_limit, *(remote_player.patience for remote_player in self.remote_players.values())]
        )
        join_limit = max((remote_player.join_limit for remote_player in self.remote_players.values()), default=0.0)
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            for client in self.clients.values():
                if client.lost.done():
                    self.break_off(ServerDied(client.lost.result()))
            count = sum(len(seat.log) + len(seat.decisions) for seat in self.seats.values())
            silent = silence_counter.check(count != last_count, _CHECK_SECONDS)
            last_count = count
            if not self.room and self.remote_players and silent > join_limit:
                await self._charge_absent(join_limit)
            elif silent > _SILENCE_SECONDS + max_patience:
                self.break_off(ServerDied(f"{self.server.uri}: nothing was heard in {self.room or 'no room'}"))

    async def _charge_absent(self, seconds: float) -> None:
        """Let an absent player lose: one who is offline, else one who did not answer a challenge, else the challenger."""
        absent = [role for role in self.remote_players if not await self.server.is_online(self.user(role))]
        first, second = map(self.user, SEATS)
        unresponsive = [
            role
            for role, by, user in (("p1", second, first), ("p2", first, second))
            if role in self.remote_players and await self.server.is_challenged(by, user)
        ]
        role = (absent or unresponsive or list(self.remote_players))[0]
        why = "was not there" if absent else "did not answer the challenge" if unresponsive else "did not challenge"
        refusal = await self.server.refusal(self.user(role))
        why += f"; the server told it: {refusal}" if refusal else ""
        self.lose(role, Fault("timeout", f"did not come to the battle within {seconds:g} s: {why}"))


def _as_simulated(input_log: list[str], open_sheets: bool) -> list[str]:
    """Convert a server's input log to the simulator's: users become seats, avatars and chat are removed.

    open_sheets: the team sheets were shown, which a server does not write down.
    """
    kept: list[str] = []
    for line in input_log:
        if line.startswith((">version", ">chat")):
            continue
        if line.startswith(">player "):
            role = line[8:10]
            options = orjson.loads(line[11:])
            player = {
                key: role if key == "name" else options[key] for key in ("name", "team", "seed") if key in options
            }
            line = f">player {role} {orjson.dumps(player).decode()}"
        kept.append(line)
        if open_sheets and line.startswith(">player p2 "):
            kept.append(SHOW_SHEETS)
    return kept
