"""A server that sends what cannot be read, or goes silent: `arena ladder` goes on or ends, and never waits for ever."""

from __future__ import annotations

import asyncio
import os
import random
import re
from dataclasses import replace

import pytest
from support.ladder_place import entrant, ladder
from support.scripted_server import ScriptedServer, Spoil, request
from support.sockets import against

from arena.remote.ladder import Ladder
from arena.remote.user_battle import ServerLimits, UserBattle
from arena.venues.server.client import Client, ConnectionLimits, ConnectionLost
from arena.venues.server.messages import BadMessage, format_of, request_of, searches

FUZZ = int(os.environ.get("ARENA_TEST_FUZZ", "12"))

#: The messages of a battle, each by what it starts with, and what may come in its place.
SPOILED = {
    "a binary message": (r"\|challstr", b"\x00\xff"),
    "a binary message when signed in": (r"\|updatesearch", b"|updatesearch|"),
    "a binary message in a battle": (r">battle[^\n]*\n\|turn\|2", b"\xff"),
    "a short updateuser": (r"\|updateuser", "|updateuser|"),
    "an updatesearch that is no JSON": (r"\|updatesearch", "|updatesearch|{"),
    "an updatesearch without games": (r"\|updatesearch", '|updatesearch|{"searching":[]}'),
    "an updatesearch of lists": (r"\|updatesearch", '|updatesearch|{"searching":"x","games":[1]}'),
    "a private message without words": (r"\|updatesearch", "|pm"),
    "a request that is no JSON": (r".*\n\|request", ">{room}\n|request|{"),
    "a request without a side": (r".*\n\|request", '>{room}\n|request|{"rqid":1}'),
    "a request without a number": (r".*\n\|request", '>{room}\n|request|{"side":{"id":"p1","pokemon":[]}}'),
    "a request whose Pokémon are none": (
        r".*\n\|request",
        '>{room}\n|request|{"rqid":1,"side":{"id":"p1","pokemon":[1]}}',
    ),
    "a request of another type": (r".*\n\|request", ">{room}\n|request|[]"),
    "a player line without a name": (r"[^\n]*\n\|init", ">{room}\n|init|battle\n|gametype|singles\n|player|p1"),
    "an end without a winner": (r".*\n\|turn\|3", ">{room}\n|win"),
    "a side condition without a side": (r".*\n\|turn\|2", ">{room}\n|-sidestart"),
}


#: The stand-in rates nobody.
LIMITS = ServerLimits(rating=0.0)


def spoiling(pattern: str, instead: str | bytes, connections: range) -> Spoil:
    """Sends something else in the place of the messages that match, on these connections."""

    def spoil(message: str, connection: int) -> str | bytes:
        if connection not in connections or not re.match(pattern, message):
            return message
        room = message.split("\n")[0][1:]
        return instead.replace("{room}", room) if isinstance(instead, str) else instead

    return spoil


def played(
    server: ScriptedServer,
    stops: int = 0,
    limits: ServerLimits = LIMITS,
    connection_limits: ConnectionLimits | None = None,
) -> UserBattle | None:
    """One battle on a server, as `arena ladder` plays it. stops: so many Ctrl-C, as soon as the battle is found."""
    found: list[UserBattle | None] = []

    async def play(uri: str) -> None:
        async with await Client.connect(uri, "someone", patience=5.0, limits=connection_limits) as client:
            one = ladder(client, limits=limits)
            await one.enter()
            stopping = asyncio.ensure_future(stopped(one, stops))
            found.append(await one.battle(entrant("random")))
            stopping.cancel()

    against(server, play)
    return found[0]


async def stopped(one: Ladder, stops: int) -> None:
    for _ in range(6000):
        if one.current is not None:
            break
        await asyncio.sleep(0.01)
    for _ in range(stops):
        one.stop()
        await asyncio.sleep(0.05)


def test_the_stand_in_plays_a_battle() -> None:
    battle = played(ScriptedServer())
    assert battle is not None
    record = battle.record()
    assert (record.winner, record.reason, record.turns) == ("p1", "win", 3)


@pytest.mark.parametrize("name", SPOILED)
def test_one_message_that_cannot_be_read_is_a_lost_connection(name: str) -> None:
    server = ScriptedServer(spoiling(*SPOILED[name], range(1, 2)))
    battle = played(server)
    assert battle is not None and battle.record().winner == "p1"
    assert server.connections == 2


@pytest.mark.parametrize(
    "name", [name for name in SPOILED if " battle" not in name and "winner" not in name and "condition" not in name]
)
def test_a_server_that_always_sends_them_ends_the_command(name: str) -> None:
    server = ScriptedServer(spoiling(*SPOILED[name], range(1, 100)))
    try:
        battle = played(server)
    except ConnectionLost as error:
        problem = str(error)
    else:
        assert battle is not None
        problem = str(battle.over.exception())
    assert re.search(
        r"the server sent a (malformed|binary) .*message, 3 times: it does not speak Showdown's pr", problem
    )
    assert server.connections == 3


