"""What the generation-9 engine plays: what has a handler for each function that Showdown's data has for it.

gen9.json lists those functions and the conditions that each effect sets; the library lists its handlers.
"""

from __future__ import annotations

import ctypes
import functools
import json
from pathlib import Path
from typing import Any

from agents.engine.gen9.library import library

DATA: dict[str, Any] = json.loads((Path(__file__).parent / "gen9.json").read_text())
#: Functions of Showdown's data that need no handler, and why. "*": of every id of that kind. Only what Showdown calls by
#: itself may stand here: where several handlers of an event are put in order, one that does nothing may still cause a draw,
#: and is a handler (`nothing` in battle.h).
NEEDLESS = {
    "does nothing": tuple(
        f"items.{name}berry onEat"
        for name in (
            *("babiri", "charti", "chople", "coba", "colbur", "custap", "haban", "kasib", "kebia", "occa", "passho"),
            *("payapa", "rindo", "roseli", "shuca", "tanga", "wacan", "yache"),
        )
    ),
    "sets only what is 0 here": ("conditions.mirrorcoat onStart",),
    "not in this generation: Mega Evolution, Dynamax, Greninja-Ash": (
        "items.ejectpack onAnyAfterMega",
        "items.whiteherb onAnyAfterMega",
        "moves.grassknot onTryHit",
        "moves.heatcrash onTryHit",
        "moves.heavyslam onTryHit",
        "moves.lowkick onTryHit",
        "moves.watershuriken basePowerCallback",
    ),
    "what it asks for is not in this generation: Persistent": ("conditions.trickroom durationCallback",),
    "not in singles": (
        "abilities.* onAnyRedirectTarget",
        "abilities.* onSwap",
        "abilities.naturalcure onCheckShow",
        "conditions.* onSwap",
    ),
}
_PARTS = {"self.onHit": "onSelfHit", "secondary.onHit": "onSecondaryHit"}
_PREFIXES = ("on", "onAlly", "onFoe", "onAny", "onSource")


def callback_name(callback: int) -> str:
    """Showdown's name of a callback by the engine's number: onHit, onFoeModifyAtk, basePowerCallback."""
    library().gen9_event.restype = ctypes.c_char_p
    event: str = library().gen9_event(callback // len(_PREFIXES)).decode()
    if event.endswith("Callback"):
        return event[0].lower() + event[1:]
    return _PREFIXES[callback % len(_PREFIXES)] + event


@functools.cache
def handlers() -> dict[int, dict[str, list[int]]]:
    """The callbacks, by Showdown's names, for which an effect (its number) has a handler: [order, priority, subOrder]."""
    lib = library()
    words = (ctypes.c_int32 * (5 * lib.gen9_handlers(None)))()
    lib.gen9_handlers(words)
    found: dict[int, dict[str, list[int]]] = {}
    for n in range(0, len(words), 5):
        found.setdefault(words[n], {})[callback_name(words[n + 1])] = list(words[n + 2 : n + 5])
    return found


def misordered() -> dict[str, list[int]]:
    """The handlers whose order, priority or subOrder is not Showdown's, with Showdown's: empty."""
    wrong = {}
    for kind, numbers in DATA["numbers"].items():
        for id, number in numbers.items():
            for callback, order in handlers().get(number, {}).items():
                expected = DATA["orders"][kind].get(id, {}).get(callback, [0, 0, 0])
                if order != expected:
                    wrong[f"{kind}.{id} {callback}"] = expected
    return wrong


@functools.cache
def _needless() -> frozenset[str]:
    return frozenset(entry for entries in NEEDLESS.values() for entry in entries)


def missing(kind: str, id: str) -> list[str]:
    """The functions of Showdown's that an effect lacks here: its own and those of the conditions that it sets."""
    lacking, seen, left = [], set(), [(kind, id)]
    while left:
        kind, id = left.pop()
        if (kind, id) in seen:
            continue
        seen.add((kind, id))
        have = handlers().get(DATA["numbers"][kind][id], {})
        for function in DATA["functions"][kind].get(id, ()):
            needed = not {f"{kind}.{id} {function}", f"{kind}.* {function}"} & _needless()
            if needed and _PARTS.get(function, function) not in have:
                lacking.append(f"{kind}.{id} {function}")
        left += [("conditions", condition) for condition in DATA["conditions"][kind].get(id, ())]
    return lacking


@functools.cache
def plays(kind: str, id: str) -> bool:
    """Whether an ability, item or move, by Showdown's id, is played."""
    known = DATA["pp"] if kind == "moves" else DATA["numbers"][kind]
    return id in known and not missing(kind, id)


def main() -> None:
    """Prints what is not played, and why."""
    for kind in ("abilities", "items", "moves"):
        known = DATA["pp"] if kind == "moves" else DATA["numbers"][kind]
        refused = {id: missing(kind, id) for id in known if missing(kind, id)}
        print(f"{kind}: {len(known) - len(refused)} of {len(known)} are played")
        for id, lacking in refused.items():
            print(f"  {id}: {', '.join(lacking)}")


if __name__ == "__main__":
    main()
