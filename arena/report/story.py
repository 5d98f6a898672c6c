"""A stored battle turn by turn: `arena watch` and the report's viewer both show it (its parts: story_types.py)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar, cast

import orjson
from poke_env.data import to_id_str

from arena.record import DamagedLog, compressed, unpacked
from arena.report.board import Board
from arena.report.diagnostics import read_diagnostics
from arena.report.narration import Narrator
from arena.report.numbers import listed
from arena.report.story_types import (
    SEAT_NAMES,
    BattleRow,
    RequestPokemon,
    SeatName,
    Story,
    StoryDecision,
    StoryDecisionRow,
    StorySeat,
    StoryTurn,
)
from arena.store import rows
from arena.venues.simulator.reproduction import PackedLogs, with_logs
from teamsets.errors import BadInput

_BATTLES = """
    SELECT battle_id, b.format, b.team_set, p1, p2, winner, reason, fault, detail, turns, input_log, p1_log, p2_log,
        t1.name AS p1_team, t2.name AS p2_team
    FROM battles b LEFT JOIN teams t1 ON t1.team_id = p1_team LEFT JOIN teams t2 ON t2.team_id = p2_team
    WHERE list_contains(?, battle_id)
"""
_DECISIONS = f"""
    SELECT {", ".join(StoryDecisionRow.__annotations__)} FROM decisions WHERE list_contains(?, battle_id)
    ORDER BY battle_id, turn, seat, index
"""
#: Lines that are no events: the story shows the teams separately, and the end in its own words (a turn limit is no tie).
_SHOWN_ELSEWHERE = ("|poke|", "|clearpoke", "|win|", "|tie")
_Row = TypeVar("_Row", BattleRow, StoryDecisionRow)
#: The slots of doubles, and the targets of a move there.
_SLOTS = {"a": "first", "b": "second"}
_TARGETS = {"+1": "at opponent 1", "+2": "at opponent 2", "-1": "at own 1", "-2": "at own 2"}
_UNSEEN = (
    "The side of {} is known from the public log only: HP in %, only the Pokémon that were sent out, and no choices."
)
_FAILED = {"timeout": "ran out of time", "illegal": "made no legal choice", "error": "failed with an error"}


def stories(db: Path, battle_ids: Iterable[int]) -> list[Story]:
    """The stories of stored battles, in the order asked for; a battle with a damaged log has a story that says so.

    Raises BadInput for a battle that is not in the database, and for one whose logs are not stored and cannot be made.
    """
    wanted = list(battle_ids)
    battles = {row[0]: _named(BattleRow, row) for row in rows(_BATTLES, db, [wanted])}
    for battle_id in wanted:
        if battle_id not in battles:
            known = 'arena sql "SELECT battle_id, format, p1, p2 FROM battles"'
            raise BadInput(f"battle {battle_id}: not in {db}; these are: {known}")
    decisions: dict[int, list[StoryDecisionRow]] = {battle_id: [] for battle_id in wanted}
    for row in rows(_DECISIONS, db, [wanted]):
        decisions[row[0]].append(_named(StoryDecisionRow, row))
    stored = {n: PackedLogs(n, battles[n]["input_log"], battles[n]["p1_log"], battles[n]["p2_log"]) for n in wanted}
    broken = {n for n, packed in stored.items() if _damaged(packed)}
    full = {packed.battle_id: packed for packed in with_logs([stored[n] for n in stored if n not in broken])}
    return [
        _readable_story({**battles[n], "p1_log": full[n].p1_log, "p2_log": full[n].p2_log}, decisions[n])
        if n in full
        else _damaged_story(battles[n])
        for n in wanted
    ]


def _named(kind: type[_Row], row: tuple[Any, ...]) -> _Row:
    """A row of a query by the names of its columns, which are those of a TypedDict in their order."""
    return cast(_Row, dict(zip(kind.__annotations__, row, strict=True)))


def _damaged(packed: PackedLogs) -> bool:
    """Whether one of a battle's logs cannot be unpacked."""
    try:
        for log in (packed.input_log, packed.p1_log, packed.p2_log):
            unpacked(bytes(log))
    except DamagedLog:
        return True
    return False


def _readable_story(battle: BattleRow, decisions: list[StoryDecisionRow]) -> Story:
    """The story of a battle; if its log has lines that belong to no battle, a story that says that it is damaged."""
    try:
        return story(battle, decisions)
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError):
        return _damaged_story(battle)


