"""The server venue: the same battles as on the simulator, the same faults, whatever becomes of the connections."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from support.doubles import doubles_fixtures
from support.real_battles import FORMATS, fixtures
from support.venues import PATIENT, Venues, told

from arena.battles.guard import StepGuard
from arena.processes.child import Message
from arena.record import BattleRecord
from arena.venue import Rules, SimulatorCrashed
from arena.venues.server.battle import ServedBattle
from arena.venues.server.local import LocalServer, ServerDied
from arena.venues.server.venue import ServerVenue


@pytest.fixture(scope="module")
def venues() -> Iterator[Venues]:
    found = Venues()
    yield found
    found.close()


@pytest.mark.slow
@pytest.mark.parametrize("format_id", FORMATS)
def test_a_fixture_goes_the_same_way_on_both_venues(
    format_id: str, real_battles: dict[str, list[BattleRecord]], venues: Venues
) -> None:
    simulated = real_battles[format_id][:1]
    for expected, found in zip(simulated, venues.served([record.fixture for record in simulated]), strict=True):
        assert told(found) == told(expected)


@pytest.mark.slow
@pytest.mark.parametrize("format_id", ["gen9randomdoublesbattle", "gen9doublesou", "gen9championsvgc2026regma"])
def test_doubles_go_the_same_way_on_both_venues(format_id: str, venues: Venues) -> None:
    """The server checks teams: these are of the set `competitive`."""
    played = doubles_fixtures(format_id, ("random", "poke-env:SimpleHeuristicsPlayer"), 1, drawn=False)
    for simulated, served in zip(venues.simulated(played, PATIENT), venues.served(played), strict=True):
        assert simulated.fault is None and simulated.parse_warnings == 0
        assert told(served) == told(simulated)


@pytest.mark.slow
def test_open_team_sheets_are_shown_in_the_same_way_on_both_venues(venues: Venues) -> None:
    played = doubles_fixtures("gen9championsvgc2026regma", ("random", "heuristic:expert"), 1, drawn=False)
    opened = [replace(fixture, open_sheets=True) for fixture in played]
    for simulated, served in zip(venues.simulated(opened, PATIENT), venues.served(opened), strict=True):
        assert simulated.fault is None and simulated.parse_warnings == 0
        assert sum(line.startswith("|showteam|") for line in served.logs[0]) == 2
        assert told(served) == told(simulated)


@pytest.mark.slow
def test_the_turn_limit_ties_at_the_same_place(venues: Venues) -> None:
    played = fixtures("gen1ou", 2)
    rules = PATIENT.model_copy(update={"max_turns": 5})
    for simulated, served in zip(venues.simulated(played, rules), venues.served(played, rules), strict=True):
        assert simulated.reason == "turn-limit"
        assert told(served) == told(simulated)


@pytest.mark.slow
@pytest.mark.parametrize("format_id", ["gen1randombattle", "gen9ou"])
def test_faults_lose_as_they_do_on_the_simulator(format_id: str, venues: Venues) -> None:
    failing = ["Raises", "RaisesLater", "RaisesAtStart", "RaisesWhenMade", "SleepsAsync", "LoopsForEver", "Illegal"]
    pairs = [(f"bad_agents:{name}", "random") for name in failing]
    pairs = [pair if number % 2 else pair[::-1] for number, pair in enumerate(pairs)]
    played = [replace(fixtures(format_id, 1)[0], agents=pair) for pair in pairs]
    rules = Rules(think_limit=2.0)
    for pair, simulated, served in zip(
        pairs, venues.simulated(played, rules), venues.served(played, rules), strict=True
    ):
        assert simulated.fault == ("p1" if pair[1] == "random" else "p2")
        expected, found = told(simulated), told(served)
        # Whether the other had already answered when it failed is a matter of chance.
        del expected["decisions"], found["decisions"]
        assert found == expected, pair


@pytest.mark.slow
def test_an_agent_that_cannot_be_created_loses_by_that_even_if_its_stand_in_is_asked_first(
    venues: Venues, monkeypatch: pytest.MonkeyPatch
) -> None:
    hear = ServedBattle._on_message

    def hear_no_room(battle: ServedBattle, message: Message) -> None:
        """As if the launcher's message with the room came after the battle's first request."""
        if "room" not in message:
            hear(battle, message)

    monkeypatch.setattr(ServedBattle, "_on_message", hear_no_room)
    played = [replace(fixtures("gen1randombattle", 1)[0], agents=("bad_agents:RaisesWhenMade", "random"))]
    (record,) = venues.served(played)
    assert (record.fault, record.reason) == ("p1", "error")
    assert "no such checkpoint" in record.detail


class CuttingProxy:
    """Passes bytes on to a server, and breaks each connection when the client has spoken `chunks` times."""

    def __init__(self, port: int, chunks: int) -> None:
        self.port, self.chunks, self.cuts = port, chunks, 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        their_reader, their_writer = await asyncio.open_connection("127.0.0.1", self.port)
        back = asyncio.ensure_future(self.pass_back(their_reader, writer))
        for _ in range(self.chunks):
            chunk = await reader.read(1 << 16)
            if not chunk:
                break
            their_writer.write(chunk)
        else:
            await reader.read(1 << 16)  # swallowed: what the client has said last never arrives
            self.cuts += 1
        back.cancel()
        writer.transport.abort()
        their_writer.transport.abort()

    @staticmethod
    async def pass_back(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while chunk := await reader.read(1 << 16):
                writer.write(chunk)
            writer.transport.abort()


# 6: even the meeting of the two users is cut; 15: there are some turns between two cuts.
@pytest.mark.slow
@pytest.mark.parametrize("chunks", [6, 15])
def test_a_battle_goes_on_over_broken_connections(
    chunks: int, real_battles: dict[str, list[BattleRecord]], venues: Venues, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = real_battles["gen1ou"][0]
    proxy = CuttingProxy(venues.server.port, chunks)

    async def play() -> BattleRecord:
        async with await asyncio.start_server(proxy, "127.0.0.1", 0) as between:
            port = between.sockets[0].getsockname()[1]
            monkeypatch.setattr(venues.server, "uri", f"ws://127.0.0.1:{port}/showdown/websocket")
            async with ServerVenue(venues.server, StepGuard(), PATIENT) as venue:
                return await venue.play(expected.fixture, 1)

    assert told(venues.runner.run(play())) == told(expected)
    assert proxy.cuts > 5


@pytest.mark.slow
def test_a_server_that_is_killed_is_nobodys_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    fixture = replace(fixtures("gen1randombattle", 1)[0], agents=("bad_agents:SleepsAsync", "random"))

    async def play() -> None:
        thinking = asyncio.Event()

        async def think(*_: Any) -> None:
            thinking.set()
            await asyncio.sleep(60)

        monkeypatch.setattr("bad_agents.SleepsAsync.act", think)
        server = await LocalServer.launch()
        async with server, ServerVenue(server, StepGuard(), PATIENT) as venue:
            playing = asyncio.ensure_future(venue.play(fixture, 1))
            await thinking.wait()
            os.kill(server.pid, signal.SIGKILL)
            with pytest.raises(ServerDied, match="status -9"):
                await playing
            with pytest.raises(ServerDied):
                await venue.play(fixture, 2)

    asyncio.run(play())


def test_what_the_server_refuses_is_said_in_its_words(venues: Venues) -> None:
    teams_of_gen1 = replace(fixtures("gen1ou", 1)[0], format="gen9ou")
    with pytest.raises(SimulatorCrashed, match="gen9ou: the server refused the battle: Your team was rejected"):
        venues.served([teams_of_gen1])


@pytest.mark.slow
def test_a_battle_in_which_showdown_throws_is_nobodys_loss_and_others_go_on(venues: Venues) -> None:
    fixture = fixtures("gen1randombattle", 1)[0]
    with pytest.raises(SimulatorCrashed, match="gen1randombattle, seed bogus,1: Error: Unrecognized RNG seed"):
        venues.served([replace(fixture, seed="bogus,1")])
    (record,) = venues.served([fixture])
    assert record.reason in ("win", "tie")
