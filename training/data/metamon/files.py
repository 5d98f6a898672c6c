"""Metamon's parsed trajectories (`<format>/*.json.lz4`) as training data: each file is one player's battle.

    refused = Counter()
    for one in metamon_trajectories(parsed_files(Path("parsed-replays")), Filters(format_id="gen1ou"), refused):
        ...  # a Trajectory, as a stored battle gives it

A file holds `states` (what metamon keeps of each decision) and `actions`. They become the log of a seat again (log.py), and
are then observed as every other battle is. docs/replays.md says what is lost on the way.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType

import orjson

from arena.human.reading import SUFFIXES, Unusable
from teamsets.errors import UnknownFormat
from teamsets.formats import get_format
from training.data.metamon.log import side_log
from training.data.metamon.stage import ROLE
from training.data.metamon.words import Told
from training.data.pooled import pooled
from training.data.replay_import import Filters, replay_trajectories
from training.data.shards import BadData
from training.data.trajectory import Trajectory, build_trajectory

SUFFIX = ".json.lz4"
_NAME = re.compile(
    r"(?P<battle>[^_]+)_(?P<rating>[^_]+)_(?P<player>.+?)_vs_(?P<opponent>.+)_"
    r"(?P<date>\d\d-\d\d-\d{4})(?:-(?P<time>\d\d:\d\d:\d\d))?_(?P<result>WIN|LOSS)"
)
_FORMAT = re.compile(r"gen[1-9][a-z0-9]+")
#: From so many files on several processes are worth their start.
_MANY = 100
#: The most that a file may hold when unpacked; one of 1,000 decisions is about 5 MB.
_MAX_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True)
class Named:
    """What a file's name tells. battle: its id; date: Unix time; result: 1 won, 0 not won (see `_result`).

    rating: of the player whose view it is, None for "Unrated".
    """

    battle: str
    format_id: str
    player: str
    opponent: str
    rating: int | None
    date: float
    result: float


def parsed_files(folder: Path) -> list[Path]:
    """Metamon's files under a folder, or the one file given, sorted by path."""
    if folder.is_file():
        return [folder] if folder.name.endswith(SUFFIX) else []
    return sorted(path for path in folder.rglob(f"*{SUFFIX}") if path.is_file())


def read_name(path: Path) -> Named:
    """Raises Unusable with a short reason."""
    told = _NAME.fullmatch(path.name.removesuffix(SUFFIX))
    if told is None:
        raise Unusable("a name that is not metamon's")
    try:
        day = datetime.datetime.strptime(f"{told['date']} {told['time'] or '00:00:00'}", "%m-%d-%Y %H:%M:%S")
    except ValueError:
        raise Unusable("a name that is not metamon's") from None
    return Named(
        battle=told["battle"],
        format_id=_format(told["battle"], path),
        player=told["player"],
        opponent=told["opponent"],
        rating=int(told["rating"]) if told["rating"].isdigit() else None,
        date=day.replace(tzinfo=datetime.UTC).timestamp(),
        result=float(told["result"] == "WIN"),
    )


def read_states(path: Path) -> tuple[list[Told], list[int]]:
    """The states and actions: one for each decision, and one more for the battle's end.

    Raises Unusable with a short reason, and BadData where lz4 is not installed.
    """
    frame = _lz4()
    try:
        with frame.open(path) as file:
            text = file.read(_MAX_BYTES + 1)
        if len(text) > _MAX_BYTES:
            raise Unusable(f"larger than {_MAX_BYTES // 1024**2} MB when unpacked")
        told = orjson.loads(text)
    except (OSError, RuntimeError, EOFError):
        raise Unusable("lz4 that is damaged or cut off") from None
    except orjson.JSONDecodeError:
        raise Unusable("not JSON") from None
    if not isinstance(told, dict) or "states" not in told or "actions" not in told:
        raise Unusable("JSON without states and actions")
    states, actions = told["states"], told["actions"]
    if len(states) != len(actions) or len(states) < 2 or not all(isinstance(action, int) for action in actions):
        raise Unusable("states and actions that do not match")
    return states, actions


