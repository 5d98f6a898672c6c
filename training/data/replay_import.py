"""Human battles as training data: each replay gives the logs of both sides, with their choices.

    refused = Counter()
    for battle, p1, p2 in import_replays(Path("replays"), Filters(format_id="gen1ou", least_rating=1500), refused):
        ...  # p1.lines, p1.choices: as the store has a seat's log and decisions; battle.result("p1"): 1, 0.5 or 0

Metamon's parsed trajectories (`*.json.lz4`) are read by training/data/metamon.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from arena.replays.reading import End, PublicBattle, UnusableReplay, counted, read_folder
from arena.replays.reconstruction import SideLog, reconstruct
from training.data.trajectory import Trajectory, build_trajectory

#: Why a side is left out that neither won nor lost as was asked for.
ANOTHER_RESULT = "another result"
_ONE_SIDE = "one side: "


@dataclass(frozen=True)
class Filters:
    """Which battles are imported.

    least_rating: minimum rating of both players (battles without ratings are then left out). since, until: Unix times, since
    inclusive, until exclusive. ends: how the battle may have ended. least_turns: minimum number of turns.
    """

    format_id: str | None = None
    least_rating: int | None = None
    since: float | None = None
    until: float | None = None
    ends: tuple[End, ...] = ("win", "tie", "forfeit", "timeout")
    least_turns: int = 1

    def reason(self, battle: PublicBattle) -> str | None:
        """Return why a battle is left out; None if it passes."""
        turns = sum(line.startswith("|turn|") for line in battle.lines)
        return self.left_out(battle.end, battle.ratings, battle.date, turns)

    def left_out(self, end: End | None, ratings: tuple[int | None, ...], date: float | None, turns: int) -> str | None:
        """Return the same from a battle's metadata. end: None if unknown. ratings: of the players whose rating is stored."""
        if end not in self.ends and (end is not None or set(self.ends) != set(get_args(End))):
            return f"ended by {end}" if end is not None else "unknown how it ended"
        if self.least_rating is not None:
            if None in ratings:
                return "not rated"
            if min(rating for rating in ratings if rating is not None) < self.least_rating:
                return f"rated below {self.least_rating}"
        if self.since is not None or self.until is not None:
            if date is None:
                return "no date"
            if date < (self.since or 0) or (self.until is not None and date >= self.until):
                return "outside the dates"
        if turns < self.least_turns:
            return f"fewer than {self.least_turns} turns"
        return None


def import_replays(
    folder: Path, filters: Filters, refused: Counter[str], seed: int = 0
) -> Iterator[tuple[PublicBattle, SideLog, SideLog]]:
    """Yield the battles under a folder (or of one file) that pass the filters, each with p1's and p2's point of view.

    refused: reason -> number of replays left out; it is added to during iteration. seed: of the sets that fill in hidden
    information. Raises BadInput if the folder has no replays.
    """
    for battle in read_folder(folder, filters.format_id, refused):
        reason = filters.reason(battle)
        if reason is not None:
            refused[reason] += 1
            continue
        sides = None
        with counted(refused, battle.file):
            sides = reconstruct(battle, seed)
        if sides is not None:
            yield battle, *sides


def replay_trajectories(
    folder: Path,
    filters: Filters,
    refused: Counter[str],
    *,
    results: tuple[float, ...] = (0.0, 0.5, 1.0),
    seed: int = 0,
) -> Iterator[Trajectory]:
    """Yield the sides of the battles that pass the filters and have one of the results, as trajectories.

    refused: as for `import_replays`. Of a battle that is read, one side may be left out and the other kept: such a reason
    begins with "one side: ", so that the sides yielded and those of the reasons are two for each battle.
    """
    for battle, *sides in import_replays(folder, filters, refused, seed):
        for side, rating, player in zip(sides, battle.ratings, battle.players, strict=True):
            result = battle.result(side.role)
            if result not in results:
                refused[f"{_ONE_SIDE}{ANOTHER_RESULT}"] += 1
                continue
            about = {
                "format": battle.format_id, "source": "replay", "agent": "person", "opponent": "person",
                "battle": battle.id, "seat": side.role, "pair": battle.id, "player": player, "rating": rating,
                "date": battle.date, "outcome": battle.end,
            }  # fmt: skip
            built = None
            with counted(refused, battle.file, _ONE_SIDE):
                built = build_trajectory(side.role, side.format_id, side.lines, side.choices, result, about)
                if built is None:
                    raise UnusableReplay("no known action")
            if built is not None:
                yield built
