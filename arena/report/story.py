"""A stored battle turn by turn, as one dict that is JSON: `arena watch` and the report's viewer both show it.

    {
      "id": 670, "format": "gen9ou", "team_set": "competitive",
      "reason": "win", "winner": "p2" | null, "fault": "p1" | "p2" | "venue" | null, "detail": "…" | null,
      "result": "Alice wins.",            # all of that in words; detail: what the failure was, if there was one
      "length": 21,                       # turns
      "unseen": {"p2": "…"},              # a side of which there is no log, nor choices: what that means, in words
      "seats": {
        "p1": {
          "agent": "heuristic:restless", "name": "restless",       # name: the short one that the events use
          "team": "human/big-six" | null,
          "pokemon": [["Great Tusk", 371], …],                     # name and most HP, in the order of the team
          "choices": [["move icespinner", "Ice Spinner"], …]       # every choice that came up, and how to call it
        },
        "p2": …
      },
      "turns": [
        {
          "turn": 0,                      # 0: team preview and leads
          "state": State,                 # at its start
          "events": [["p1", "Clefable (restless) uses Moonblast at …"], ["", "Weather: Snowscape."], …],   # seat and words;
                                          # the last turn ends with the result
          "decisions": [Decision, …]      # both seats'; forced switches with the turn in which they happened
        }, …
      ],
      "end": State                        # when all is over; null without a log, as are no turns
    }

State: {"p1": Side, "p2": Side, "field": ["Snowscape", "Trick Room"]}; whatever is empty is left out.
Side: {"hp": [371, 0, …],                 # of each Pokémon in the order of the team; 0: fainted
       "active": 2,                       # index of the Pokémon that is out
       "most": {"2": 742},                # most HP where it is not that of the team (Dynamax)
       "status": {"0": "paralysed"}, "tera": {"2": "Fire"},
       "boosts": {"Attack": 2}, "effects": ["Substitute"],      # of the active
       "layers": ["Stealth Rock", "Spikes ×2"]}
Decision: {"seat": "p1", "choice": 3, "legal": [0, 1, 3],          # indices into the seat's choices
           "ms": 0.24,                                             # think time
           "forced": true,                                         # a replacement in the middle of a turn; else left out
           "tables": {"values": [0.2, null, 0.8]},                 # the agent's own numbers, one for each legal choice
           "texts": [["plan", "…"]]}                               # other diagnostics, by name; both left out when empty

HP is exact on both sides (from each side's own log). Of an unseen side it is in 100ths, and the team has those Pokémon
that came out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import orjson
from poke_env.data import to_id_str

from arena.fixture import SEATS
from arena.record import DamagedLog, compressed, unpacked
from arena.report.board import Board
from arena.report.diagnostics import read_diagnostics
from arena.report.narration import narrate
from arena.store import rows
from arena.venues.simulator.reproduction import PackedLogs, with_logs
from teamsets.errors import BadInput

_BATTLE = (
    *("battle_id", "format", "team_set", "p1", "p2", "winner", "reason", "fault", "detail", "turns"),
    *("input_log", "p1_log", "p2_log", "p1_team", "p2_team"),
)
_BATTLES = """
    SELECT battle_id, b.format, b.team_set, p1, p2, winner, reason, fault, detail, turns, input_log, p1_log, p2_log,
        t1.name, t2.name
    FROM battles b LEFT JOIN teams t1 ON t1.team_id = p1_team LEFT JOIN teams t2 ON t2.team_id = p2_team
    WHERE list_contains(?, battle_id)
"""
_DECISION = ("battle_id", "seat", "turn", "legal", "choice", "think_ms", "diagnostics")
_DECISIONS = f"""
    SELECT {", ".join(_DECISION)} FROM decisions WHERE list_contains(?, battle_id) ORDER BY battle_id, turn, seat, index
