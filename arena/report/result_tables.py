"""Tables of results that others made: who met whom, and how often each won. `arena rate` reads them.

| file | what |
|---|---|
| CSV, TSV | columns a, b, wins, losses (of `a`), perhaps ties; or a, b, score: a battle a line, 1, 0.5 or 0 for `a` |
| JSON | a list of objects with the same keys |
| PGN | `[White "A"]`, `[Black "B"]` and `[Result "1-0"]` of each game |
| the PokéAgent Challenge's | TSV with the columns Username and H2H_Data, or the JSON of the same, from both players' rows |
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from teamsets.errors import BadInput
from teamsets.reading import UnusableText, read_text

_RESULTS = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}
_TAG = re.compile(r'^\[(White|Black|Result)\s+"((?:[^"\\]|\\.)*)"\]', re.MULTILINE)
#: Larger numbers are no count of battles between two players.
_MOST = 1_000_000
_LARGEST = 64_000_000  # bytes of a file


@dataclass
class ResultTable:
    """What a file says. meetings: (a, b, score of a) -> number of battles, a before b by name.

    published: player -> the ratings that the file itself gives. notes: what was done about the file's faults, as sentences.
    """

    meetings: Counter[tuple[str, str, float]] = field(default_factory=Counter)
    published: dict[str, dict[str, float]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, a: str, b: str, score: float, battles: int = 1) -> None:
        """Count battles in which `a` had this score."""
        if battles:
            self.meetings[(a, b, score) if a < b else (b, a, 1 - score)] += battles

    def battles(self) -> list[tuple[str, str, float]]:
        """Every battle singly, evenly mixed and in the same order for the same table."""
        spread: list[tuple[float, str, str, float]] = []
        for (a, b, score), count in self.meetings.items():
            spread += [((number + 0.5) / count, a, b, score) for number in range(count)]
        return [battle[1:] for battle in sorted(spread)]


def read_results(path: Path) -> ResultTable:
    """Read a table of results. Raises BadInput for a file that is none, naming the line."""
    try:
        text = read_text(path, _LARGEST)
        table = _parsed(text)
    except (OSError, UnusableText) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"{path}: {reason}: give a CSV, TSV, JSON or PGN file of results (docs/ratings.md)") from None
    if not table.meetings:
        raise BadInput(f"{path}: has no battle between two players")
    return table


def _parsed(text: str) -> ResultTable:
    start = text.lstrip()[:1]
    if start == "[" and _TAG.search(text):
        return _of_games(text)
    if start in ("[", "{"):
        try:
            content = json.loads(text)
        except ValueError as error:
            raise UnusableText(f"not JSON ({error})") from None
        if isinstance(content, dict):
            if not isinstance(content.get("players"), list):
                raise UnusableText("the JSON object has no list `players`")
            return _of_ladder(content["players"], "player")
        return _of_rows(content, "entry")
    first = text.partition("\n")[0]
    rows = list(csv.DictReader(io.StringIO(text), delimiter="\t" if "\t" in first else ","))
    if "H2H_Data" in first:
        return _of_ladder(rows, "line", 2)
    return _of_rows(rows, "line", 2)


def _of_games(text: str) -> ResultTable:
    """PGN. A game without a result ("*") is not counted."""
    table, game, open_games = ResultTable(), dict[str, str](), 0
    for tag in _TAG.finditer(text):
        game[tag[1]] = tag[2].replace('\\"', '"').replace("\\\\", "\\")
        if len(game) < 3:
            continue
        if game["Result"] in _RESULTS:
            table.add(*_players(game["White"], game["Black"], "game"), _RESULTS[game["Result"]])
        else:
            open_games += 1
        game = {}
    if open_games:
        table.notes.append(f"{open_games:,} games without a result are not counted.")
    return table


def _of_rows(rows: Any, word: str, first: int = 1) -> ResultTable:
    table = ResultTable()
    if not isinstance(rows, list):
        raise UnusableText("the JSON is neither a list of results nor an object with `players`")
    for number, row in enumerate(rows, first):
        where = f"{word} {number}"
        if not isinstance(row, Mapping):
            raise UnusableText(f"{where} is no object")
        cells = {str(key).strip().lower(): value for key, value in row.items()}
        a, b = _players(cells.get("a"), cells.get("b"), where)
        if "score" in cells and "wins" not in cells:
            score = _number(cells["score"], where, "score")
            if score not in (0.0, 0.5, 1.0):
                raise UnusableText(f"{where}: score {cells['score']!r} is not 1, 0.5 or 0")
            table.add(a, b, score)
            continue
        if "wins" not in cells or "losses" not in cells:
            raise UnusableText(f"{where}: the columns are a, b, wins, losses, ties, or a, b, score")
        for key, score in (("wins", 1.0), ("losses", 0.0), ("ties", 0.5)):
            table.add(a, b, score, _count(cells.get(key) or 0, where, key))
    return table


def _of_ladder(rows: Iterable[Any], word: str, first: int = 1) -> ResultTable:
    """Of each player what it has against each other. A meeting stands in both players' rows, and is counted once."""
    table = ResultTable()
    names: dict[str, str] = {}
    seen: dict[tuple[str, str], list[tuple[int, int, int]]] = defaultdict(list)
    for number, row in enumerate(rows, first):
        where = f"{word} {number}"
        if not isinstance(row, Mapping):
            raise UnusableText(f"{where} is no object")
        cells = {str(key).lower(): value for key, value in row.items()}
        name = cells.get("username")
        if not isinstance(name, str) or not name.strip():
            raise UnusableText(f"{where}: has no Username")
        names[_id(name)] = name.strip()
        table.published[name.strip()] = {
            key: _number(cells[column], where, column)
            for key, column in (("elo", "elo"), ("glicko", "glicko"), ("deviation", "rating_deviation"))
            if cells.get(column) not in (None, "")
        }
        for opponent, counts in _against(cells.get("h2h_data"), where):
            if _id(opponent) == _id(name):
                raise UnusableText(f"{where}: {name} meets itself")
            pair = (_id(name), _id(opponent))
            seen[min(pair), max(pair)].append(counts if pair[0] < pair[1] else (counts[1], counts[0], counts[2]))
    differing = alone = 0
    for (a, b), both in seen.items():
        differing += len(set(both)) > 1
        alone += len(both) == 1
        wins, losses, ties = max(both, key=sum)
        for score, count in ((1.0, wins), (0.0, losses), (0.5, ties)):
            table.add(names.get(a, a), names.get(b, b), score, count)
    if differing:
        table.notes.append(
            f"{differing:,} of {len(seen):,} meetings differ between both players' rows: the row with more battles counts."
        )
    if alone:
        table.notes.append(f"{alone:,} of {len(seen):,} meetings stand in one player's row alone, and count.")
    return table


