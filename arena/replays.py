"""Replays a stored battle from its input log, and compares it with the stored logs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from arena.fixture import SEATS
from arena.record import unpacked
from arena.simulator.host import Host
from arena.store import frame, rows
from teamsets.errors import BadInput


@dataclass(frozen=True)
class StoredBattle:
    """A battle as the store has it. agents, logs: by seat ("p1", "p2"); logs without the requests."""

    battle_id: int
    format: str
    agents: dict[str, str]
    reason: str
    winner: str | None
    detail: str | None
    turns: int
    input_log: list[str]
    logs: dict[str, list[str]]


def stored_battle(db: Path, battle_id: int) -> StoredBattle:
    """The battle of that id. Raises BadInput when there is none."""
    found = frame("SELECT * FROM battles WHERE battle_id = ?", db, [battle_id])
    if found.empty:
        ((last,),) = rows("SELECT max(battle_id) FROM battles", db)
        known = "it is empty" if last is None else f"it has 1 to {last}"
        raise BadInput(f"battle {battle_id}: not in {db}: {known}")
    row = found.iloc[0]
    return StoredBattle(
        battle_id=battle_id,
        format=row["format"],
        agents={seat: row[seat] for seat in SEATS},
        reason=row["reason"],
        winner=row["winner"] if isinstance(row["winner"], str) else None,
        detail=row["detail"] if isinstance(row["detail"], str) else None,
        turns=int(row["turns"]),
        input_log=unpacked(bytes(row["input_log"])),
        logs={s: [x for x in unpacked(bytes(row[f"{s}_log"])) if not x.startswith("|request|")] for s in SEATS},
    )


@dataclass(frozen=True)
class Comparison:
    """How a second play differs from the first: the number of equal lines, and the first difference in words, if any."""

    lines: int
    difference: str | None


def play_again(battle: StoredBattle, *, stock: bool = False) -> Comparison:
    """Plays the battle from its input log and compares both sides' logs line by line.

    stock: on Showdown's code untouched. Raises BadInput for a battle that was never played out (its worker died), and for
    one on a server of other people.
    """
    if not battle.input_log and any(battle.logs.values()):
        raise BadInput(
            f"battle {battle.battle_id}: was played on a server that does not reveal its seed and the opponent's choices, "
            f"so it cannot be replayed: `arena watch {battle.battle_id}` shows our side of it"
        )
    if not battle.input_log:
        raise BadInput(
            f"battle {battle.battle_id}: its worker process died ({battle.reason}), so it has no input log to replay"
        )
    logs = asyncio.run(_replayed(battle.input_log, stock))
    for seat in SEATS:
        kept, again = battle.logs[seat], logs[seat]
        for number, (before, after) in enumerate(zip(kept, again, strict=False), 1):
            if before != after:
                return Comparison(number - 1, f"{seat}, line {number}: stored '{before}', replayed '{after}'")
        if len(kept) != len(again):
            return Comparison(min(len(kept), len(again)), f"{seat}: stored {len(kept)} lines, replayed {len(again)}")
    return Comparison(sum(map(len, battle.logs.values())), None)


async def _replayed(input_log: list[str], stock: bool) -> dict[str, list[str]]:
    # In generation 1 Showdown notes "fight" for whatever one chose who could not act, and takes it back only from some.
    input_log = [line[:4] + "move 1" if line[4:] == "move fight" else line for line in input_log]
    async with await Host.launch(stock=stock) as host:
        message = await host.ask({"op": "replay", "inputLog": input_log})
    return {seat: message[seat]["log"].split("\n") for seat in SEATS}