"""
#: Lines left out: the story shows the teams separately, and words the end itself (the log calls a turn limit a tie).
_TOLD_ELSEWHERE = ("|poke|", "|clearpoke", "|win|", "|tie")
_UNSEEN = (
    "The side of {} is known from the public log only: HP in %, only the Pokémon that were sent out, and no choices."
)
_FAILED = {"timeout": "ran out of time", "illegal": "made no legal choice", "error": "failed with an error"}


def stories(db: Path, battle_ids: Iterable[int]) -> list[dict[str, Any]]:
    """The stories of stored battles, in the order asked for; a battle with a damaged log has a story that says so.

    Raises BadInput for a battle that is not in the database, and for one whose logs are not stored and cannot be made.
    """
    wanted = list(battle_ids)
    battles = {row[0]: dict(zip(_BATTLE, row, strict=True)) for row in rows(_BATTLES, db, [wanted])}
    for battle_id in wanted:
        if battle_id not in battles:
            known = 'arena sql "SELECT battle_id, format, p1, p2 FROM battles"'
            raise BadInput(f"battle {battle_id}: not in {db}; these are: {known}")
    decisions: dict[int, list[dict[str, Any]]] = {battle_id: [] for battle_id in wanted}
    for row in rows(_DECISIONS, db, [wanted]):
        decisions[row[0]].append(dict(zip(_DECISION, row, strict=True)))
    stored = {n: PackedLogs(*(battles[n][column] for column in PackedLogs._fields)) for n in wanted}
    broken = {n for n, packed in stored.items() if _damaged(packed)}
    full = {packed.battle_id: packed for packed in with_logs([stored[n] for n in stored if n not in broken])}
    return [
        _readable_story({**battles[n], **full[n]._asdict()}, decisions[n]) if n in full else _damaged_story(battles[n])
        for n in wanted
    ]


def _damaged(packed: PackedLogs) -> bool:
    """Whether one of a battle's logs cannot be unpacked."""
    try:
        for log in (packed.input_log, packed.p1_log, packed.p2_log):
            unpacked(bytes(log))
    except DamagedLog:
        return True
    return False


def _readable_story(battle: dict[str, Any], decisions: list[dict[str, Any]]) -> dict[str, Any]:
    """The story of a battle; of one whose log has lines that are no battle's, that it is damaged."""
    try:
        return story(battle, decisions)
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError):
        return _damaged_story(battle)


def _damaged_story(battle: dict[str, Any]) -> dict[str, Any]:
    """The story of a battle without its logs and decisions."""
    told = story({**battle, "p1_log": compressed([]), "p2_log": compressed([])}, ())
    return {**told, "result": f"{told['result']} Its stored log is damaged and cannot be shown."}


