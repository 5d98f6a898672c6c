"""People's battles as training data: from a folder of replays to two sides' logs each, with what was chosen.

    refused = Counter()
    for battle, p1, p2 in import_replays(Path("replays"), Filters(format_id="gen1ou", least_rating=1500), refused):
        ...  # p1.lines, p1.choices: as the store keeps a seat's log and decisions; battle.result("p1"): 1, 0.5 or 0

Metamon's parsed trajectories can be read too (`read_trajectory`), but not turned into battles: a state there is what
metamon's own observation keeps (types, moves, health of the two on the field and of the own team), without the protocol
lines, the other side's bench, effects, PP of the past or exact requests. Its action numbers count the moves and switches
in alphabetical order; -1 stands for one that is missing.
"""

from __future__ import annotations

import importlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from arena.human.reading import End, PublicBattle, Unusable, read_folder
from arena.human.reconstruction import SideLog, reconstruct
from teamsets.errors import BadInput

_TRAJECTORY = re.compile(
    r"(?P<battle>[^_]+)_(?P<rating>[^_]+)_(?P<p1>.*)_vs_(?P<p2>.*)_(?P<date>[^_]+)_(?P<result>WIN|LOSS|TIE)"
)


@dataclass(frozen=True)
class Filters:
    """Which battles are taken.

    least_rating: both players' at least (a battle without ratings is then left out). since, until: Unix times, the first
    within, the second not. ends: how it must have ended. least_turns: shorter ones are left out.
    """

    format_id: str | None = None
    least_rating: int | None = None
    since: float | None = None
    until: float | None = None
    ends: tuple[End, ...] = ("win", "tie", "forfeit", "timeout")
    least_turns: int = 1

    def reason(self, battle: PublicBattle) -> str | None:
        """Why a battle is left out, None for one that is taken."""
        if battle.end not in self.ends:
            return f"ended by {battle.end}"
        if self.least_rating is not None:
            if None in battle.ratings:
                return "not rated"
            if min(rating for rating in battle.ratings if rating is not None) < self.least_rating:
                return f"rated below {self.least_rating}"
        if self.since is not None or self.until is not None:
            if battle.date is None:
                return "no date"
            if battle.date < (self.since or 0) or (self.until is not None and battle.date >= self.until):
                return "outside the dates"
        if sum(line.startswith("|turn|") for line in battle.lines) < self.least_turns:
            return f"fewer than {self.least_turns} turns"
        return None


def import_replays(
    folder: Path, filters: Filters, refused: Counter[str], seed: int = 0
) -> Iterator[tuple[PublicBattle, SideLog, SideLog]]:
    """The battles under a folder (or of one file) that pass the filters, each with p1's and p2's point of view.

    refused: reason -> how many replays were left out for it; filled while the battles are drawn. seed: which sets stand
    for what was hidden. Raises BadInput where the folder holds no replays.
    """
    for battle in read_folder(folder, filters.format_id, refused):
        reason = filters.reason(battle)
        if reason is not None:
            refused[reason] += 1
            continue
        try:
            p1, p2 = reconstruct(battle, seed)
        except Unusable as error:
            refused[str(error)] += 1
            continue
        yield battle, p1, p2


@dataclass(frozen=True)
class Trajectory:
    """One of metamon's parsed trajectories, as it stands.

    states: one dict each decision and one at the end. actions: metamon's numbers; None where it is missing.
    rating: None for an unrated battle. result: of the side whose trajectory it is.
    """

    battle_id: str
    rating: int | None
    players: tuple[str, str]
    date: str
    result: Literal["WIN", "LOSS", "TIE"]
    states: list[dict[str, Any]]
    actions: list[int | None]


def read_trajectory(path: Path) -> Trajectory:
    """A trajectory from its file (`*.json`, or `*.json.lz4` where the package lz4 is installed). Raises BadInput."""
    named = _TRAJECTORY.fullmatch(path.name.split(".json")[0])
    if named is None:
        raise BadInput(f"trajectory '{path}': not named as metamon names them: ID_RATING_P1_vs_P2_DATE_RESULT.json.lz4")
    try:
        content = path.read_bytes()
        if path.suffix == ".lz4":
            content = importlib.import_module("lz4.frame").decompress(content)
        kept = json.loads(content)
        states, actions = kept["states"], [None if action == -1 else int(action) for action in kept["actions"]]
    except ImportError:
        raise BadInput(f"trajectory '{path}': compressed with lz4: `pip install lz4` to read it") from None
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise BadInput(f"trajectory '{path}': cannot be read ({type(error).__name__}): give one of metamon's") from None
    rating = int(named["rating"]) if named["rating"].isdigit() else None
    result: Any = named["result"]
    return Trajectory(named["battle"], rating, (named["p1"], named["p2"]), named["date"], result, states, actions)
