"""Checks that a log's lines are complete and in order, as far as the log itself shows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from arena.replays.lines import CONDITION, NOT_BATTLE, Line

#: What can stand where a Pokémon's health is told: "100/100", "48.2/100 par", "0 fnt", with a colour in old logs.
_HEALTH = re.compile(r"(\d+(\.\d+)?(/\d+)?[gyr]?)( [a-z]+)*")
_ENDS = ("win", "tie")


def disorder(lines: Sequence[str]) -> str | None:
    """Return why the lines are not a complete battle in order, as a short reason; None if there is no contradiction.

    Empty lines, "|", mark where choices arrive. Without them a turn's choice cannot be distinguished from a forced switch,
    so a log with a turn that has none is refused.
    """
    turn, begun, ended, choices_came = 0, False, False, True
    for text in lines:
        line = Line.read(text)
        if text == "|":
            choices_came = True
        if line.kind in NOT_BATTLE or line.kind == "chat":
            continue
        if ended and line.role and not line.kind.startswith("-"):  # Showdown counts the hits behind the end
            return "lines out of order: the battle goes on behind its end"
        if line.kind == "start":
            begun = True
        elif line.kind == "turn":
            turn += 1
            if not begun or line.argument(0) != str(turn):
                return "lines out of order, or missing: the turns are not counted from 1"
            if turn > 1 and not choices_came:
                return "no empty lines (|) in the log, which say where choices came in"
            choices_came = False
        elif line.kind in _ENDS:
            ended = True
        elif line.kind in CONDITION and not _HEALTH.fullmatch(line.argument(CONDITION[line.kind])):
            if line.kind == "replace" and not line.argument(CONDITION["replace"]):
                continue  # Illusion's end: the health does not change
            return "health that cannot be read"
    return None
