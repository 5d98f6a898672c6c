"""A stand-in for a Showdown server that plays a battle of three turns, and whose messages a test may spoil."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from websockets.asyncio.server import ServerConnection

ROOM = "battle-gen1randombattle-7"
#: From a message and the number of its connection, from 1: what is sent in its place.
Spoil = Callable[[str, int], str | bytes]


def request(number: int) -> str:
    """A request of the battle."""
    move = {"move": "Body Slam", "id": "bodyslam", "pp": 24, "maxpp": 24, "target": "normal", "disabled": False}
    pokemon = {
        "ident": "p1: Tauros",
        "details": "Tauros, L68",
        "condition": "250/250",
        "active": True,
        "stats": {"atk": 190, "def": 180, "spa": 140, "spd": 140, "spe": 200},
        "moves": ["bodyslam"],
        "baseAbility": "noability",
        "item": "",
        "pokeball": "pokeball",
    }
    side = {"name": "someone", "id": "p1", "pokemon": [pokemon]}
    return json.dumps({"active": [{"moves": [move]}], "side": side, "rqid": number})


@dataclass
class ScriptedServer:
    """Answers one user. spoil: of each message. ends: whether a forfeit ends the battle. received: from the user."""

    spoil: Spoil = lambda message, connection: message
    ends: bool = True
    connections: int = 0
    received: list[str] = field(default_factory=list)
    _log: list[str] = field(default_factory=list)
    _turn: int = 0
    _over: bool = False

    async def __call__(self, socket: ServerConnection) -> None:
        self.connections += 1
        number = self.connections

        async def send(message: str) -> None:
            await socket.send(self.spoil(message, number))

        await send("|challstr|4|abc")
        async for frame in socket:
            room, _, text = str(frame).partition("|")
            self.received.append(text)
            for message in self._answers(room, text):
                await send(message)

    def _answers(self, room: str, text: str) -> list[str]:
        command = text.split(" ")[0]
        playing = self._turn > 0 and not self._over
        if command == "/trn":
            return ["|updateuser| someone|1|102|{}"]
        if command == "/cancelsearch":
            return ['|updatesearch|{"searching":[],"games":' + (f'{{"{ROOM}":"x"}}' if playing else "null") + "}"]
        if command == "/search":
            self._log, self._turn, self._over = [], 1, False
            self._log = [*self._beginning(), "|turn|1"]
            return ['|updatesearch|{"searching":["gen1randombattle"],"games":null}', *self._room()]
        if command == "/join":
            return self._room()
        if command == "/choose" and playing:
            self._turn += 1
            self._log.append(f"|turn|{self._turn}" if self._turn < 4 else self._end("someone"))
            return [f">{ROOM}\n{self._log[-1]}", *self._request()]
        if command == "/forfeit" and playing and self.ends:
            self._log.append(self._end("rival"))
            return [f">{ROOM}\n{self._log[-1]}"]
        return []

    def _end(self, winner: str) -> str:
        self._over = True
        return f"|win|{winner}"

    def _beginning(self) -> list[str]:
        return [
            "|t:|1700000000",
            "|gametype|singles",
            "|player|p1|someone|102|",
            "|player|p2|rival|7|",
            "|teamsize|p1|1",
            "|teamsize|p2|1",
            "|gen|1",
            "|tier|[Gen 1] Random Battle",
            "|start",
            "|switch|p1a: Tauros|Tauros, L68|250/250",
            "|switch|p2a: Starmie|Starmie, L68|100/100",
        ]

    def _room(self) -> list[str]:
        whole = "\n".join([f">{ROOM}", "|init|battle", "|title|someone vs. rival", "|j|☆someone", *self._log])
        return [whole, *self._request()]

    def _request(self) -> list[str]:
        return [] if self._over else [f">{ROOM}\n|request|{request(self._turn)}"]
