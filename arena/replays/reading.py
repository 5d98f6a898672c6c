"""Reading replays: Showdown's replay JSON, raw protocol logs and saved HTML pages, each as a `PublicBattle`.

A file that cannot be used raises `UnusableReplay` with a short reason, by which callers count such files.
"""

from __future__ import annotations

import datetime
import hashlib
import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from poke_env.data import to_id_str

from arena.fixture import SEATS
from arena.replays.lines import CONDITION, NOT_BATTLE, Line, public_lines
from teamsets.errors import ArenaError, BadInput, UnknownFormat
from teamsets.formats import get_format
from teamsets.reading import UnusableText, parse_json, read_text

#: What can stand where a Pokémon's health is told: "100/100", "48.2/100 par", "0 fnt", with a colour in old logs.
_HEALTH = re.compile(r"(\d+(\.\d+)?(/\d+)?[gyr]?)( [a-z]+)*")
_ENDS = ("win", "tie")


def disorder(lines: Sequence[str]) -> str | None:
    """Return why the lines are not a complete battle in order, as a short reason; None if there is no contradiction.

    Empty lines, "|", mark where choices arrive. Without them a turn's choice cannot be distinguished from a forced switch,
    so a log with a turn that has none is refused.
    """
    turn, begun, ended, choices_came = 0, False, False, True
    for text in lines:
        line = Line.read(text)
        if text == "|":
            choices_came = True
        if line.kind in NOT_BATTLE or line.kind == "chat":
            continue
        if ended and line.role and not line.kind.startswith("-"):  # Showdown counts the hits behind the end
            return "lines out of order: the battle goes on behind its end"
        if line.kind == "start":
            begun = True
        elif line.kind == "turn":
            turn += 1
            if not begun or line.argument(0) != str(turn):
                return "lines out of order, or missing: the turns are not counted from 1"
            if turn > 1 and not choices_came:
                return "no empty lines (|) in the log, which say where choices came in"
            choices_came = False
        elif line.kind in _ENDS:
            ended = True
        elif line.kind in CONDITION and not _HEALTH.fullmatch(line.argument(CONDITION[line.kind])):
            if line.kind == "replace" and not line.argument(CONDITION["replace"]):
                continue  # Illusion's end: the health does not change
            return "health that cannot be read"
    return None


End = Literal["win", "tie", "forfeit", "timeout"]
#: What a replay's file is called.
SUFFIXES = (".json", ".log", ".txt", ".html", ".htm")

_SCRIPT = re.compile(r"<script(?P<attributes>[^>]*)>(?P<log>.*?)</script>", re.DOTALL | re.IGNORECASE)
_CLASS = re.compile(r"""(?:^|\s)class\s*=\s*("[^"]*"|'[^']*'|[^\s>]*)""", re.IGNORECASE)
#: How a page marks its log: a downloaded replay, and a page of the site.
_LOG_CLASSES = frozenset({"battle-log-data", "log"})
_ID_IN_NAME = re.compile(r"(?P<id>(?P<format>gen[1-9][a-z0-9]+)-\d+)")
# The old generations were called so in 2012 to 2014 ("[Gen 1] OU (beta)"); the rules are those of today's formats.
_BETA = re.compile(r" ?\(beta\)$|(?<=[a-z])beta$", re.IGNORECASE)
# Each battle of a best of three is a battle of the format ("[Gen 9] VGC 2025 Reg I (Bo3)").
_BEST_OF = re.compile(r" ?\(bo[0-9]+\)$|(?<=[a-z0-9])bo[0-9]+$", re.IGNORECASE)
# Messages of the server about a battle's end; the names in front of them are the players' own.
_FORFEIT = re.compile(r" (forfeited\.|forfeited by changing their name\.|lost by having an inappropriate name\.)$")
_TIMEOUT = re.compile(r" lost (due to|because of)( their)? inactivity\.$")


class UnusableReplay(BadInput):
    """Raised for an unusable replay. The message is a short reason, the same for all of its kind."""


@dataclass(frozen=True)
class PublicBattle:
    """A battle as a spectator saw it.

    id: the site's ("gen1ou-2093283146"), or the file's stem. players, ratings: p1's and p2's; a rating is None where the
    replay tells none. date: when it was played or uploaded, Unix time in seconds, None where nothing tells it.
    winner: "p1", "p2" or None for a tie. lines: the protocol lines, as they were published. file: its file's name.
    """

    id: str
    format_id: str
    gen: int
    players: tuple[str, str]
    ratings: tuple[int | None, int | None]
    date: float | None
    winner: str | None
    end: End
    lines: tuple[str, ...]
    file: str = ""

    def result(self, role: str) -> float:
        """1 won, 0.5 tie, 0 lost."""
        return 0.5 if self.winner is None else float(self.winner == role)


