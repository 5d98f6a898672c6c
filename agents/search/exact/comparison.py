"""Played battles beside the engine: at each request of a seat, the engine's own row and the row that the search starts from."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from agents.battle import SeatBattle
from agents.choices import Choice
from agents.engine import layout
from agents.engine.engine import Engine
from agents.search.exact.log import Log
from agents.search.exact.row import Sheet, action_of, mask_of, root_of

Words = NDArray[np.int32]


@dataclass(frozen=True)
class Position:
    """One request of one seat. true: the engine's row. built: the row from the seat's log and the opponent's true team.

    choice: what the seat then chose, as an action of the engine. legal: its legal actions by the request, as bits.
    """

    seat: int
    battle: SeatBattle
    log: Log
    true: Words
    built: Words
    choice: int
    legal: int


class _Seat:
    """One side's log, read up to a point that both logs have in common."""

    def __init__(self, seat: int, log: list[str], choices: list[str], format_id: str) -> None:
        role = f"p{seat + 1}"
        self.seat = seat
        self.battle = SeatBattle(f"battle-{format_id}-1", role, role, 1, format_id, random.Random(0))
        self.log = Log()
        self.lines: list[str] = []
        self.requests: dict[int, dict[str, Any]] = {}
        for line in log:
            if line.startswith("|request|"):
                self.requests[len(self.lines)] = orjson.loads(line[9:])
            elif not line.startswith(("|error|", "|bigerror|")):
                self.lines.append(line)
        self.choices = dict(zip(sorted(self.requests), choices, strict=False))
        self._read = 0

    def read(self, until: int) -> bool:
        """Reads up to a line; whether it must choose there."""
        self.battle.feed(self.lines[self._read : until])
        self._read = until
        request = self.requests.get(until)
        if request is not None:
            self.battle.ask(request)
        self.log.follow(self.battle)
        return request is not None and until in self.choices

    def chosen(self, until: int) -> Choice:
        return next(choice for choice in self.battle.legal if choice.words == self.choices[until])


def told(log: Log, seat: int, battle: SeatBattle, choice: Choice) -> None:
    """Tells a log of its seat's own choice."""
    if choice.kind == "move":
        log.chose(seat, battle.last_request["active"][0]["moves"][choice.slot - 1]["id"])


def sheets(packed: str) -> list[Sheet]:
    """A packed team as the opponent's known one."""
    found = []
    for member in packed.split("]"):
        fields = member.split("|") + [""] * 12
        ids = [
            "".join(c for c in part.lower() if c.isalnum()) for part in (fields[1] or fields[0], *fields[4].split(","))
        ]
        found.append(Sheet(fields[0] or fields[1], ids[0], int(fields[10] or 100), tuple(ids[1:]), fields[6], fields[8]))
    return found


def walk(
    logs: tuple[list[str], list[str]],
    choices: tuple[list[str], list[str]],
    teams: tuple[str, str],
    seed: str,
    format_id: str,
) -> Iterator[Sequence[Position]]:
    """Yields the positions (of one seat or both) at each point of a battle where somebody chose, played on the engine.

    logs: both sides', requests included. choices: both sides' labels ("move tackle"), one per request.
    """
    engine = Engine(1, format_id)
    engine.reset([teams], [seed])
    seats = [_Seat(i, logs[i], choices[i], format_id) for i in range(2)]
    for point in sorted(seats[0].requests.keys() | seats[1].requests.keys()):
        asked = [seat for seat in seats if seat.read(point)]
        found, actions = [], np.zeros((1, 2), np.int32)
        for seat in asked:
            choice = seat.chosen(point)
            root = root_of(seat.battle, seat.log, sheets(teams[1 - seat.seat]), random.Random(0))
            actions[0, seat.seat] = action_of(choice)
            found.append(
                Position(
                    seat.seat, seat.battle, seat.log, engine.words[0].copy(), root.words, action_of(choice), mask_of(seat.battle)
                )
            )
            told(seat.log, seat.seat, seat.battle, choice)
        if not found or engine.words[0, layout.WINNER] != layout.UNDECIDED:
            return
        yield found
        engine.step(actions)
