"""Replays battles on Showdown from their input logs: what each side saw, and what it was asked at each decision."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Protocol, TypeVar

import orjson

from agents.battle.joint_choices import is_stored, stored_labels
from arena.battles.seat import Entries, complete_request
from arena.fixture import SEATS
from arena.processes.child import Message
from arena.record import BattleRecord
from arena.venues.simulator.host import Host
from teamsets.errors import ArenaError
from teamsets.formats import get_format

T = TypeVar("T")


@dataclass(frozen=True)
class ReplayedDecision:
    """One decision of a side: the turn and the labels of the legal choices.

    hides: the request says that some of these may turn out not to be legal. Whoever tried one was asked again with fewer,
    which no input log has.
    """

    turn: int
    legal: list[str]
    hides: bool = False

    def agrees(self, legal: list[str]) -> bool:
        """Whether a decision with these legal choices can be this one.

        Earlier versions stored for replacements in doubles a pass that no joint choice has.
        """
        legal = [label for label in legal if label in self.legal or not label.endswith(": pass")]
        return legal == self.legal or (self.hides and set(legal) < set(self.legal))


@dataclass
class ReplayedSide:
    """One side of a replayed battle. log: as a seat keeps it, requests included. doubles: it has two slots."""

    doubles: bool = False
    log: list[str] = field(default_factory=list)
    decisions: list[ReplayedDecision] = field(default_factory=list)
    _turn: int = 0
    _entries: Entries = field(default_factory=dict)

    def receive(self, view: dict[str, Any]) -> None:
        """Process what the host has for this side."""
        lines = view["log"].split("\n") if view["log"] else []
        self.log += lines
        for line in lines:
            if line.startswith("|turn|"):
                self._turn = int(line[6:])
        request = view.get("ask")
        if request is not None:
            self.log.append(complete_request(request, self._entries))
            active = request.get("active") or []
            hides = any(slot.get("maybeTrapped") or slot.get("maybeDisabled") for slot in active if slot)
            self.decisions.append(ReplayedDecision(self._turn, stored_labels(request, self.doubles), hides))


@dataclass(frozen=True)
class BattleReplay:
    """A battle played again on Showdown. end: winner, turns, turnLimit, inputLog; None where the input log stops before."""

    sides: tuple[ReplayedSide, ReplayedSide]
    end: dict[str, Any] | None

    @property
    def logs(self) -> tuple[list[str], list[str]]:
        return self.sides[0].log, self.sides[1].log

    @property
    def lines(self) -> tuple[list[str], list[str]]:
        """Both sides' logs without their requests: a side that was asked twice is asked once in a replay."""
        return without_requests(self.sides[0].log), without_requests(self.sides[1].log)


class ReplayHost(Protocol):
    """What plays input logs again: `Host`, or the engine's."""

    async def ask(self, message: Message) -> Message: ...


def without_requests(log: Sequence[str]) -> list[str]:
    """The lines of a seat's log that are not requests."""
    return [line for line in log if not line.startswith("|request|")]


async def replay_input_log(host: ReplayHost, input_log: Sequence[str]) -> BattleReplay:
    """Play a battle again from its input log. Raises HostDied, and ArenaError with Showdown's message."""
    message = await host.ask({"op": "replay", "inputLog": playable_input_log(input_log), "views": True})
    doubles = get_format(input_log_teams(input_log)["formatid"]).doubles
    sides = (ReplayedSide(doubles), ReplayedSide(doubles))
    views: list[Message] = message["views"]
    for view in views:
        for role, side in zip(SEATS, sides, strict=True):
            side.receive(view[role])
    return BattleReplay(sides, message.get("end"))


def playable_input_log(input_log: Sequence[str]) -> list[str]:
    """Return an input log whose choices Showdown takes.

    In generation 1 it notes "fight" for any choice of a side that could not act, and does not always accept it as a choice.
    """
    return [line[:4] + "move 1" if line[4:] == "move fight" else line for line in input_log]


