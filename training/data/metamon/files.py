"""Metamon's parsed trajectories (`<format>/*.json.lz4`) as training data: a file is one player's view of a battle.

    refused = Counter()
    for one in metamon_trajectories(parsed_files(Path("parsed-replays")), Filters(format_id="gen1ou"), refused):
        ...  # a Trajectory, as of a stored battle

A file contains `states` (metamon's state at each decision) and `actions`. They are converted to a seat's log (log.py), and
then observed like any other battle. docs/replays.md lists what is lost.
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

from arena.replays.reading import SUFFIXES, UnusableReplay
from teamsets.errors import UnknownFormat
from teamsets.formats import get_singles_format
from teamsets.reading import UnusableText, parse_json
from training.data.metamon.log import side_log
from training.data.metamon.names import State
from training.data.metamon.stage import ROLE
from training.data.pooled import pooled
from training.data.replay_import import ANOTHER_RESULT, Filters, replay_trajectories
from training.data.shards import BadData
from training.data.trajectory import Trajectory, build_trajectory

SUFFIX = ".json.lz4"
_NAME = re.compile(
    r"(?P<battle>[^_]+)_(?P<rating>[^_]+)_(?P<player>.+?)_vs_(?P<opponent>.+)_"
    r"(?P<date>\d\d-\d\d-\d{4})(?:-(?P<time>\d\d:\d\d:\d\d))?_(?P<result>WIN|LOSS)"
)
_FORMAT = re.compile(r"gen[1-9][a-z0-9]+")
#: Minimum number of files for which several processes are started.
_MANY = 100
#: Maximum size of an unpacked file; one of 1,000 decisions is about 5 MB.
_MAX_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Named:
    """The metadata in a file's name. battle: id; date: Unix time; result: 1 won, 0 not won (see `_result`).

    rating: of the file's player, None for "Unrated".
    """

    battle: str
    format_id: str
    player: str
    opponent: str
    rating: int | None
    date: float
    result: float


def parsed_files(folder: Path) -> list[Path]:
    """Return metamon's files under a folder (or a single file), sorted by path."""
    if folder.is_file():
        return [folder] if folder.name.endswith(SUFFIX) else []
    return sorted(path for path in folder.rglob(f"*{SUFFIX}") if path.is_file())


def read_name(path: Path) -> Named:
    """Parse a file's name. Raises UnusableReplay with a short reason."""
    parts = _NAME.fullmatch(path.name.removesuffix(SUFFIX))
    if parts is None:
        raise UnusableReplay("a name that is not metamon's")
    try:
        day = datetime.datetime.strptime(f"{parts['date']} {parts['time'] or '00:00:00'}", "%m-%d-%Y %H:%M:%S")
    except ValueError:
        raise UnusableReplay("a name that is not metamon's") from None
    return Named(
        battle=parts["battle"],
        format_id=_format(parts["battle"], path),
        player=parts["player"],
        opponent=parts["opponent"],
        rating=int(parts["rating"]) if parts["rating"].isdigit() else None,
        date=day.replace(tzinfo=datetime.UTC).timestamp(),
        result=float(parts["result"] == "WIN"),
    )


