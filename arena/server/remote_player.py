"""A side of a battle that a remote player plays: a person or another program. It is recorded like any other seat.

The server's launcher reports what the user's connection receives and when the user chooses (remote_player.mjs). A
`BattleRoom` passes this to a `RemoteSeat`, so its log equals that of a local seat. Its decisions are read from the battle's
input log at the end. `ServedBattle` (battle.py) does all of this:

    ash = RemotePlayer("ash")
    battle = ServedBattle(server, guard, rules, fixture, serial, clients={"p1": client}, remote_players={"p2": ash})
    record = await battle.play(lambda: client.accept("ash"))

`fixture.agents` may name a remote side freely ("user:ash"); it is not resolved as an agent. A remote player loses by:
no decision within `RemotePlayer.patience` seconds, connected or not (reason "timeout"; "illegal" if every choice was
refused); not joining within `RemotePlayer.coming` seconds ("timeout", a record without logs); and `battle.lose(role,
Fault(...))`. If it forfeits, the opponent wins (reason "win"; `detail` says so).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from agents import Agent, SeatBattle, legal_choices, read_answer
from arena.fixture import SEATS, Fixture, FixtureTeam
from arena.simulator.guard import Clock, StepGuard
from arena.simulator.seat import Decision, Seat
from teamsets.teams import Team


@dataclass(frozen=True)
class RemotePlayer:
    """A user of the server who is not ours.

    user: its id on the server. patience: seconds for one decision, by the server's clock. coming: seconds from the meeting
    to the battle's begin. own_team: he plays the team that he has brought, not the fixture's (see `fixture_as_played`).
    """

    user: str
    patience: float = 60.0
    coming: float = 60.0
    own_team: bool = False


class _Nobody(Agent):
    """Sits in an outside seat; it is never asked."""

    reads_battle = False


@dataclass
class _Asked:
    """A request that awaits a choice, what was sent for it, and how long that has taken (milliseconds)."""

    turn: int
    request: dict[str, Any]
    sent: str = ""
    ms: float = 0.0


@dataclass
class RemoteSeat(Seat):
    """What is known of an outside side: its log as a seat's, and its decisions once they are read.

    here: whether a connection of his is in the battle's room.
    """

    here: bool = True
    _asked: list[_Asked] = field(default_factory=list)

    def see(self, view: dict[str, Any]) -> bool:
        """Takes in what this side was sent; nothing is ever to be decided here."""
        if "error" in view and view.get("ask") is self.request:
            return False  # what he chose was refused, and the same request stands
        if super().see(view):
            assert self.request is not None
            if self._asked and ("error" in view or self.request.get("update")):
                self._asked.pop()  # put again, with what he may not do now
            self._asked.append(_Asked(self.battle.turn, self.request))
        return False

    def chose(self, sent: str, ms: float) -> None:
        """What he has sent for the last request, so many milliseconds after it was put."""
        if self._asked:
            self._asked[-1].sent, self._asked[-1].ms = sent, ms

    def read_decisions(self, input_log: list[str]) -> None:
        """Sets `decisions` from Showdown's input log: what each side chose, one line for each decision."""
        lines = [line[4:] for line in input_log if line.startswith(f">{self.role} ")]
        self.decisions = []
        for asked, line in zip(self._asked, lines, strict=False):  # the last may have got no choice any more
            legal = legal_choices(asked.request)
            # What he sent may say no more than "default"; what is noted may be "fight", which he was not offered.
            choice = read_answer(line, legal, asked.request) or read_answer(asked.sent, legal, asked.request)
            words = line if choice is None else choice.words
            self.decisions.append(Decision(asked.turn, [c.words for c in legal], words, asked.ms))


def remote_seat(role: str, guard: StepGuard, who: int, *, tag: str, format_id: str, gen: int) -> RemoteSeat:
    """The seat of an outside user; see `new_seat`."""
    battle = SeatBattle(tag, role, role, gen, format_id, random.Random(0))
    return RemoteSeat(role, _Nobody(), battle, Clock(guard, who, 0.0), reads_battle=False)


def fixture_as_played(fixture: Fixture, input_log: list[str]) -> Fixture:
    """The fixture with the seed and the teams of the battle, where a user has brought his own."""
    seed, teams = fixture.seed, list(fixture.teams)
    for line in input_log:
        if line.startswith(">start "):
            seed = orjson.loads(line[7:])["seed"]
        elif line.startswith(">player "):
            index, said = SEATS.index(line[8:10]), orjson.loads(line[11:])
            packed = said.get("team")
            if packed and teams[index].packed != packed and not teams[index].seed:
                team = Team.of(fixture.format, packed, name="own", source=f"brought by {fixture.agents[index]}")
                teams[index] = FixtureTeam(team.id, team.name, packed=packed)
    return replace(fixture, seed=seed, teams=(teams[0], teams[1]))