def replay_files(folder: Path) -> list[Path]:
    """Return the replays under a folder (or the given file), sorted by path. Raises BadInput if there are none."""
    if folder.is_file():
        return [folder]
    if not folder.exists():
        raise BadInput(f"replays '{folder}': no such folder: give a folder with replays (*.json, *.log, *.html)")
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    if not files:
        raise BadInput(f"replays '{folder}': contains none: put Showdown's replays there (*.json, *.log, *.html)")
    return files


def read_folder(folder: Path, format_id: str | None, refused: Counter[str]) -> Iterator[PublicBattle]:
    """Yield the usable replays under a folder; others are counted in `refused` by reason. format_id: only this format.

    A battle that exists twice, for example as JSON and as a log, is yielded once.
    """
    known = _Known()
    for path in replay_files(folder):
        battle = None
        with counted(refused, path.name):
            battle = replace(read_replay(path), file=path.name)
        if battle is None:
            continue
        if format_id is not None and battle.format_id != format_id:
            refused["another format"] += 1
        elif known.has(battle):
            refused["the same battle as in another file"] += 1
        else:
            yield battle


@contextmanager
def counted(refused: Counter[str], file: str, part: str = "") -> Iterator[None]:
    """Count the error of one file of many, so that the others are still read.

    An UnusableReplay is counted by its reason, a format that Showdown does not have as such, any other exception as damage,
    with the file's name and its class. part: what begins the reason, where only a part of the file is left out. Errors
    that are not the file's (a missing tool) are raised.
    """
    try:
        yield
    except UnusableReplay as error:
        refused[f"{part}{error}"] += 1
    except UnknownFormat:
        refused[f"{part}unknown format"] += 1
    except Exception as error:
        if isinstance(error, ArenaError) and not isinstance(error, BadInput):
            raise
        refused[f"{part}damaged file {file} ({type(error).__name__})"] += 1


@dataclass
class _Known:
    """The battles read so far, by id and by content, because local servers restart their ids at 1."""

    _ids: set[tuple[str, tuple[str, str], int]] = field(default_factory=set)
    _contents: dict[bytes, str] = field(default_factory=dict)

    def has(self, battle: PublicBattle) -> bool:
        """Return whether the battle was read before, and record it."""
        named = _ID_IN_NAME.fullmatch(battle.id) is not None
        by_id = battle.id, battle.players, sum(line.startswith("|turn|") for line in battle.lines)
        kept = [line for line in battle.lines if Line.read(line).kind not in NOT_BATTLE]
        content = hashlib.sha256("\n".join(kept).encode("utf-8", "surrogatepass")).digest()
        other = self._contents.get(content)
        # Two ids of the site are two battles, however alike.
        same = other is not None and not (named and _ID_IN_NAME.fullmatch(other) and other != battle.id)
        if same or (named and by_id in self._ids):
            return True
        self._ids.add(by_id)
        self._contents[content] = battle.id
        return False


def read_replay(path: Path) -> PublicBattle:
    """One replay from its file. Raises UnusableReplay."""
    try:
        text = read_text(path)
    except (OSError, UnusableText):
        raise UnusableReplay("file cannot be read") from None
    if path.suffix.lower() == ".json":
        return from_json(text, path.stem)
    if path.suffix.lower() in (".html", ".htm"):
        text = _log_of_page(text)
    if not any(line.startswith("|") for line in text.split("\n")):
        raise UnusableReplay("a text that is no replay")
    return public_battle(text, path.stem)


def _log_of_page(page: str) -> str:
    """Return the log of a downloaded replay or of a page of the site. Raises UnusableReplay."""
    for script in _SCRIPT.finditer(page):
        classes = _CLASS.search(script["attributes"])
        if classes is not None and _LOG_CLASSES & set(classes[1].strip("\"'").split()):
            return html.unescape(script["log"]).replace("\\/", "/")
    raise UnusableReplay("page without a battle log")


def from_json(text: str, name: str) -> PublicBattle:
    """A replay in the site's JSON; `name` stands for its id where it has none. Raises UnusableReplay."""
    try:
        replay = parse_json(text)
    except UnusableText:
        raise UnusableReplay("not JSON") from None
    if not isinstance(replay, dict) or not isinstance(replay.get("log"), str):
        raise UnusableReplay("JSON without a battle log")
    date = replay.get("uploadtime")
    return public_battle(
        replay["log"],
        str(replay.get("id") or name),
        format_name=str(replay.get("formatid") or replay.get("format") or ""),
        date=float(date) if isinstance(date, int | float) else None,
    )


