"""Reconstructs both players' points of view from a public battle, in the format of the store's side logs.

A side's log is what its websocket would have brought it: the protocol lines, its own health exact, the other's in percent,
and at every moment at which it was asked a request. What the public log does not hold of its own team is drawn once for
the whole battle (`completing`); what it shows of the other side stays where it is in the log.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from arena.fixture import SEATS
from arena.replays.completing import Completed, complete
from arena.replays.decisions import Ask, find_asks
from arena.replays.doubles.decisions import DoublesAsk, find_doubles_asks
from arena.replays.doubles.requests import ask_side
from arena.replays.doubles.sheets import sheet_teams
from arena.replays.doubles.side import DoubleSide
from arena.replays.lines import CONDITION, NOT_BATTLE, Line
from arena.replays.own_side import OwnSide, shared
from arena.replays.reading import PublicBattle, UnusableReplay
from arena.replays.requests import answer, request
from arena.replays.revealed import revealed
from teamsets.formats import get_format

AnySide = OwnSide | DoubleSide
AnyAsk = Ask | DoublesAsk


@dataclass(frozen=True)
class SideLog:
    """One player's battle, as the store keeps a seat's.

    role: "p1" or "p2". lines: the protocol lines that this side received, `|request|JSON` where it had to choose.
    choices: for each of those requests the words of the answer ("move surf", "switch snorlax"), None where it was not
    revealed. team: the whole own team, as revealed and completed; a member that was never shown has `shown` False.
    """

    role: str
    format_id: str
    lines: list[str]
    choices: list[str | None]
    team: tuple[Completed, ...]


def reconstruct(battle: PublicBattle, seed: int = 0) -> tuple[SideLog, SideLog]:
    """Return the points of view of p1 and p2. seed: for sampling hidden sets.

    Raises UnusableReplay if the log does not identify the Pokémon.
    """
    lines = [Line.read(text) for text in battle.lines]
    lines = [line for line in lines if line.kind not in NOT_BATTLE or line.text == "|"]
    if get_format(battle.format_id).doubles:
        return _reconstruct_doubles(battle, lines, seed)
    known = revealed(battle, lines)
    sizes = {role: _size(lines, role, len(known[role])) for role in SEATS}
    sides = {}
    for role in SEATS:
        if not known[role]:
            raise UnusableReplay("ended before a Pokémon was sent out")
        rng = random.Random(f"{battle.id}:{role}:{seed}")
        members = complete(known[role], sizes[role], role, battle.format_id, battle.gen, rng)
        sides[role] = OwnSide.of(role, battle.gen, members)
    writer = _Writer(battle, lines, sides, find_asks(lines), _ask_singles)
    writer.write()
    return writer.side_log("p1"), writer.side_log("p2")


def _reconstruct_doubles(battle: PublicBattle, lines: list[Line], seed: int) -> tuple[SideLog, SideLog]:
    teams = sheet_teams(lines, battle.format_id, battle.gen, (battle.id, seed))
    champions = "champions" in battle.format_id
    sides = {role: DoubleSide.of(role, battle.gen, team, champions=champions) for role, team in teams.items()}
    brought = next((int(line.argument(0)) for line in lines if line.kind == "teampreview" and line.argument(0)), 0)
    rng = random.Random(f"{battle.id}:{seed}")

    def ask_doubles(side: DoubleSide, ask: DoublesAsk, tera_left: bool) -> tuple[dict[str, Any], str | None]:
        return ask_side(side, ask, tera_left, brought or len(side.team), rng)

    writer = _Writer(battle, lines, sides, find_doubles_asks(lines), ask_doubles)
    writer.write()
    return writer.side_log("p1"), writer.side_log("p2")


def _ask_singles(side: OwnSide, ask: Ask, tera_left: bool) -> tuple[dict[str, Any], str | None]:
    """The request at an ask, and the label of the choice."""
    sent = request(side, ask, tera_left)
    chosen = answer(sent, side, ask)
    if ask.kind == "team" and ask.evidence.kind == "switch":
        side.lead(ask.evidence.name)
    return sent, chosen


def _size(lines: list[Line], role: str, shown: int) -> int:
    sizes = (line.argument(1) for line in lines if line.kind == "teamsize" and line.argument(0) == role)
    return max(int(next((size for size in sizes if size.isdigit()), 6)), shown)


class _Writer:
    """Goes through the log once, with both sides, and writes both points of view."""

    def __init__(
        self,
        battle: PublicBattle,
        lines: list[Line],
        sides: Mapping[str, AnySide],
        asks: Sequence[AnyAsk],
        ask: Callable[[Any, Any, bool], tuple[dict[str, Any], str | None]],
    ) -> None:
        self._battle, self._lines, self._sides, self._asks, self._ask_side = battle, lines, sides, asks, ask
        self._teams = {role: tuple(own.member for own in side.team) for role, side in sides.items()}
        self._out: dict[str, list[str]] = {role: [] for role in SEATS}
        self._choices: dict[str, list[str | None]] = {role: [] for role in SEATS}
        self._tera_left = dict.fromkeys(SEATS, True)

    def write(self) -> None:
        """Write both logs."""
        asks: dict[int, list[AnyAsk]] = defaultdict(list)
        for ask in self._asks:
            asks[ask.at].append(ask)
        for index, line in enumerate(self._lines):
            for ask in asks[index]:
                self._ask(ask)
            self._take(line)
        for ask in asks[len(self._lines)]:
            self._ask(ask)

    def side_log(self, role: str) -> SideLog:
        """Return the log of a side."""
        return SideLog(role, self._battle.format_id, self._out[role], self._choices[role], self._teams[role])

    def _ask(self, ask: AnyAsk) -> None:
        sent, chosen = self._ask_side(self._sides[ask.role], ask, self._tera_left[ask.role])
        self._out[ask.role].append("|request|" + orjson.dumps(sent).decode())
        self._choices[ask.role].append(chosen)

    def _take(self, line: Line) -> None:
        if line.kind == "-terastallize" and line.role in self._tera_left:
            self._tera_left[line.role] = False
        p1: Any = self._sides["p1"]
        p2: Any = self._sides["p2"]
        p1.take(line, p2)
        p2.take(line, p1)
        text = self._anonymous(line)
        if text is None:
            return
        for role, side in self._sides.items():
            if line.role == role:
                self._out[role].append(side.health(line))
            else:
                self._out[role].append(_in_percent(line) if line.kind in CONDITION else text)

    def _anonymous(self, line: Line) -> str | None:
        """The line with the sides called p1 and p2, as in the store; None for one that the store does not have."""
        if line.kind == "player":
            return (
                f"|player|{line.argument(0)}|{line.argument(0)}||"
                if line.argument(1) and not self._named(line)
                else None
            )
        if line.kind == "win":
            return f"|win|{self._battle.winner}"
        if line.kind in ("-sidestart", "-sideend"):
            side = line.argument(0)[:2]
            return line.text.replace(f"|{line.argument(0)}|", f"|{side}: {side}|", 1)
        return line.text

    def _named(self, line: Line) -> bool:
        return f"|player|{line.argument(0)}|{line.argument(0)}||" in self._out["p1"]


def _in_percent(line: Line) -> str:
    """The line as the other side gets it: exact health of old logs in percent."""
    place = CONDITION[line.kind]
    health, space, status = line.argument(place).partition(" ")
    now, _, most = health.partition("/")
    if not most.isdigit() or int(most) in (0, 100) or not now.isdigit():
        return line.text
    parts = line.text.split("|")
    parts[place + 2] = shared(int(now), int(most)) + space + status
    return "|".join(parts)
