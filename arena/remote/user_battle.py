"""A battle of one of our agents on an external server, against one of its users: a person or a program.

The opponent is recorded as `user:NAME@HOST`, which no agent is called. Its log and choices and the server's seed are not
known, and of its team only what the battle has revealed. (A battle with a user on our own server is recorded from both
sides: arena/venues/server/remote_player.py.)
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from poke_env.data import to_id_str

from agents import Agent
from arena.battles.guard import StepGuard
from arena.battles.seat import Fault, Seat, make_agent, new_seat
from arena.fixture import SEATS, Fixture, FixtureTeam, digest, seat_seed
from arena.record import BattleRecord, LadderRating
from arena.venue import Rules, VenueFailed
from arena.venues.server.client import Client
from arena.venues.server.messages import BadMessage, parsing
from arena.venues.server.room import BattleRoom, Hooks
from teamsets.formats import get_format, series_format

#: Stands for a team that is not known as a whole.
UNSEEN = FixtureTeam("unseen", "unseen")
_GAVE_UP = re.compile(r"\|-message\|.* (forfeited|lost due to inactivity|lost by having an inappropriate name)\b")
_RATING = re.compile(r"\|raw\|(?P<name>.*)'s rating: (?P<before>\d{1,9}) &rarr; <strong>(?P<after>\d{1,9})</strong>")


@dataclass(frozen=True)
class ServerLimits:
    """Time limits for a server, while it is connected, in seconds.

    begin: to name both players of a battle. forfeit: to end one that we forfeit. silent: to send any message in a battle
    (its timer does so every half minute). answer: to list our battles, and to begin one that it lists. rating: to send our
    new rating after a rated battle.
    """

    begin: float = 30.0
    forfeit: float = 10.0
    silent: float = 900.0
    answer: float = 10.0
    rating: float = 3.0


class BattleGone(VenueFailed):
    """The room of a battle no longer exists, so the result is not known."""


@dataclass(frozen=True)
class Entrant:
    """Our side of a battle: the agent's spec and how it is made, its team, and the seed of its own generator.

    format: of the battle. seed: no other battle has it; where the server draws the battle's own, it is no seed of
    Showdown's.
    best_of, game: of the series that it belongs to, and its number there. series_seed: the battles of a series share it.
    """

    spec: str
    make: Callable[[], Agent]
    format: str
    team: FixtureTeam
    team_set: str
    seed: str
    best_of: int = 1
    game: int = 1
    series_seed: str = ""

    @property
    def server_format(self) -> str:
        """What the server calls the format: of series "gen9…bo3"."""
        return series_format(self.format, self.best_of)


@dataclass
class UserBattle:
    """The listener of one battle's room (see `Client.on_battle`). `over` is set when it has ended there.

    host: of the server, for the opponent's name. stopped: why it was forfeited, unless because of an agent's fault.
    rating: ours before and after, if the server reports it.
    """

    client: Client
    room: str
    entrant: Entrant
    guard: StepGuard
    rules: Rules
    serial: int
    host: str
    limits: ServerLimits = ServerLimits()
    role: str = ""
    opponent: str = ""
    fault: Fault | None = None
    stopped: str = ""
    rating: tuple[int, int] | None = None
    started: float = field(default_factory=time.time)
    over: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    _clock: float = field(default_factory=time.perf_counter)
    _names: dict[str, str] = field(default_factory=dict)
    _buffered_lines: list[str] = field(default_factory=list)
    _gave_up: str = ""
    _battle_room: BattleRoom | None = None
    _forfeited: bool = False
    #: When we last requested something of the server, and when its last message for this room came, by the loop's clock.
    _requested_at: float = field(default_factory=lambda: asyncio.get_running_loop().time())
    _last_message_at: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    def receive(self, lines: list[str]) -> None:
        """Process the lines of one message of the server for this room. Raises BadMessage if one cannot be read."""
        self._last_message_at = asyncio.get_running_loop().time()
        for line in lines:
            self._read_room_line(line)
        if self._battle_room is not None:
            self._battle_room.receive(lines)
            return
        self._buffered_lines += lines
        if len(self._names) == len(SEATS):
            try:
                self._create_seat()
            except BadMessage:
                raise
            except Exception as error:  # a bug of the arena: it is raised where the battle is awaited
                self._break_off(error)

    @property
    def begun(self) -> bool:
        """Whether both users are known."""
        return self._battle_room is not None

    @property
    def turn(self) -> int:
        return 0 if self._battle_room is None else self._battle_room.seat.battle.turn

    def on_reconnected(self) -> None:
        """Handle a reconnection: messages sent just before it may be lost. (The room is joined again anyway.)"""
        self.wait_longer()
        if self._forfeited:
            self._forfeit()

    def give_up(self, why: str) -> None:
        """Forfeit without a fault of the agent. A second call does not wait for the server's answer."""
        if self.over.done():
            return
        if self.stopped:
            self._break_off(BattleGone(f"{why}; left before the server had ended the battle"))
        elif self.fault is None:
            self.stopped = why
            if self._battle_room is not None:
                self._battle_room.silence()
            self._forfeit()

    def wait_longer(self) -> None:
        """Restart the server's time limits: the connection is broken, or was."""
        self._requested_at = self._last_message_at = asyncio.get_running_loop().time()

    def check_time(self) -> None:
        """End the battle if the server exceeds a time limit: to begin it, to end it when forfeited, to send any message."""
        now, limits = asyncio.get_running_loop().time(), self.limits
        if self._forfeited and now - self._requested_at > limits.forfeit:
            why = f"the server did not end the battle within {limits.forfeit:g} s after it was forfeited"
        elif not self.begun and now - self._requested_at > limits.begin:
            why = f"the server did not name both players within {limits.begin:g} s"
        elif now - self._last_message_at > limits.silent:
            why = f"the server said nothing for {limits.silent:g} s"
        else:
            return
        if not self._forfeited:
            self._forfeit()
        self._break_off(BattleGone(f"{self.room}: {why}, so the result is unknown"))

    def on_connection_lost(self, reason: str) -> None:
        """Handle that reconnecting failed for good."""
        self._break_off(BattleGone(reason))

    def record(self) -> BattleRecord:
        """Return the record: our side's log and decisions, and the result. To be called once, when `over` is set."""
        battle_room = self._battle_room
        assert battle_room is not None
        seat, problem = battle_room.seat, self.over.exception()
        seat.finish()
        index = SEATS.index(self.role)
        winner, reason, fault, detail = self._result(battle_room.winner, problem)
        return BattleRecord(
            fixture=self._fixture(),
            winner=winner,
            reason=reason,
            fault=fault,
            detail=detail,
            turns=seat.battle.turn,
            started=self.started,
            seconds=time.perf_counter() - self._clock,
            logs=(seat.log, []) if index == 0 else ([], seat.log),
            decisions=seat.rows(index),
            parse_warnings=seat.battle.parse_warnings,
            venue="server",
            ladder=None if self.rating is None else LadderRating(self.host, *self.rating),
        )

    def _result(self, winner: str, problem: BaseException | None) -> tuple[str | None, str, str | None, str | None]:
        """Return winner, reason, fault and detail of the record."""
        theirs = SEATS[1 - SEATS.index(self.role)]
        if self.fault is not None:
            return theirs, self.fault.kind, self.role, str(self.fault)
        if problem is not None:
            return None, "aborted", "venue", str(problem)
        if self.stopped:
            return None, "aborted", None, self.stopped
        if not winner:
            return None, "tie", None, None
        loser = SEATS[1 - SEATS.index(winner)]
        if self._gave_up == "lost due to inactivity":
            return winner, "timeout", loser, "no choice in time, by the server's clock"
        return winner, "win", None, f"{loser} {self._gave_up}" if self._gave_up else None

    def _fixture(self) -> Fixture:
        """Return the battle as far as it is known. Seed and opposing team are not; `Entrant.seed` makes its key unique."""
        agents, teams = (self.entrant.spec, self.opponent), (self.entrant.team, UNSEEN)
        if self.role == "p2":
            agents, teams = agents[::-1], teams[::-1]
        entrant, room = self.entrant, self._battle_room
        assert room is not None
        return Fixture(
            entrant.format,
            agents,
            teams,
            entrant.seed,
            digest([entrant.series_seed or entrant.seed]),
            entrant.team_set,
            best_of=entrant.best_of,
            game=entrant.game,
            open_sheets=any(line.startswith("|showteam|") for line in room.seat.log),
        )

    def _read_room_line(self, line: str) -> None:
        """Read what only the room reports: who plays which side, who gave up, ratings, that the room is gone."""
        fields = line.split("|")
        kind = fields[1] if len(fields) > 1 else ""
        if kind == "player":
            with parsing("|player|"):
                role, name = fields[2], fields[3]
            if role in SEATS and name:
                self._names.setdefault(role, name)
        elif kind == "-message" and (gave_up := _GAVE_UP.match(line)):
            self._gave_up = gave_up[1]
        elif kind == "raw" and (rated := _RATING.match(line)) and to_id_str(rated["name"]) == self.client.user:
            self.rating = int(rated["before"]), int(rated["after"])
        elif kind in ("noinit", "deinit"):
            self._break_off(BattleGone(f"{self.room}: the room is gone, so the result is unknown"))

    def _create_seat(self) -> None:
        """Create our seat once both users are known; it receives the lines so far."""
        ids = {role: to_id_str(name) for role, name in self._names.items()}
        if self.client.user not in ids.values():
            raise BattleGone(f"{self.room}: this user is not one of its players")
        self.role = next(role for role in SEATS if ids[role] == self.client.user)
        self.opponent = f"user:{next(user for role, user in ids.items() if role != self.role)}@{self.host}"
        fault = None
        try:
            seat = self._seat(make_agent(self.guard, self.serial * 2, self.entrant.make))
        except Fault as failure:
            seat, fault = self._seat(Agent()), failure
        hooks = Hooks(
            say=lambda text: self.client.say(text, self.room),
            on_fault=self._fail,
            on_end=self._end,
            on_error=self._break_off,
        )
        self._battle_room = BattleRoom(seat, self.rules.max_turns, hooks)
        if fault is not None:
            self._fail(fault)
        # Otherwise a battle whose other side has left would never end.
        self.client.say("/timer on", self.room)
        buffered_lines, self._buffered_lines = self._buffered_lines, []
        self._battle_room.receive(buffered_lines)

    def _seat(self, agent: Agent) -> Seat:
        format_id = self.entrant.format
        return new_seat(
            self.role,
            agent,
            self.guard,
            self.serial * 2,
            tag=f"battle-{format_id}-{self.serial}",
            format_id=format_id,
            gen=get_format(format_id).gen,
            seed=seat_seed(self.entrant.seed, self.role),
            think_limit=self.rules.think_limit,
        )

    def _fail(self, fault: Fault) -> None:
        """Forfeit because of an agent's fault. Only the first fault counts."""
        if self.fault is None and not self.stopped:
            self.fault = fault
            assert self._battle_room is not None
            self._battle_room.silence()
            self._forfeit()

    def _forfeit(self) -> None:
        self._forfeited = True
        self._requested_at = asyncio.get_running_loop().time()
        self.client.say("/forfeit", self.room)

    def _end(self) -> None:
        if not self.over.done():
            self.over.set_result(None)

    def _break_off(self, error: Exception) -> None:
        if self.over.done():
            return
        if not isinstance(error, BattleGone) and not self._forfeited:
            self._forfeit()  # the user's next battle must not find this one in progress
        self.over.set_exception(error)
        self.over.exception()  # retrieved: nobody may be waiting any more
