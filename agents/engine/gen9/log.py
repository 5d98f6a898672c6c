"""Showdown's protocol lines of a battle of the engine: what a BattleStream writes, of which each seat reads its own part."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from agents.engine.gen9.layout import ROW
from agents.engine.gen9.library import address, library
from agents.engine.gen9.played import DATA
from agents.engine.gen9.teams import nickname, shown_details

TEAM = 6
_TEXT_BYTES = 1 << 16


class _Names(ctypes.Structure):
    """Names of src/log.h."""

    _fields_ = (
        ("players", ctypes.c_char_p * 2),
        ("pokemon", ctypes.c_char_p * (2 * TEAM)),
        ("shiny", ctypes.c_int32 * (2 * TEAM)),
    )


class BattleLog:
    """The lines of one row's battle: of its start with the team preview, then of each step.

    players: their names. Without Showdown's |t:|, which has the time of day.
    """

    def __init__(self, teams: tuple[str, str], players: Sequence[str] = ("p1", "p2")) -> None:
        self.players = tuple(players)
        self.lines: list[str] = []
        self._names = _Names()
        self._text = ctypes.create_string_buffer(_TEXT_BYTES)
        for seat, packed in enumerate(teams):
            self._names.players[seat] = self.players[seat].encode()
            for place, member in enumerate(packed.split("]")):
                fields = member.split("|")
                self._names.pokemon[TEAM * seat + place] = nickname(fields[0], fields[1]).encode()
                self._names.shiny[TEAM * seat + place] = fields[9] == "S"

    def play(self, words: NDArray[np.int32], actions: NDArray[np.int32] | None = None) -> None:
        """Start the battle of `words` [WORDS], or step it by actions [2, slots]; adds its lines."""
        played = library().gen9_play_logged
        played.restype = ctypes.c_int64
        at = address(words)
        chosen = None if actions is None else address(np.ascontiguousarray(actions, np.int32))
        length = played(at, chosen, ctypes.byref(self._names), self._text, ctypes.c_int64(_TEXT_BYTES))
        if length < 0:
            raise AssertionError("a step wrote more lines than src/log.h has place for")
        if actions is None:
            self.lines += opening(words, self.players)
        self.lines += ctypes.string_at(self._text, length).decode().split("\n")[:-1]

    def take(self) -> list[str]:
        """The lines since the last call."""
        taken, self.lines = self.lines, []
        return taken


def opening(words: NDArray[np.int32], players: Sequence[str]) -> Iterator[str]:
    """The lines up to the team preview, of a battle's words [WORDS] (Engine.previewed)."""
    yield "|gametype|singles"
    for seat, player in enumerate(players):
        yield f"|player|p{seat + 1}|{player}||"
    yield from DATA["rules"]
    yield "|clearpoke"
    for seat, side in enumerate(words.view(ROW)[0]["sides"]):
        for mon in side["pokemon"][: side["size"]]:
            shown = shown_details(mon, DATA["species"][mon["setSpecies"]]["preview"])
            yield f"|poke|p{seat + 1}|{shown}|"
    yield "|teampreview"


def for_seat(lines: Sequence[str], seat: int | None) -> list[str]:
    """The lines as a seat reads them (None: a spectator): of what is split, its own side's or the others' version."""
    read: list[str] = []
    remaining = iter(lines)
    for line in remaining:
        if not line.startswith("|split|"):
            read.append(line)
            continue
        secret, public = next(remaining), next(remaining)
        read.append(secret if line == f"|split|p{(seat or 0) + 1}" and seat is not None else public)
    return [line for line in read if line]