def _damaged_story(battle: BattleRow) -> Story:
    """The story of a battle without its logs and decisions."""
    without_logs = story({**battle, "p1_log": compressed([]), "p2_log": compressed([])}, ())
    return {**without_logs, "result": f"{without_logs['result']} Its stored log is damaged and cannot be shown."}


def story(battle: BattleRow, decisions: Iterable[StoryDecisionRow]) -> Story:
    """The story of a battle with its logs. decisions: each seat's in order."""
    logs = {"p1": unpacked(bytes(battle["p1_log"])), "p2": unpacked(bytes(battle["p2_log"]))}
    teams = {"p1": battle["p1_team"], "p2": battle["p2_team"]}
    names = _short_names(battle["p1"], battle["p2"])
    seats = {seat: _SeatChoices(logs[seat]) for seat in SEAT_NAMES}
    board = Board()
    for seat in SEAT_NAMES:
        board.sides[seat].set_team(seats[seat].team)
    turns = _turns(logs, board, names)
    for turn in turns:  # of a side that was not seen, the team is known only in the end
        for seat in SEAT_NAMES:
            turn["state"][seat]["hp"] += [member.usual or 100 for member in board.sides[seat].team][
                len(turn["state"][seat]["hp"]) :
            ]
    by_number = {turn["turn"]: turn for turn in turns}
    for row in decisions:
        by_number[row["turn"]]["decisions"].append(seats[row["seat"]].decision(row))

    def described(seat: SeatName) -> StorySeat:
        return {
            "agent": battle[seat],
            "name": names[seat],
            "team": teams[seat],
            "pokemon": [(member.name, member.usual) for member in board.sides[seat].team],
            "choices": seats[seat].choices(),
        }

    result = _result(battle, names)
    if turns:
        blamed = battle["fault"] if battle["fault"] in SEAT_NAMES else ""
        turns[-1]["events"].append([blamed or battle["winner"] or "", result])
    return {
        "id": battle["battle_id"],
        "format": battle["format"],
        "team_set": battle["team_set"],
        "reason": battle["reason"],
        "winner": battle["winner"],
        "fault": battle["fault"],
        "detail": battle["detail"],
        "result": result,
        "length": battle["turns"],
        "unseen": {seat: _UNSEEN.format(battle[seat]) for seat in SEAT_NAMES if turns and not logs[seat]},
        "seats": {seat: described(seat) for seat in SEAT_NAMES},
        "turns": turns,
        "end": board.state() if turns else None,
    }


def _short_names(p1: str, p2: str) -> dict[str, str]:
    """ "heuristic:max-damage?risk=0.2" -> "max-damage?risk=0.2"; longer where both would be called the same."""
    short = [re.sub(r"^[^:?]*:", "", spec) for spec in (p1, p2)]
    if short[0] == short[1]:
        short = [p1, p2] if p1 != p2 else [f"{short[0]} {seat}" for seat in SEAT_NAMES]
    return dict(zip(SEAT_NAMES, short, strict=True))


def _result(battle: BattleRow, names: dict[str, str]) -> str:
    reason, winner, fault = battle["reason"], names.get(battle["winner"] or ""), battle["fault"]
    if fault in names:
        return f"{winner} wins: {names[fault]} {_FAILED[reason]}."
    if reason == "win":
        return f"{winner} wins."
    ends = {"tie": "A tie.", "turn-limit": "Stopped at the turn limit: a tie."}
    return ends.get(reason, "Aborted before the end.")


def _turns(logs: dict[str, list[str]], board: Board, names: dict[str, str]) -> list[StoryTurn]:
    """The turns, without decisions; the board is left as it is at the end. None for a battle without logs."""
    turns: list[StoryTurn] = []
    narrator = Narrator(names)

    def begin(number: int) -> None:
        turns.append({"turn": number, "state": board.state(), "events": [], "decisions": []})

    for seat, line in _both(logs):
        if not turns:
            begin(0)
        if seat:
            board.sides[seat].update_team(orjson.loads(line)["side"]["pokemon"])
            if not turns[-1]["events"]:
                turns[-1]["state"] = board.state()
        elif line.startswith("|turn|"):
            begin(int(line.removeprefix("|turn|")))
        else:
            turns[-1]["events"] += _events(line, board, narrator)
    return turns