def test_a_message_that_is_not_text_or_too_long_is_one_that_cannot_be_read() -> None:
    server = ScriptedServer(spoiling(r"\|updatesearch", "|updatesearch|" + "x" * 10_000, range(1, 100)))
    with pytest.raises(ConnectionLost, match="3 times: it does not speak"):
        played(server, connection_limits=ConnectionLimits(max_message_bytes=10_000))


@pytest.mark.parametrize("lines", ["|player|p1|someone|1|", "|player|p1|a|1|\n|player|p2|b|1|", "|title|x"])
def test_a_battle_that_does_not_begin_is_left_after_a_while(lines: str) -> None:
    begin = spoiling(
        r"[^\n]*\n\|init", f">battle-gen1randombattle-7\n|init|battle\n|gametype|singles\n{lines}", range(1, 100)
    )
    battle = played(ScriptedServer(begin, ends=False), limits=replace(LIMITS, begin=0.2))
    assert battle is not None and not battle.begun
    assert re.search("did not name both players within|is not one of its players", str(battle.over.exception()))


@pytest.mark.parametrize(("stops", "seconds"), [(2, 0.2), (3, 1000.0)])
def test_a_forfeit_that_the_server_does_not_answer_has_a_time_limit(stops: int, seconds: float) -> None:
    server = ScriptedServer(spoiling(r".*\n\|request", ">battle-gen1randombattle-7\n|", range(1, 100)), ends=False)
    battle = played(server, stops, replace(LIMITS, forfeit=seconds))
    assert battle is not None
    record = battle.record()
    assert (record.winner, record.reason, record.fault) == (None, "aborted", "venue")
    assert "/forfeit" in server.received


def test_a_failed_agents_forfeit_has_a_time_limit_too() -> None:
    server = ScriptedServer(ends=False)

    async def play(uri: str) -> None:
        async with await Client.connect(uri, "someone") as client:
            one = ladder(client, limits=replace(LIMITS, forfeit=0.2))
            battle = await one.battle(entrant("bad_agents:Raises"))
            assert battle is not None and battle.record().reason == "error"

    against(server, play)


def test_a_battle_in_which_the_server_goes_silent_is_forfeited_and_left() -> None:
    server = ScriptedServer(spoiling(r".*\n\|request", ">battle-gen1randombattle-7\n|", range(1, 100)))
    battle = played(server, limits=replace(LIMITS, silent=0.2))
    assert battle is not None and "said nothing for 0.2 s" in str(battle.over.exception())
    assert "/forfeit" in server.received


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FUZZ))
def test_random_damage_never_makes_it_wait(seed: int) -> None:
    """Any message may be cut, have a part replaced, or come as bytes."""
    limits = ServerLimits(begin=1.0, forfeit=1.0, silent=1.0, answer=1.0, rating=0.0)
    connection = ConnectionLimits(reconnect_seconds=2.0)
    random_numbers = random.Random(seed)

    def damage(message: str, connection: int) -> str | bytes:
        kind = random_numbers.choice(["", "", "", "", "cut", "bytes", "part", "doubled"])
        place = random_numbers.randrange(len(message) + 1)
        if kind == "cut":
            return message[:place]
        if kind == "bytes":
            return message.encode()[:place]
        if kind == "part":
            word = random_numbers.choice(["|", "\n", "{", "null", "\0", "\x1b[2J", "-1", '"', "9" * 40])
            return message[:place] + word + message[place + random_numbers.randrange(6) :]
        return message + "\n" + message if kind == "doubled" else message

    async def play(uri: str) -> None:
        try:
            async with await Client.connect(uri, "someone", patience=5.0, limits=connection) as client:
                one = ladder(client, limits=limits)
                await one.enter()
                search = asyncio.ensure_future(one.battle(entrant("random")))
                await asyncio.wait({search}, timeout=2.0)
                for _ in range(2):  # a search that the server has lost is ended by Ctrl-C
                    one.stop()
                await search  # `against` has a time limit
        except ConnectionLost:
            pass

    against(ScriptedServer(damage), play)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"searching":[1],"games":{}}', '{"searching":[],"games":[1]}', "null"]
)
def test_searches_that_are_none(text: str) -> None:
    with pytest.raises(BadMessage, match=r"malformed \|updatesearch\| message"):
        searches(text)


def test_what_is_well_formed_is_read() -> None:
    assert searches('{"searching":["gen1ou"],"games":{"battle-gen1ou-1":"x"}}') == (["gen1ou"], ["battle-gen1ou-1"])
    assert request_of("") is None and request_of("null") is None
    assert (request_of(request(3)) or {})["rqid"] == 3
    assert [format_of(room) for room in ("battle-gen1ou-7", "lobby", "x", "battle-")] == ["gen1ou", "", "", ""]
