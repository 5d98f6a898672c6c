"""What parity ranges of the generation-9 engine reached: uses of moves, runs of the handlers of all effects.

The engine counts in a library of its own, compiled with -DCOVERAGE (src/coverage.h). A handler *acts* where it returns a
value, writes a line or changes the battle or the move in use; an effect without handlers, where a rule that asks for it
finds it.
"""

from __future__ import annotations

import ctypes
import os

import gen9_teams
import numpy as np
from engine_ledger import Counts

from agents.engine.gen9 import played
from agents.engine.gen9.library import library
from agents.engine.gen9.teams import NUMBERS

#: How often each move should be used, and each ability and item act.
BAR = 500
FLAG = "-DCOVERAGE"
#: By number: kind and id.
EFFECTS = {number: (kind, id) for kind, ids in NUMBERS.items() for id, number in ids.items()}


#: What singles of the rings cannot reach, and why: a move, an ability, or one handler.
IMPOSSIBLE = {
    "healer": "heals its allies: of doubles",
    "confused": "a move of no Pokémon",
    "recharge": "a move of no Pokémon",
    "battlebond onModifyMove": "of Greninja-Ash",
    "mirrorcoat onRedirectTarget": "of doubles",
    "sapsipper onAllyTryHitSide": "no Grass move in the rings is for its user's side",
    "sturdy onTryHit": "no one-hit KO in the rings",
    **{
        f"{name} onTryAddVolatile": "no Yawn is played"
        for name in ("leafguard", "purifyingsalt", "insomnia", "vitalspirit", "electricterrain")
    },
    "flowerveil onAllyTryAddVolatile": "no Yawn is played",
    "oblivious onImmunity": "no Attract is played",
    "icebody onImmunity": "no Hail in this generation",
    "magnetrise onTry": "no Gravity, Smack Down or Ingrain is played",
    "magnetrise onImmunity": "what is on the ground is asked elsewhere (isGrounded)",
    "metronome onStart": "sets only what is 0",
    "healblock onRestart": "it does nothing for Psychic Noise",
    "saltcure onEnd": "it ends with its Pokémon alone",
    "ivycudgel onPrepareHit": "changes a line that is written already",
    "terablast onPrepareHit": "changes a line that is written already",
}


def compile_counting() -> None:
    """Makes this process load the library that counts. To be called before the engine's first use."""
    os.environ["CXXFLAGS"] = f"{os.environ.get('CXXFLAGS', '')} {FLAG}".strip()


def handlers() -> list[str]:
    """All handlers of the engine: "intimidate onStart"."""
    return sorted(f"{EFFECTS[effect][1]} {name}" for effect, names in played.handlers().items() for name in names)


def counts() -> Counts:
    """What was reached since the last call: kind -> id -> [runs, of these that acted]; handlers: "intimidate onStart"."""
    size = len(EFFECTS) + 1
    effects = np.zeros((size, 2), np.int64)
    runs = np.zeros((size, library().gen9_callbacks(), 2), np.int64)
    library().gen9_take_counts(effects.ctypes.data_as(ctypes.c_void_p), runs.ctypes.data_as(ctypes.c_void_p))
    found: Counts = {"handlers": {}}
    for effect, callback in np.argwhere(runs.any(axis=2)).tolist():
        found["handlers"][f"{EFFECTS[effect][1]} {played.callback_name(callback)}"] = runs[effect, callback].tolist()
    for number, (kind, id) in EFFECTS.items():
        if effects[number].any():
            found.setdefault(kind, {})[id] = effects[number].tolist()
    return found


def report(total: Counts) -> str:
    """The counts by kind, the least reached first, and by name what was never reached or too seldom."""
    return "\n\n".join(
        _kind(kind, total.get(kind, {})) for kind in ("moves", "abilities", "items", "conditions", "handlers")
    )


def is_idle(kind: str, name: str, acted: int) -> bool:
    """Whether an ability or item has no functions and no rule has asked for it, such as a Poké Ball. acted: how often."""
    return not acted and kind in ("abilities", "items") and not played.handlers().get(NUMBERS[kind][name])


def _kind(kind: str, counted: dict[str, list[int]]) -> str:
    if kind == "handlers":
        names = handlers()
    elif kind == "conditions":
        names = [id for id, number in NUMBERS[kind].items() if played.handlers().get(number)]
    else:
        names = list(gen9_teams.played()[kind])
    acted = {name: counted.get(name, [0, 0])[1] for name in names if not {name, name.split()[0]} & IMPOSSIBLE.keys()}
    order = sorted(acted, key=lambda name: acted[name])
    idle = [name for name in order if is_idle(kind, name, acted[name])]
    never = [name for name in order if not acted[name] and name not in idle]
    why = [f"{name}: {reason}" for name, reason in IMPOSSIBLE.items() if name in names]
    few = [f"{name} {acted[name]}" for name in order if 0 < acted[name] < BAR]
    lines = [
        f"{len(order)} {kind}: {len(order) - len(idle) - len(never) - len(few)} acted {BAR} times or more",
        f"never: {', '.join(never) or 'none'}",
        f"without a function, and no rule asked for them: {', '.join(idle) or 'none'}",
        f"impossible: {'; '.join(why) or 'none'}",
        f"under {BAR}: {', '.join(few) or 'none'}",
    ]
    if kind != "handlers":
        each = [f"{name} {acted[name]:,} ({counted.get(name, [0, 0])[0]:,})" for name in order]
        lines.append(f"all, as times acted (runs): {', '.join(each)}")
    return "\n".join(lines)
