"""Replays a stored battle from its input log, and compares it with what is stored; makes logs that are not stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from arena.fixture import SEATS
from arena.record import DamagedLog, compressed, unpacked
from arena.store import frame, rows
from arena.venues.simulator.replaying import BattleReplay, difference, differing_line, replay_all, without_requests
from teamsets.errors import ArenaError, BadInput


class StoredDecision(NamedTuple):
    """A decision as the store has it."""

    turn: int
    legal: list[str]
    choice: str


@dataclass(frozen=True)
class StoredBattle:
    """A battle as the store has it. agents, logs, decisions: by seat ("p1", "p2"); logs without the requests.

    started: Unix time in seconds. venue: where it was played; None: not noted. has_logs: whether logs are stored; if not,
    they were made by Showdown.
    """

    battle_id: int
    format: str
    agents: dict[str, str]
    reason: str
    winner: str | None
    detail: str | None
    turns: int
    started: int
    input_log: list[str]
    logs: dict[str, list[str]]
    venue: str | None
    has_logs: bool
    decisions: dict[str, list[StoredDecision]]


def stored_battle(db: Path, battle_id: int) -> StoredBattle:
    """The battle of that id. Raises BadInput when there is none."""
    matches = frame("SELECT * FROM battles WHERE battle_id = ?", db, [battle_id])
    if matches.empty:
        ((last,),) = rows("SELECT max(battle_id) FROM battles", db)
        known = "it is empty" if last is None else f"it has 1 to {last}"
        raise BadInput(f"battle {battle_id}: not in {db}: {known}")
    row = matches.iloc[0]
    packed = PackedLogs(battle_id, *(bytes(row[column]) for column in ("input_log", "p1_log", "p2_log")))
    try:
        (full,) = with_logs([packed])
        logs, input_log = {"p1": unpacked(full.p1_log), "p2": unpacked(full.p2_log)}, unpacked(packed.input_log)
    except DamagedLog as error:
        raise BadInput(f"battle {battle_id}: {error}: name another one") from None
    decisions: dict[str, list[StoredDecision]] = {seat: [] for seat in SEATS}
    query = "SELECT seat, turn, legal, choice FROM decisions WHERE battle_id = ? ORDER BY seat, index"
    for seat, *decision in rows(query, db, [battle_id]):
        decisions[seat].append(StoredDecision(*decision))
    return StoredBattle(
        battle_id=battle_id,
        format=row["format"],
        agents={seat: row[seat] for seat in SEATS},
        reason=row["reason"],
        winner=row["winner"] if isinstance(row["winner"], str) else None,
        detail=row["detail"] if isinstance(row["detail"], str) else None,
        turns=int(row["turns"]),
        started=int(row["started"].timestamp()),
        input_log=input_log,
        logs={seat: without_requests(logs[seat]) for seat in SEATS},
        venue=row["venue"] if isinstance(row["venue"], str) else None,
        has_logs=not packed.without_logs,
        decisions=decisions,
    )


class PackedLogs(NamedTuple):
    """A battle's logs as the store has them (columns of the table `battles`)."""

    battle_id: int
    input_log: bytes
    p1_log: bytes
    p2_log: bytes

    @property
    def without_logs(self) -> bool:
        """Whether neither side's log is stored."""
        return not unpacked(self.p1_log) and not unpacked(self.p2_log)


def with_logs(battles: Sequence[PackedLogs]) -> list[PackedLogs]:
    """The battles, with both sides' logs, requests included: Showdown makes those that are not stored from the input log.

    They stay empty for a battle without an input log. Raises BadInput for a battle that cannot be replayed, MissingTool
    without Node.js.
    """
    complete = list(battles)
    lacking = [n for n, battle in enumerate(complete) if battle.without_logs and unpacked(battle.input_log)]
    if lacking:
        for n, replay in zip(lacking, replay_all([unpacked(complete[n].input_log) for n in lacking]), strict=True):
            if isinstance(replay, ArenaError):
                raise BadInput(f"battle {complete[n].battle_id}: its logs cannot be made from its input log: {replay}")
            first, second = map(compressed, replay.logs)
            complete[n] = complete[n]._replace(p1_log=first, p2_log=second)
    return complete


@dataclass(frozen=True)
class ReplayComparison:
    """How a second play differs from the first: the number of equal things, and the first difference, described, if any.

    lines: of both sides' logs, or, without logs, their decisions.
    """

    lines: int
    difference: str | None


def replay_battle(battle: StoredBattle, *, stock: bool = False) -> ReplayComparison:
    """Plays the battle from its input log and compares both sides' logs line by line.

    Without stored logs it compares winner, turns, input log, and the legal choices at each decision.
    stock: on Showdown's code untouched. Raises BadInput for a battle without an input log (it was not played
    to its end), and for one on a server of other people.
    """
    if not battle.input_log and any(battle.logs.values()):
        raise BadInput(
            f"battle {battle.battle_id}: was played on a server that does not reveal its seed and the opponent's choices, "
            f"so it cannot be replayed: `arena watch {battle.battle_id}` shows our side of it"
        )
    if not battle.input_log:
        raise BadInput(
            f"battle {battle.battle_id}: was not played to its end ({battle.reason}), so it has no input log to replay: "
            "`detail` in the table `battles` (`arena sql`) says why"
        )
    (replay,) = replay_all([battle.input_log], stock=stock)
    if isinstance(replay, ArenaError):
        raise replay
    if not battle.has_logs:
        decisions = sum(map(len, battle.decisions.values()))
        return ReplayComparison(decisions, stored_difference(battle, replay))
    for seat, replayed in zip(SEATS, replay.lines, strict=True):
        kept = battle.logs[seat]
        place = differing_line(kept, replayed)
        if place is not None and place < min(len(kept), len(replayed)):
            difference = f"{seat}, line {place + 1}: stored '{kept[place]}', replayed '{replayed[place]}'"
            return ReplayComparison(place, difference)
        if place is not None:
            return ReplayComparison(place, f"{seat}: stored {len(kept)} lines, replayed {len(replayed)}")
    return ReplayComparison(sum(map(len, battle.logs.values())), None)


def stored_difference(battle: StoredBattle, replay: BattleReplay) -> str | None:
    """Where a stored battle and its replay on Showdown differ: see `arena.venues.simulator.replaying.difference`."""
    decisions = [battle.decisions[seat] for seat in SEATS]
    return difference(replay, winner=battle.winner, turns=battle.turns, input_log=battle.input_log, decisions=decisions)