def replay_all(input_logs: Sequence[Sequence[str]], *, stock: bool = False) -> list[BattleReplay | ArenaError]:
    """Replay several battles on a host of their own, with the error in the place of a battle that cannot be replayed.

    Raises MissingTool without Node.js. stock: on Showdown's code untouched.
    """

    async def replay() -> list[BattleReplay | ArenaError]:
        async with await Host.launch(stock=stock) as host:

            async def replay_one(input_log: Sequence[str]) -> BattleReplay | ArenaError:
                try:
                    return await replay_input_log(host, input_log)
                except ArenaError as error:
                    return error

            return await asyncio.gather(*map(replay_one, input_logs))

    return run_in_new_loop(replay())


def run_in_new_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on an event loop of its own, also where one is running already (a notebook)."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def input_log_teams(input_log: Sequence[str]) -> dict[str, Any]:
    """Return what an input log begins with: the format, the seed, and each side's options by role.

    Raises ArenaError for one without them.
    """
    options: dict[str, Any] = {}
    for line in input_log:
        command, *arguments = line.split(" ", 2)
        if command == ">start":
            options.update(orjson.loads(line[len(">start ") :]))
        elif command == ">player":
            options[arguments[0]] = orjson.loads(arguments[1])
    if not {"formatid", "seed", *SEATS} <= options.keys():
        raise ArenaError("its input log does not say its format, seed and teams")
    return options


def difference(
    replay: BattleReplay,
    *,
    winner: str | None,
    turns: int,
    input_log: Sequence[str],
    decisions: Sequence[Sequence[tuple[int, list[str], str]]],
    where: str = "Showdown",
) -> str | None:
    """Describe where a battle and its replay first differ: a decision, the winner, the turns or the input log.

    decisions: of both sides, each with its turn, the labels of the legal choices, and the choice. where: the replay was
    played.
    """
    differences = [
        side_difference(role, side.decisions, kept, where)
        for role, side, kept in zip(SEATS, replay.sides, decisions, strict=True)
    ]
    if any(differences):
        return min(filter(None, differences))[1]
    if replay.end is None:
        return f"the end: on {where} the battle does not end there"
    if replay.end["winner"] != (winner or ""):
        return f"the winner: {winner or 'nobody'}; on {where} {replay.end['winner'] or 'nobody'}"
    if replay.end["turns"] != turns:
        return f"the end: turn {turns}; on {where} {replay.end['turns']}"
    for number, (kept_line, line) in enumerate(zip_longest(input_log, replay.end["inputLog"]), 1):
        if kept_line != line:
            return f"input log, line {number}: {kept_line}; on {where} {line}"
    return None


def record_difference(replay: BattleReplay, record: BattleRecord) -> str | None:
    """As `difference`, of a battle that has just been played."""
    decisions = [[row[2:5] for row in record.decisions if row[0] == seat] for seat in range(len(SEATS))]
    return difference(replay, winner=record.winner, turns=record.turns, input_log=record.input_log, decisions=decisions)


def differing_line(kept: Sequence[str], replayed: Sequence[str]) -> int | None:
    """The place (from 0) of the first line that two logs without requests do not share; None if they are equal."""
    for number, (before, after) in enumerate(zip(kept, replayed, strict=False)):
        if before != after:
            return number
    return None if len(kept) == len(replayed) else min(len(kept), len(replayed))


def side_difference(
    role: str, replays: Sequence[ReplayedDecision], kept: Sequence[tuple[int, list[str], str]], where: str
) -> tuple[int, str] | None:
    """Return the turn and a description of the first decision in which a side's replay differs from what was kept."""
    for number, (replayed, (turn, legal, choice)) in enumerate(zip(replays, kept, strict=False)):
        place = f"{role}, decision {number} (turn {turn})"
        if not replayed.agrees(legal):
            return turn, f"{place}: legal were {_listed(legal)}; on {where} {_listed(replayed.legal)}"
        if turn != replayed.turn:
            return turn, f"{place}: on {where} it is turn {replayed.turn}"
        if not is_stored(choice, legal):
            return turn, f"{place}: {choice} is not legal: {_listed(legal)}"
    if not 0 <= len(replays) - len(kept) <= 1:  # whoever fails makes no choice, nor does the other then
        last = min(len(replays), len(kept))
        turn = replays[last].turn if len(replays) > last else kept[last][0]
        return turn, f"{role}, decision {last} (turn {turn}): {len(kept)} decisions; on {where} {len(replays)}"
    return None


def _listed(legal: Sequence[str]) -> str:
    return ", ".join(legal) or "none"
