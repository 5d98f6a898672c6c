"""A user on a server: signed in or refused in words, throttled, and lost when there is no way back."""

from __future__ import annotations

import asyncio

import pytest
from support.sockets import against
from websockets.asyncio.server import ServerConnection

from arena.venues.server.client import Client, ConnectionLimits, ConnectionLost, RateLimit
from arena.venues.server.translate import Translator


def test_a_name_that_the_server_refuses_is_said() -> None:
    async def refuse(socket: ServerConnection) -> None:
        await socket.send("|challstr|4|abc")
        assert await socket.recv() == "|/trn Some One,0,"
        await socket.send("|nametaken|Some One|Someone is already using the name")
        await socket.wait_closed()

    async def sign_in(uri: str) -> None:
        with pytest.raises(
            ConnectionLost, match=r"user name 'Some One' was refused: Someone is already using the name"
        ):
            await Client.connect(uri, "Some One")

    against(refuse, sign_in)


def test_a_server_that_is_not_there_is_given_up() -> None:
    limits = ConnectionLimits(reconnect_seconds=0.3)
    with pytest.raises(ConnectionLost, match=r"ws://127.0.0.1:9/showdown/websocket: no connection for 0.3 s: .*failed"):
        asyncio.run(Client.connect("ws://127.0.0.1:9/showdown/websocket", "someone", limits=limits))


def test_no_more_is_said_than_the_pace_allows() -> None:
    heard: list[float] = []
    enough = asyncio.Event()

    async def listen(socket: ServerConnection) -> None:
        async for _ in socket:
            heard.append(asyncio.get_running_loop().time())
            if len(heard) == 1:
                await socket.send("|updateuser| someone|1|102|{}")
            if len(heard) == 7:
                enough.set()

    async def talk(uri: str) -> None:
        async with await Client.connect(uri, "someone", rate_limit=RateLimit(2, 0.5)) as client:
            for number in range(6):
                client.say(f"/message {number}")
            await enough.wait()

    against(listen, talk)
    # Two messages in half a second: of seven, the last cannot come before the fourth half has begun.
    assert heard[-1] - heard[0] > 1.4
    assert heard == sorted(heard)


SAID = """
|init|battle
|title|A vs. B
|j|☆A
|player|p1|A|102|
|t:|1700000000
|gametype|singles
|player|p1|A|102|1200
|player|p2|B|7|
|player|p1|
|player|p1|A|102|
|gen|9
|c|☆B|good luck |turn|5
|inactive|Battle timer is ON
|
|turn|1
|-sidestart|p2: B|move: Spikes
|bigerror|You will auto-tie if the battle doesn't end in 500 turns (on turn 1000).
|raw|<b>hello</b>
|-message|A forfeited.
|win|B
|l|☆A"""


def test_what_only_a_server_says_is_left_out_and_users_are_seats() -> None:
    translator = Translator()
    assert [told for line in SAID.splitlines() if (told := translator.line(line)) is not None] == [
        "|gametype|singles",
        "|player|p1|p1||",
        "|player|p2|p2||",
        "|gen|9",
        "|",
        "|turn|1",
        "|-sidestart|p2: p2|move: Spikes",
        "|bigerror|You will auto-tie if the battle doesn't end in 500 turns (on turn 1000).",
        "|win|p2",
    ]


def test_a_request_loses_the_servers_number_and_the_users_name() -> None:
    request = {"active": [], "side": {"name": "A", "id": "p1", "pokemon": []}, "rqid": 7}
    assert Translator().request(request) == 7
    assert request == {"active": [], "side": {"name": "p1", "id": "p1", "pokemon": []}}


def test_messages_are_taken_apart_by_room() -> None:
    rooms: dict[str, list[list[str]]] = {}
    challenges: list[tuple[str, str]] = []
    popups: list[str] = []
    said = asyncio.Event()

    class Listening:
        def __init__(self, room: str) -> None:
            self.record_result = rooms.setdefault(room, [])

        def receive(self, lines: list[str]) -> None:
            self.record_result.append(lines)

    async def speak(socket: ServerConnection) -> None:
        await socket.recv()
        await socket.send("|updateuser| someone|1|102|{}")
        await socket.recv()
        for message in (
            "|pm|~Rival|someone|/challenge gen1ou|gen1ou|||",
            "|pm|someone|~Rival|/challenge gen4ou|gen4ou|||",  # our own, echoed
            "|pm|~Rival|someone|/challenge",  # taken back
            ">battle-gen1ou-1\n|turn|1",  # not from its beginning: not ours
            ">battle-gen1ou-1\n|init|battle\n|title|x",
            ">battle-gen1ou-1\n|turn|2\n|upkeep",
            "|popup|Your team was rejected:||||- because",
        ):
            await socket.send(message)
        await socket.wait_closed()

    async def hear(uri: str) -> None:
        async with await Client.connect(uri, "someone") as client:
            client.on_battle = Listening
            client.on_challenge = lambda user, format_id: challenges.append((user, format_id))
            client.on_refusal = lambda words: (popups.append(words), said.set())
            client.say("/go")
            await said.wait()

    against(speak, hear)
    assert rooms == {"battle-gen1ou-1": [["|init|battle", "|title|x"], ["|turn|2", "|upkeep"]]}
    assert challenges == [("rival", "gen1ou")]
    assert popups == ["Your team was rejected: - because"]