def read_states(path: Path) -> tuple[list[State], list[int]]:
    """Read the states and actions: one for each decision, and one for the end of the battle.

    Raises UnusableReplay with a short reason, and BadData if lz4 is not installed.
    """
    frame = lz4_frame()
    try:
        with frame.open(path) as file:
            text = file.read(_MAX_BYTES + 1)
        if len(text) > _MAX_BYTES:
            raise UnusableReplay(f"larger than {_MAX_BYTES // 1024**2} MB when unpacked")
        document = parse_json(text)
    except (OSError, RuntimeError, EOFError):
        raise UnusableReplay("lz4 that is damaged or cut off") from None
    except MemoryError:
        raise UnusableReplay("lz4 that does not fit into memory") from None
    except UnusableText as error:
        raise UnusableReplay("not JSON" if str(error).startswith("not JSON") else f"JSON that {error}") from None
    if not isinstance(document, dict) or "states" not in document or "actions" not in document:
        raise UnusableReplay("JSON without states and actions")
    states, actions = document["states"], document["actions"]
    if len(states) != len(actions) or len(states) < 2 or not all(isinstance(action, int) for action in actions):
        raise UnusableReplay("states and actions that do not match")
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
    """Yield the trajectories of a folder's replays (training/data/replay_import.py) and of its files of metamon.

    Raises BadInput if it has neither.
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
    """Yield the trajectories of files that pass the filters and have one of the results; others are counted by reason.

    A filter by rating applies to the file's player only; the kind of end is unknown. workers: processes; None: one per core.
    Raises BadData if lz4 is not installed.
    """
    chosen: list[Path] = []
    for path in paths:
        try:
            name = read_name(path)
        except UnusableReplay as error:
            refused[str(error)] += 1
            continue
        reason = _left_out(name, filters, filters.least_turns)
        if reason is not None:
            refused[reason] += 1
        elif name.result in results or (not name.result and 0.5 in results):
            chosen.append(path)
        else:
            refused[ANOTHER_RESULT] += 1
    if chosen:
        lz4_frame()
    for made in _made(chosen, partial(_read, filters=filters, seed=seed), workers):
        if isinstance(made, str):
            refused[made] += 1
        elif made.result in results:
            yield made
        else:
            refused[ANOTHER_RESULT] += 1


def trajectory(name: Named, states: list[State], actions: list[int], seed: int = 0) -> Trajectory | None:
    """Build a trajectory; None if no action is known. Raises UnusableReplay, and KeyError and others if malformed."""
    log = side_log(states, actions, name.format_id, f"{name.battle}:{name.player}:{seed}")
    people = _FORMAT.match(name.battle) is not None
    about = {
        "format": name.format_id, "source": "metamon", "agent": "person" if people else name.player,
        "opponent": "person" if people else name.opponent, "battle": name.battle, "seat": ROLE, "pair": name.battle,
        "player": name.player, "rating": name.rating, "date": name.date,
    }  # fmt: skip
    return build_trajectory(ROLE, name.format_id, log.lines, log.choices, _result(name, states[-1]), about)


def _result(name: Named, last: State) -> float:
    """Return 1 won, 0.5 neither, 0 lost. In a file's name LOSS includes ties and aborted battles."""
    if not name.result and last.get("battle_won") is False and last.get("battle_lost") is False:
        return 0.5
    return name.result


def _made(paths: list[Path], read: partial[Trajectory | str], workers: int | None) -> Iterator[Trajectory | str]:
    if len(paths) < _MANY or workers == 1:
        return map(read, paths)
    return pooled(read, (paths[start : start + _MANY] for start in range(0, len(paths), _MANY)), workers)


def _read(path: Path, filters: Filters, seed: int) -> Trajectory | str:
    """Return the trajectory of a file, or the reason why it has none."""
    try:
        name, (states, actions) = read_name(path), read_states(path)
        reason = _left_out(name, filters, sum(not state["forced_switch"] for state in states[:-1]))
        if reason is not None:
            return reason
        return trajectory(name, states, actions, seed) or "no known action"
    except UnusableReplay as error:
        return str(error)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        return "states of another form"
    except Exception as error:  # a damaged file must not stop the import of the others
        return f"damaged file {path.name} ({type(error).__name__})"


def _left_out(name: Named, filters: Filters, turns: int) -> str | None:
    if filters.format_id is not None and name.format_id != filters.format_id:
        return "another format"
    return filters.left_out(None, (name.rating,), name.date, turns)


def _format(battle: str, path: Path) -> str:
    """Return the format in a battle's id ("gen1ou-123", "metamon-gen1ou-123"), or else of the folder's name."""
    match = _FORMAT.search(battle.replace("[", "").replace("]", "").replace(" ", "").lower())
    try:
        return get_singles_format(match[0] if match else path.parent.name, "metamon").id
    except UnknownFormat:
        raise UnusableReplay("unknown format") from None


def lz4_frame() -> ModuleType:
    """Return the module that reads and writes lz4. Raises BadData if it is not installed."""
    try:
        import lz4.frame as frame
    except ImportError:
        raise BadData(
            "metamon's files need the package lz4: `make training` installs it, or `pip install lz4`"
        ) from None
    return frame