def people_trajectories(
    folder: Path,
    filters: Filters,
    refused: Counter[str],
    *,
    results: tuple[float, ...],
    seed: int = 0,
    workers: int | None = None,
) -> Iterator[Trajectory]:
    """What a folder holds of both: replays (training/data/replay_import.py), and metamon's files.

    Raises BadInput where it holds neither.
    """
    parsed = parsed_files(folder)
    if not parsed or any(path.suffix in SUFFIXES for path in folder.rglob("*")):
        yield from replay_trajectories(folder, filters, refused, results=results, seed=seed)
    yield from metamon_trajectories(parsed, filters, refused, results=results, seed=seed, workers=workers)


def metamon_trajectories(
    paths: list[Path],
    filters: Filters,
    refused: Counter[str],
    *,
    results: tuple[float, ...] = (0.0, 0.5, 1.0),
    seed: int = 0,
    workers: int | None = None,
) -> Iterator[Trajectory]:
    """The trajectories of files that pass the filters, with such a result; what is left out is counted by its reason.

    The rating that a filter asks for is this player's alone, and how a battle ended is not told. workers: processes, one a
    core where it is not told. Raises BadData where lz4 is not installed.
    """
    chosen: list[Path] = []
    for path in paths:
        try:
            name = read_name(path)
        except Unusable as error:
            refused[str(error)] += 1
            continue
        reason = _left_out(name, filters, filters.least_turns)
        if reason is not None:
            refused[reason] += 1
        elif name.result in results or (not name.result and 0.5 in results):
            chosen.append(path)
    if chosen:
        _lz4()
    for made in _made(chosen, partial(_read, filters=filters, seed=seed), workers):
        if isinstance(made, str):
            refused[made] += 1
        elif made.result in results:
            yield made


def trajectory(name: Named, states: list[Told], actions: list[int], seed: int = 0) -> Trajectory | None:
    """None where no action is known. Raises Unusable, and KeyError and such for states of another form."""
    log = side_log(states, actions, name.format_id, f"{name.battle}:{name.player}:{seed}")
    people = _FORMAT.match(name.battle) is not None
    about = {
        "format": name.format_id, "source": "metamon", "agent": "person" if people else name.player,
        "opponent": "person" if people else name.opponent, "battle": name.battle, "seat": ROLE, "pair": name.battle,
        "player": name.player, "rating": name.rating, "date": name.date,
    }  # fmt: skip
    return build_trajectory(ROLE, name.format_id, log.lines, log.choices, _result(name, states[-1]), about)


def _result(name: Named, last: Told) -> float:
    """1 won, 0.5 neither won nor lost, 0 lost. A file's name calls all LOSS that was not won: ties, and stopped battles."""
    if not name.result and last.get("battle_won") is False and last.get("battle_lost") is False:
        return 0.5
    return name.result


def _made(paths: list[Path], read: partial[Trajectory | str], workers: int | None) -> Iterator[Trajectory | str]:
    if len(paths) < _MANY or workers == 1:
        return map(read, paths)
    return pooled(read, (paths[start : start + _MANY] for start in range(0, len(paths), _MANY)), workers)


def _read(path: Path, filters: Filters, seed: int) -> Trajectory | str:
    """The trajectory of a file, or the reason why it has none."""
    try:
        name, (states, actions) = read_name(path), read_states(path)
        reason = _left_out(name, filters, sum(not state["forced_switch"] for state in states[:-1]))
        if reason is not None:
            return reason
        return trajectory(name, states, actions, seed) or "a side without a known action"
    except Unusable as error:
        return str(error)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        return "states of another form"
    except Exception as error:  # one file of many: the others are still read
        return f"damaged file {path.name} ({type(error).__name__})"


def _left_out(name: Named, filters: Filters, turns: int) -> str | None:
    if filters.format_id is not None and name.format_id != filters.format_id:
        return "another format"
    return filters.left_out(None, (name.rating,), name.date, turns)


def _format(battle: str, path: Path) -> str:
    """The format that a battle's id names ("gen1ou-123", "metamon-gen1ou-123"), or the folder."""
    found = _FORMAT.search(battle.replace("[", "").replace("]", "").replace(" ", "").lower())
    try:
        return get_format(found[0] if found else path.parent.name).id
    except UnknownFormat:
        raise Unusable("unknown format") from None


def _lz4() -> ModuleType:
    try:
        import lz4.frame as frame
    except ImportError:
        raise BadData(
            "metamon's files need the package lz4: `make training` installs it, or `pip install lz4`"
        ) from None
    return frame
