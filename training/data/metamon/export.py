"""Stored battles as metamon's parsed replays: one file for each side, as its environment writes its own battles.

A file has metamon's state at every decision and at the end, and the number of each action. docs/replays.md says where a
state differs from metamon's own.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from itertools import repeat
from pathlib import Path

from arena.record import unpacked
from arena.store import connect
from teamsets.atomic import atomic_folder
from teamsets.errors import BadInput
from training.data.from_store import Candidate, StoredSide, sides
from training.data.metamon.files import SUFFIX, lz4_frame
from training.data.metamon.names import State
from training.data.metamon.states import UNKNOWN_ACTION, action_of, state_of
from training.data.pooled import pooled
from training.data.trajectory import decision_points

_AT_ONCE = 256
#: Characters of an agent's name in a file's name, whose length file systems limit.
_NAME_LENGTH = 60


def states_and_actions(side: StoredSide) -> tuple[list[State], list[int]]:
    """Return metamon's states and actions of a side: of each decision, then of the end, whose action is unknown.

    Empty if it has no decision besides that at team preview.
    """
    states, actions = [], []
    choices = (choice for source in (side.choices, repeat(None)) for choice in source)
    battle = None
    for battle, choice in zip(decision_points(side.seat, side.format, unpacked(side.log)), choices, strict=False):
        if not battle.last_request.get("teamPreview"):
            states.append(state_of(battle))
            actions.append(action_of(states[-1], choice))
    if battle is None or not states:
        return [], []
    end = state_of(battle) | {"battle_won": side.score == 1, "battle_lost": side.score == 0}
    return [*states, end], [*actions, UNKNOWN_ACTION]


def export(db: Path, chosen: list[Candidate], out: Path, *, replace: bool, workers: int | None = None) -> Counter[str]:
    """Write the files of sides, in a folder for each format. Returns the number of files by format; "left out" of others.

    workers: processes; None: one per core. Raises BadInput if the folder exists, BadData if lz4 is not installed.
    """
    lz4_frame()
    if out.exists() and not replace:
        raise BadInput(f"{out}: exists already: use --replace, or another --out")
    counted: Counter[str] = Counter()
    started = _dates(db)
    with atomic_folder(out, replace=replace) as work:
        for format_id in sorted({one.format for one in chosen}):
            (work / format_id).mkdir()
        batches = (sides(db, chosen[start : start + _AT_ONCE]) for start in range(0, len(chosen), _AT_ONCE))
        for format_id in _written(partial(_write, out=work, started=started), batches, workers):
            counted[format_id or "left out"] += 1
    return counted


def _written(write: partial[str], batches: Iterator[list[StoredSide]], workers: int | None) -> Iterator[str]:
    if workers == 1:
        return (write(side) for batch in batches for side in batch)
    return pooled(write, batches, workers)


def _dates(db: Path) -> dict[int, datetime]:
    with connect(db, read_only=True) as connection:
        return dict(connection.execute("SELECT battle_id, started FROM battles").fetchall())


def _write(side: StoredSide, out: Path, started: dict[int, datetime]) -> str:
    """Write a side's file. Returns its format, or "" if it has no decision."""
    states, actions = states_and_actions(side)
    if not states:
        return ""
    content = lz4_frame().compress(json.dumps({"states": states, "actions": actions}).encode())
    (out / side.format / file_name(side, started[side.about["battle"]])).write_bytes(content)
    return side.format


def file_name(side: StoredSide, started: datetime) -> str:
    """Return the name of a side's file. As in metamon's own, a tie is a LOSS; the last state tells them apart."""
    names = [re.sub("[^A-Za-z0-9]+", "-", side.about[who])[:_NAME_LENGTH].strip("-") for who in ("agent", "opponent")]
    if names[0] == names[1]:  # a mirror match: the files of both sides
        names = [
            f"{name}-{seat}" for name, seat in zip(names, (side.seat, "p2" if side.seat == "p1" else "p1"), strict=True)
        ]
    result = "WIN" if side.score == 1 else "LOSS"
    battle = f"arena-{side.format}-{side.about['battle']}"
    return f"{battle}_Unrated_{names[0]}_vs_{names[1]}_{started:%m-%d-%Y-%H:%M:%S}_{result}{SUFFIX}"
