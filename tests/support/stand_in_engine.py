"""Stands in for poke-engine in tests of our side of the pipe: reads a state's text, and likes what comes first.

Copied as `poke_engine.py` into a folder that looks like a build. Words in the environment make it fail in certain ways.
"""

from __future__ import annotations

import os
import time
from typing import Any


class State:
    def __init__(self, text: str) -> None:
        self.text = text

    @classmethod
    def from_string(cls, text: str) -> State:
        if text == "die":
            os._exit(7)
        if text == "panic":
            raise BaseException("called `Option::unwrap()` on a `None` value")
        print("poke-engine talks to stdout")
        return cls(text)

    def to_string(self) -> str:
        return self.text


def _options(side: str) -> list[Any]:
    fields = side.split("=")
    active = int(fields[6])
    mons = [text.split(",") for text in fields[:6]]
    moves = [move.split(";") for move in mons[active][22:26]]
    fainted = mons[active][6] == "0"
    names = [] if fainted or fields[22] == "true" else [m[0] for m in moves if m[1] == "false" and m[0] != "none"]
    if fields[26] == "false":
        names += [f"switch {mon[0]}" for slot, mon in enumerate(mons) if slot != active and mon[6] != "0"]
    return [(name, 4096 >> place, (4096 >> place) * 0.5, 1 / len(names)) for place, name in enumerate(names)]


def tree_search(
    text: str,
    ms: int,
    iterations: int,
    threads: int,
    exploration: float,
    first: float,
    weights: str | None,
    trust: float,
) -> tuple[list[Any], list[Any], int]:
    if os.environ.get("STAND_IN_ASKED"):
        open(os.environ["STAND_IN_ASKED"], "w").close()
    if os.environ.get("STAND_IN_SLEEPS"):
        time.sleep(float(os.environ["STAND_IN_SLEEPS"]))
    one, two = (_options(side) for side in State.from_string(text).text.split("/")[:2])
    return one, two, iterations or ms * 10