def _against(content: Any, where: str) -> Iterator[tuple[str, tuple[int, int, int]]]:
    """Opponent, (wins, losses, ties) of each entry."""
    try:
        entries = json.loads(content) if isinstance(content, str) else content
        for opponent, counts in entries.items():
            yield (
                opponent,
                (
                    _count(counts["w"], where, "w"),
                    _count(counts["l"], where, "l"),
                    _count(counts["t"], where, "t"),
                ),
            )
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        if isinstance(error, UnusableText):
            raise
        raise UnusableText(
            f'{where}: the head-to-head results are not {{"opponent": {{"w": 1, "l": 0, "t": 0}}}}'
        ) from None


def _players(a: Any, b: Any, where: str) -> tuple[str, str]:
    names = tuple(str(name).strip() if name is not None else "" for name in (a, b))
    if not all(names):
        raise UnusableText(f"{where}: needs the players a and b")
    if names[0] == names[1]:
        raise UnusableText(f"{where}: {names[0]} meets itself")
    return names[0], names[1]


def _number(value: Any, where: str, column: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise UnusableText(f"{where}: {column} {value!r} is no number")
    return number


def _count(value: Any, where: str, column: str) -> int:
    number = _number(value, where, column)
    if not 0 <= number <= _MOST or number != int(number):
        raise UnusableText(f"{where}: {column} {value!r} is no number of battles from 0 to {_MOST:,}")
    return int(number)


def _id(name: str) -> str:
    """Showdown's id of a user's name."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
