"""Battles with users who are not ours: recorded as any other, and lost by them for what they fail to do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace

import pytest
from support.real_battles import fixtures
from support.venues import Venues, told

from agents import resolve
from arena.battles.guard import StepGuard
from arena.battles.seat import new_seat
from arena.fixture import SEATS, Fixture, seat_seed
from arena.record import BattleRecord
from arena.venue import Rules
from arena.venues.server.battle import ServedBattle
from arena.venues.server.client import Client
from arena.venues.server.remote_player import RemotePlayer, fixture_as_played
from arena.venues.server.room import BattleRoom, Hooks
from teamsets.formats import get_format

PATIENT = Rules(think_limit=60.0)


@pytest.fixture(scope="module")
def venues() -> Iterator[Venues]:
    found = Venues()
    yield found
    found.close()


class Visitor:
    """A user who is not ours: a connection, and an agent that plays as the fixture says; or somebody who only looks on."""

    def __init__(self, client: Client, fixture: Fixture, role: str, plays: bool = True) -> None:
        self.client, self.role, self.room = client, role, ""
        self.begun, self.asked = asyncio.Event(), asyncio.Event()
        seat = new_seat(
            role,
            resolve(fixture.agents[SEATS.index(role)]).make(),
            StepGuard(),
            0,
            tag="visit",
            format_id=fixture.format,
            gen=get_format(fixture.format).gen,
            seed=seat_seed(fixture.seed, role),
            think_limit=60.0,
        )
        hooks = Hooks(self.say, lambda fault: None, lambda: None, lambda error: None)
        self.seat = BattleRoom(seat, 1000, hooks)
        if not plays:
            self.seat.silence()
        client.on_battle = self.begin
        client.on_challenge = lambda user, format_id: client.accept(user)

    def begin(self, room: str) -> Visitor:
        self.room = room
        self.begun.set()
        return self

    def receive(self, lines: list[str]) -> None:
        self.seat.receive(lines)
        if self.seat.seat.request is not None:
            self.asked.set()

    def say(self, text: str) -> None:
        self.client.say(text, self.room)


Deed = Callable[[dict[str, Visitor]], Awaitable[None]]


def visited(
    venues: Venues,
    fixture: Fixture,
    roles: tuple[str, ...] = ("p2",),
    *,
    plays: bool = True,
    deed: Deed | None = None,
    **options: float | bool,
) -> BattleRecord:
    """The fixture played with visitors in the seats `roles`. deed: what they do besides. options: of each RemotePlayer."""

    async def play() -> BattleRecord:
        connected = {role: await Client.connect(venues.server.uri, f"{role} of {fixture.key[:8]}") for role in SEATS}
        visitors = {role: Visitor(connected[role], fixture, role, plays) for role in roles}
        for role, visitor in visitors.items():
            visitor.client.use_team(fixture.teams[SEATS.index(role)].packed)
        battle = ServedBattle(
            venues.server,
            StepGuard(),
            PATIENT,
            fixture,
            1,
            clients={role: client for role, client in connected.items() if role not in roles},
            remote_players={role: RemotePlayer(connected[role].user, **options) for role in roles},  # type: ignore[arg-type]
        )
        doing = asyncio.ensure_future(deed(visitors)) if deed else None
        try:
            if len(roles) == 1:
                return await battle.play(battle.challenge)
            first, second = connected.values()
            return await battle.play(lambda: first.challenge(second.user, fixture.format))
        finally:
            if doing:
                await doing
            for client in connected.values():
                await client.close()

    return venues.runner.run(play())


@pytest.mark.slow
@pytest.mark.parametrize("format_id", ["gen1randombattle", "gen1ou", "gen4ou", "gen7randombattle", "gen9ou"])
@pytest.mark.parametrize("roles", [("p1",), ("p2",), ("p1", "p2")])
def test_the_record_is_that_of_any_battle(format_id: str, roles: tuple[str, ...], venues: Venues) -> None:
    fixture = fixtures(format_id, 1)[0]
    (expected,) = venues.simulated([fixture], PATIENT)
    assert told(visited(venues, fixture, roles)) == told(expected)


@pytest.mark.slow
def test_a_team_of_his_own_is_kept_with_the_battle(venues: Venues) -> None:
    fixture, other = fixtures("gen1ou", 2)
    own = replace(fixture, teams=(fixture.teams[0], other.teams[0]))

    async def bring(visitors: dict[str, Visitor]) -> None:
        visitors["p2"].client.use_team(other.teams[0].packed)

    record = visited(venues, fixture, deed=bring, own_team=True)
    found = fixture_as_played(record.fixture, record.input_log)
    assert [team.packed for team in found.teams] == [team.packed for team in own.teams]
    assert found.teams[1].id == other.teams[0].id
    assert found.seed == fixture.seed


def once_asked(text: str) -> Deed:
    async def deed(visitors: dict[str, Visitor]) -> None:
        await visitors["p2"].asked.wait()
        visitors["p2"].say(text)

    return deed


def test_a_forfeit_is_a_win_of_the_other(venues: Venues) -> None:
    record = visited(venues, fixtures("gen1ou", 1)[0], plays=False, deed=once_asked("/forfeit"))
    assert (record.winner, record.reason, record.fault, record.detail) == ("p1", "win", None, "p2 forfeited")
    assert record.logs[1][-1] == "|win|p1"
    assert record.input_log[-1] == ">forcelose p2"


def test_silence_loses_by_the_servers_clock(venues: Venues) -> None:
    record = visited(venues, fixtures("gen1ou", 1)[0], plays=False, patience=3.0)
    assert (record.winner, record.reason, record.fault) == ("p1", "timeout", "p2")
    assert record.detail == "no choice within 3 s"
    assert len(record.decisions) == 1  # ours
    assert "|request|" in "".join(record.logs[1])


def test_one_who_has_left_for_good_loses(venues: Venues) -> None:
    async def leave(visitors: dict[str, Visitor]) -> None:
        await visitors["p2"].begun.wait()
        await visitors["p2"].client.close()

    record = visited(venues, fixtures("gen9ou", 1)[0], plays=False, deed=leave, patience=3.0)
    assert (record.winner, record.reason, record.fault) == ("p1", "timeout", "p2")
    assert record.detail == "no choice within 3 s: it had left"


@pytest.mark.slow
def test_choices_that_are_none_lose_as_illegal(venues: Venues) -> None:
    record = visited(venues, fixtures("gen1ou", 1)[0], plays=False, deed=once_asked("/choose move 7"), patience=3.0)
    assert (record.winner, record.reason, record.fault) == ("p1", "illegal", "p2")
    assert record.detail is not None and "[Invalid choice]" in record.detail


@pytest.mark.slow
def test_one_who_never_comes_loses(venues: Venues) -> None:
    async def stay_away(visitors: dict[str, Visitor]) -> None:
        visitors["p2"].client.on_challenge = lambda user, format_id: None

    record = visited(venues, fixtures("gen1ou", 1)[0], deed=stay_away, join_limit=1.0)
    assert (record.winner, record.reason, record.fault) == ("p1", "timeout", "p2")
    assert record.detail == "did not come to the battle within 1 s: did not answer the challenge"
    assert record.to_line("run")