def story(battle: dict[str, Any], decisions: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The dict that this module's docstring describes.

    battle: a row of the table `battles`, by column; p1_team and p2_team are the teams' names, or None.
    decisions: its rows of the table `decisions`, by column, each seat's in order.
    """
    logs = {seat: unpacked(bytes(battle[f"{seat}_log"])) for seat in SEATS}
    names = _short_names(battle["p1"], battle["p2"])
    seats = {seat: _Wording(logs[seat]) for seat in SEATS}
    board = Board()
    for seat, wording in seats.items():
        board.sides[seat].meet(wording.team)
    turns = _turns(logs, board, names)
    for turn in turns:  # of a side that was not seen, the team is known only in the end
        for seat in SEATS:
            turn["state"][seat]["hp"] += [member.usual or 100 for member in board.sides[seat].team][
                len(turn["state"][seat]["hp"]) :
            ]
    by_number = {turn["turn"]: turn for turn in turns}
    for row in decisions:
        by_number[row["turn"]]["decisions"].append(seats[row["seat"]].decision(row))
    result = _result(battle, names)
    if turns:
        blamed = battle["fault"] if battle["fault"] in SEATS else ""
        turns[-1]["events"].append([blamed or battle["winner"] or "", result])
    return {
        "id": battle["battle_id"],
        **{key: battle[key] for key in ("format", "team_set", "reason", "winner", "fault", "detail")},
        "result": result,
        "length": battle["turns"],
        "unseen": {seat: _UNSEEN.format(battle[seat]) for seat in SEATS if turns and not logs[seat]},
        "seats": {
            seat: {
                "agent": battle[seat],
                "name": names[seat],
                "team": battle[f"{seat}_team"],
                "pokemon": [[member.name, member.usual] for member in board.sides[seat].team],
                "choices": wording.choices(),
            }
            for seat, wording in seats.items()
        },
        "turns": turns,
        "end": board.state() if turns else None,
    }


def _short_names(p1: str, p2: str) -> dict[str, str]:
    """ "heuristic:max-damage?risk=0.2" -> "max-damage?risk=0.2"; longer where both would be called the same."""
    short = [re.sub(r"^[^:?]*:", "", spec) for spec in (p1, p2)]
    if short[0] == short[1]:
        short = [p1, p2] if p1 != p2 else [f"{short[0]} {seat}" for seat in SEATS]
    return dict(zip(SEATS, short, strict=True))


def _result(battle: dict[str, Any], names: dict[str, str]) -> str:
    reason, winner, fault = battle["reason"], battle["winner"], battle["fault"]
    if fault in names:
        return f"{names[winner]} wins: {names[fault]} {_FAILED[reason]}."
    if reason == "win":
        return f"{names[winner]} wins."
    ends = {"tie": "A tie.", "turn-limit": "Stopped at the turn limit: a tie."}
    return ends.get(reason, "Aborted before the end.")


def _turns(logs: dict[str, list[str]], board: Board, names: dict[str, str]) -> list[dict[str, Any]]:
    """The turns, without decisions; the board is left as it is at the end. None for a battle without logs."""
    turns: list[dict[str, Any]] = []

    def begin(number: int) -> None:
        turns.append({"turn": number, "state": board.state(), "events": [], "decisions": []})

    for seat, line in _both(logs):
        if not turns:
            begin(0)
        if seat:
            board.sides[seat].ask(orjson.loads(line)["side"]["pokemon"])
            if not turns[-1]["events"]:
                turns[-1]["state"] = board.state()
        elif line.startswith("|turn|"):
            begin(int(line.removeprefix("|turn|")))
        else:
            turns[-1]["events"] += _events(line, board, names)
    return turns


def _events(line: str, board: Board, names: dict[str, str]) -> list[list[str]]:
    """What a line tells, as [seat, words], after the board has followed it."""
    before = board.share(line)
    board.take(line)
    after = board.share(line)
    if line.startswith(_TOLD_ELSEWHERE):
        return []
    if before is not None:
        line = line.removesuffix("|[silent]")
    subject = line.split("|")[2][:2] if line.count("|") > 1 else ""
    told = [sentence.strip() for sentence in narrate([line], names)]
    if before is not None and after is not None and before != after:
        sign = "+" if after > before else "−"
        told = [f"{sentence.removesuffix('.')} ({sign}{abs(after - before):.0%})." for sentence in told]
    return [[subject if subject in SEATS else "", sentence] for sentence in told]


def _both(logs: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Both sides' logs as one: ("", line) with each side's own HP exact, and (seat, request as JSON)."""
    for (line, asked), (other, other_asked) in zip_longest(*(_steps(logs[s]) for s in SEATS), fillvalue=("", [])):
        yield "", _more_exact(line, other)
        yield from (("p1", request) for request in asked)
        yield from (("p2", request) for request in other_asked)


def _more_exact(line: str, other: str) -> str:
    """Of p1's and p2's view of one event p2's where it is about p2. The logs run in step; where not, p1's is taken."""
    mine, theirs = ((*text.split("|"), "", "", "")[1:3] for text in (line, other))
    return other if not line or (mine == theirs and theirs[1].startswith("p2")) else line


def _steps(log: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Each line of a log with the requests that come behind it."""
    line, asked = "", list[str]()
    for new in log:
        if new.startswith("|request|"):
            asked.append(new.removeprefix("|request|"))
        else:
            if line or asked:
                yield line, asked
            line, asked = new, []
    if line or asked:
        yield line, asked


class _Wording:
    """The choices of one seat, numbered as they come up, and their names as its requests give them."""

    def __init__(self, log: list[str]) -> None:
        requests = [orjson.loads(line.removeprefix("|request|")) for line in log if line.startswith("|request|")]
        self.team: list[dict[str, Any]] = requests[0]["side"]["pokemon"] if requests else []
        self._numbers: dict[str, int] = {}
        self._names: dict[str, str] = {}
        for request in requests:
            for pokemon in request["side"]["pokemon"]:
                species = pokemon["details"].split(",", 1)[0]
                self._names[f"switch {to_id_str(species)}"] = species
            for move in (request.get("active") or [{}])[0].get("moves", []):
                self._names[f"move {move['id']}"] = move["move"]

    def choices(self) -> list[list[str]]:
        """Each choice that has come up, as [its words, how to call it]."""
        return [[words, self._called(words)] for words in self._numbers]

    def decision(self, row: dict[str, Any]) -> dict[str, Any]:
        """A row of the table `decisions` as the story tells it."""
        legal = row["legal"]
        found: dict[str, Any] = {
            "seat": row["seat"],
            "choice": self._number(row["choice"]),
            "legal": [self._number(words) for words in legal],
            "ms": float(f"{row['think_ms']:.3g}"),
        }
        if all(words.startswith("switch ") for words in legal):
            found["forced"] = True
        if row["diagnostics"] is not None:
            tables, texts = read_diagnostics(row["diagnostics"], legal)
            found |= {key: value for key, value in (("tables", tables), ("texts", texts)) if value}
        return found

    def _number(self, words: str) -> int:
        return self._numbers.setdefault(words, len(self._numbers))

    def _called(self, words: str) -> str:
        kind, _, rest = words.partition(" ")
        if kind == "team":
            named = [self.team[int(digit) - 1]["details"].split(",", 1)[0] for digit in rest]
            return f"lead {named[0]}, then {', '.join(named[1:])}" if named[1:] else f"lead {named[0]}"
        what, _, extra = rest.partition(" ")
        name = self._names.get(f"{kind} {what}", what)
        return " ".join(filter(None, ("switch to" if kind == "switch" else "", name, extra and f"({extra})")))
