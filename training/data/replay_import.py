"""People's battles as training data: from a folder of replays to two sides' logs each, with what was chosen.

    refused = Counter()
    for battle, p1, p2 in import_replays(Path("replays"), Filters(format_id="gen1ou", least_rating=1500), refused):
        ...  # p1.lines, p1.choices: as the store keeps a seat's log and decisions; battle.result("p1"): 1, 0.5 or 0

Metamon's parsed trajectories (`*.json.lz4`) are read beside them: training/data/metamon.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from arena.human.reading import End, PublicBattle, Unusable, counted, read_folder
from arena.human.reconstruction import SideLog, reconstruct
from training.data.trajectory import Trajectory, observed


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
        turns = sum(line.startswith("|turn|") for line in battle.lines)
        return self.left_out(battle.end, battle.ratings, battle.date, turns)

    def left_out(self, end: End | None, ratings: tuple[int | None, ...], date: float | None, turns: int) -> str | None:
        """The same by what is known of a battle. end: None where that is not told; ratings: those that are told of."""
        if end not in self.ends and (end is not None or set(self.ends) != set(get_args(End))):
            return f"ended by {end}" if end is not None else "not told how it ended"
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
    """The battles under a folder (or of one file) that pass the filters, each with p1's and p2's point of view.

    refused: reason -> how many replays were left out for it; filled while the battles are drawn. seed: which sets stand
    for what was hidden. Raises BadInput where the folder holds no replays.
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
    """The sides of those battles as trajectories, the ones with such a result."""
    for battle, *sides in import_replays(folder, filters, refused, seed):
        for side, rating, player in zip(sides, battle.ratings, battle.players, strict=True):
            result = battle.result(side.role)
            if result not in results:
                continue
            about = {
                "format": battle.format_id, "source": "replay", "agent": "person", "opponent": "person",
                "battle": battle.id, "seat": side.role, "pair": battle.id, "player": player, "rating": rating,
                "date": battle.date, "outcome": battle.end,
            }  # fmt: skip
            made = None
            with counted(refused, battle.file):
                made = observed(side.role, side.format_id, side.lines, side.choices, result, about)
                if made is None:
                    raise Unusable("a side without a known action")
            if made is not None:
                yield made