def public_battle(log: str, name: str, *, format_name: str = "", date: float | None = None) -> PublicBattle:
    """A battle from its protocol log. Raises UnusableReplay.

    A room's own log has each private line beside its public one (`|split|`): the public ones are kept.
    """
    try:
        lines = public_lines([line.rstrip("\r") for line in log.strip("\n").split("\n")])
    except ValueError as error:
        raise UnusableReplay(str(error)) from None
    heads: dict[str, list[list[str]]] = {}
    for line in lines:
        parts = line.split("|")
        if len(parts) > 2:
            heads.setdefault(parts[1], []).append(parts[2:])
    format_id, gen = _format(heads, name, format_name)
    if "start" not in {line[1:] for line in lines}:
        raise UnusableReplay("no battle in the log")
    problem = disorder(lines)
    if problem is not None:
        raise UnusableReplay(problem)
    players, ratings = _players(heads.get("player", []))
    winner, end = _end(lines, heads)
    clock = next((part[0] for part in heads.get("t:", [])), "")
    if clock.isdigit():
        date = float(clock)
    return PublicBattle(name, format_id, gen, players, ratings, date, winner, end, lines)


def _format(heads: dict[str, list[list[str]]], name: str, format_name: str) -> tuple[str, int]:
    named = _ID_IN_NAME.search(name)
    stated = format_name or (heads["tier"][0][0] if "tier" in heads else "") or (named["format"] if named else "")
    try:
        known = get_format(_BEST_OF.sub("", _BETA.sub("", stated.strip())))
    except UnknownFormat:
        raise UnusableReplay("unknown format") from None
    if known.doubles and known.gen < 9:
        raise UnusableReplay("doubles before generation 9")
    if heads.get("gametype", [["singles"]])[0][0] != ("doubles" if known.doubles else "singles"):
        raise UnusableReplay("neither singles nor doubles")
    if known.doubles and len({sheet[0] for sheet in heads.get("showteam", [])}) < len(SEATS):
        raise UnusableReplay("doubles without open team sheets")
    if not known.doubles and heads.get("teampreview", [[""]])[0][0]:
        raise UnusableReplay("a format that brings fewer Pokémon than it shows")
    return known.id, known.gen


def _players(player_lines: list[list[str]]) -> tuple[tuple[str, str], tuple[int | None, int | None]]:
    names: dict[str, str] = {}
    ratings: dict[str, int] = {}
    for seat, *rest in player_lines:
        if rest and rest[0]:
            names.setdefault(seat, rest[0])
            if len(rest) > 2 and rest[2].isdigit():
                ratings.setdefault(seat, int(rest[2]))
    if not all(seat in names for seat in SEATS):
        raise UnusableReplay("players not named")
    return (names["p1"], names["p2"]), (ratings.get("p1"), ratings.get("p2"))


def _end(lines: tuple[str, ...], heads: dict[str, Any]) -> tuple[str | None, End]:
    if "|tie" in lines or "tie" in heads:
        return None, "tie"
    if "win" not in heads:
        raise UnusableReplay("truncated: no end in the log")
    winner = _seat_of(to_id_str(heads["win"][-1][0]), heads["player"])
    messages = [part[0] for part in heads.get("-message", [])]
    if any(_FORFEIT.search(message) for message in messages):
        return winner, "forfeit"
    return winner, "timeout" if any(_TIMEOUT.search(message) for message in messages) else "win"


def _seat_of(winner: str, player_lines: list[list[str]]) -> str:
    """Return the seat of the winner, by the name that it had at the end, or else by an earlier one of a renamed player."""
    last: dict[str, str] = {}
    earlier: dict[str, str] = {}
    for seat, *rest in player_lines:
        if seat in SEATS and rest and rest[0]:
            last[seat] = to_id_str(rest[0])
            earlier.setdefault(last[seat], seat)
    seat_of_winner = next((seat for seat, name in last.items() if name == winner), earlier.get(winner))
    if seat_of_winner is None:
        raise UnusableReplay("the winner is neither player")
    return seat_of_winner


def day(text: str) -> float:
    """Midnight (UTC) of a day such as "2024-03-31" as Unix time. Raises BadInput."""
    try:
        return datetime.datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=datetime.UTC).timestamp()
    except ValueError:
        raise BadInput(f"date '{text}': not a date: write it as 2024-03-31") from None
