"""A side of a battle that a remote player plays: a person or another program. It is recorded like any other seat.

The server's launcher reports what the user's connection receives and when the user chooses (remote_player.mjs). A
`BattleRoom` passes this to a `RemoteSeat`, so its log equals that of a local seat. Its decisions are read from the battle's
input log at the end. `ServedBattle` (battle.py) does all of this:

    ash = RemotePlayer("ash")
    battle = ServedBattle(server, guard, rules, fixture, serial, clients={"p1": client}, remote_players={"p2": ash})
    record = await battle.play(lambda: client.accept("ash"))

`fixture.agents` may name a remote side freely ("user:ash"); it is not resolved as an agent. A remote player loses by:
no decision within `RemotePlayer.patience` seconds, connected or not (reason "timeout"; "illegal" if every choice was
refused); not joining within `RemotePlayer.join_limit` seconds ("timeout", a record without logs); and `battle.lose(role,
Fault(...))`. If it forfeits, the opponent wins (reason "win"; `detail` says so).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from agents import Agent, new_battle
from arena.battles.guard import SeatClock, StepGuard
from arena.battles.seat import Decision, Seat
from arena.fixture import SEATS, Fixture, FixtureTeam
from teamsets.teams import Team


@dataclass(frozen=True)
class RemotePlayer:
    """A user of the server who is not one of the arena's.

    user: id on the server. patience: seconds for one decision, by the server's clock. coming: seconds to join the battle.
    own_team: the user brings the team, instead of the fixture's (see `fixture_as_played`).
    """

    user: str
    patience: float = 60.0
    join_limit: float = 60.0
    own_team: bool = False


class _PlaceholderAgent(Agent):
    """Placeholder in a remote seat; it is never asked."""

    reads_battle = False


@dataclass
class _PendingRequest:
    """A pending request, the choice sent for it, and the time taken (milliseconds)."""

    turn: int
    request: dict[str, Any]
    sent: str = ""
    ms: float = 0.0


@dataclass
class RemoteSeat(Seat):
    """The seat of a remote player: its log, and its decisions after the battle.

    is_connected: whether a connection of the user is in the battle's room.
    """

    is_connected: bool = True
    _pending: list[_PendingRequest] = field(default_factory=list)

    def receive(self, view: dict[str, Any]) -> bool:
        """Process what this side was sent. Never asks for a choice."""
        if "error" in view and view.get("ask") is self.request:
            return False  # the choice was rejected, and the same request is still open
        if super().receive(view):
            assert self.request is not None
            if self._pending and ("error" in view or self.request.get("update")):
                self._pending.pop()  # sent again without the rejected choice
            self._pending.append(_PendingRequest(self.battle.turn, self.request))
        return False

    def record_choice(self, sent: str, ms: float) -> None:
        """Record a choice for the last request. ms: milliseconds since the request."""
        if self._pending:
            self._pending[-1].sent, self._pending[-1].ms = sent, ms

    def read_decisions(self, input_log: list[str]) -> None:
        """Set `decisions` from Showdown's input log, which has one line per decision."""
        lines = [line[4:] for line in input_log if line.startswith(f">{self.role} ")]
        self.decisions = []
        for pending, line in zip(self._pending, lines, strict=False):  # the last request may have no choice
            self.battle.list_choices(pending.request)
            # The user may have sent just "default"; the log may contain "fight", which was not offered.
            choice = self.battle.read_answer(line, pending.request) or self.battle.read_answer(
                pending.sent, pending.request
            )
            label = line if choice is None else choice.label
            self.decisions.append(Decision(pending.turn, self.battle.legal_labels(), label, pending.ms))


def remote_seat(role: str, guard: StepGuard, seat_id: int, *, tag: str, format_id: str, gen: int) -> RemoteSeat:
    """Create the seat of a remote player; see `new_seat`."""
    battle = new_battle(tag, role, role, gen, format_id, random.Random(0))
    return RemoteSeat(role, _PlaceholderAgent(), battle, SeatClock(guard, seat_id, 0.0), reads_battle=False)


def fixture_as_played(fixture: Fixture, input_log: list[str]) -> Fixture:
    """Return the fixture with the seed and teams that were played, if a user brought a team."""
    seed, teams = fixture.seed, list(fixture.teams)
    for line in input_log:
        if line.startswith(">start "):
            seed = orjson.loads(line[7:])["seed"]
        elif line.startswith(">player "):
            index, options = SEATS.index(line[8:10]), orjson.loads(line[11:])
            packed = options.get("team")
            if packed and teams[index].packed != packed and not teams[index].seed:
                team = Team.of(fixture.format, packed, name="own", source=f"brought by {fixture.agents[index]}")
                teams[index] = FixtureTeam(team.id, team.name, packed=packed)
    return replace(fixture, seed=seed, teams=(teams[0], teams[1]))