def _events(line: str, board: Board, narrator: Narrator) -> list[list[str]]:
    """The events of a line, as [seat or "", sentence]; the board processes it."""
    before = board.hp(line)
    board.process(line)
    after = board.hp(line)
    if line.startswith(_SHOWN_ELSEWHERE):
        return []
    change = 0.0
    if before is not None and after is not None:
        change = after[0] / after[1] - before[0] / before[1] if after[1] == before[1] else 0.0
        if line.endswith("|[silent]") and not change:  # Dynamax and a few forms change both HP and its maximum
            line = line.replace("|-heal|", "|-sethp|", 1)
        line = line.removesuffix("|[silent]")
    subject = line.split("|")[2][:2] if line.count("|") > 1 else ""
    sentence = narrator.sentence(line).strip()
    if change and sentence:
        sentence = f"{sentence.removesuffix('.')} ({'+' if change > 0 else '−'}{abs(change):.0%})."
    return [[subject if subject in SEAT_NAMES else "", sentence]] if sentence else []


def _both(logs: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Both sides' logs as one: ("", line) with each side's own HP exact, and (seat, request as JSON)."""
    for (line, requests), (other, other_requests) in zip_longest(
        *(_steps(logs[s]) for s in SEAT_NAMES), fillvalue=("", [])
    ):
        yield "", _more_exact(line, other)
        yield from (("p1", request) for request in requests)
        yield from (("p2", request) for request in other_requests)


def _more_exact(line: str, other: str) -> str:
    """The view of an event by the side that it is about; p1's where the logs do not run in step."""
    mine, theirs = ((*text.split("|"), "", "", "")[1:3] for text in (line, other))
    return other if not line or (mine == theirs and theirs[1].startswith("p2")) else line


def _steps(log: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Each line of a log with the requests that come behind it."""
    line, requests = "", list[str]()
    for new in log:
        if new.startswith("|request|"):
            requests.append(new.removeprefix("|request|"))
        else:
            if line or requests:
                yield line, requests
            line, requests = new, []
    if line or requests:
        yield line, requests


class _SeatChoices:
    """The choices of one seat, numbered as they come up, and their names as its requests give them."""

    def __init__(self, log: list[str]) -> None:
        requests = [orjson.loads(line.removeprefix("|request|")) for line in log if line.startswith("|request|")]
        self.team: list[RequestPokemon] = requests[0]["side"]["pokemon"] if requests else []
        self._numbers: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self._leads = max((len(request.get("active") or ()) for request in requests), default=1)
        for request in requests:
            for pokemon in request["side"]["pokemon"]:
                species = pokemon["details"].split(",", 1)[0]
                self._names[f"switch {to_id_str(species)}"] = species
            for move in (move for active in request.get("active") or () for move in (active or {}).get("moves", ())):
                self._names[f"move {move['id']}"] = move["move"]

    def choices(self) -> list[list[str]]:
        """Each choice that has come up, as [as it is stored, as people call it]."""
        return [[choice, self._called(choice)] for choice in self._numbers]

    def decision(self, row: StoryDecisionRow) -> StoryDecision:
        """A stored decision as the story shows it."""
        legal = row["legal"]
        decision: StoryDecision = {
            "seat": row["seat"],
            "choice": self._number(row["choice"]),
            "legal": [self._number(choice) for choice in legal],
            "ms": float(f"{row['think_ms']:.3g}"),
        }
        if all(choice.startswith("switch ") for choice in legal):
            decision["forced"] = True
        if legal and legal[0].startswith("a: "):
            decision["joint"] = True
            if all(choice[3:].startswith(("switch ", "pass")) for choice in legal):
                decision["forced"] = True
        if row["diagnostics"] is not None:
            tables, texts = read_diagnostics(row["diagnostics"], legal)
            if tables:
                decision["tables"] = tables
            if texts:
                decision["texts"] = texts
        return decision

    def _number(self, choice: str) -> int:
        return self._numbers.setdefault(choice, len(self._numbers))

    def _called(self, choice: str) -> str:
        slot, colon, rest = choice.partition(": ")
        if colon:
            return f"{_SLOTS[slot]}: {self._called(rest)}"
        if ", " in choice:
            return ", ".join(map(self._called, choice.split(", ")))
        kind, _, rest = choice.partition(" ")
        if kind == "team":
            named = [self.team[int(digit) - 1]["details"].split(",", 1)[0] for digit in rest]
            leads, others = listed(named[: self._leads]), ", ".join(named[self._leads :])
            come = "then" if len(named) == len(self.team) else "bring"
            return f"lead {leads}, {come} {others}" if others else f"lead {leads}"
        what, *more = rest.split(" ")
        name = self._names.get(f"{kind} {what}", what or kind)
        extra = ", ".join(_TARGETS.get(word, word) for word in more)
        return " ".join(filter(None, ("switch to" if kind == "switch" else "", name, extra and f"({extra})")))
