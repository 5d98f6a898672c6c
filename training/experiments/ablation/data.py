"""The datasets of an ablation: existing ones, ones to be built, and subsamples of equal size."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from arena.store import connect
from training.data.build import build_once
from training.data.from_store import selected
from training.data.gates import Gates
from training.data.rebuild_command import HELD_OUT
from training.data.shards import Dataset, DatasetWriter, all_trajectories, opened
from training.data.trajectory import Trajectory
from training.experiments.ablation.config import Ablation, Made, Ordered
from training.runs.config_reader import BadConfig

#: Battles that ended by a fault (a time-out, an error) are left out.
_GATES = Gates(drop_faulty=True)


@dataclass(frozen=True)
class Portion:
    """A dataset or a subsample of one. made: the dataset; None if it is not built and the sizes are estimates."""

    folder: Path
    trajectories: int
    decisions: int
    made: Dataset | None = None

    def mean_length(self, max_length: int) -> float:
        """Return `Dataset.mean_length`; before it is built, that of trajectories which all have the mean length."""
        if self.made is None:
            return min(self.decisions / max(1, self.trajectories), max_length)
        return self.made.mean_length(max_length)


def whole(ablation: Ablation, name: str, *, make: bool) -> Portion:
    """Return a dataset by name, subsampled to its `max_decisions`. make: build it if missing; else only estimate sizes.

    Raises BadConfig for a name that is not in `data`, and BadData.
    """
    if name not in ablation.data:
        known = ", ".join(ablation.data) or "none"
        raise BadConfig(f"data.train: '{name}' is not a dataset of this ablation; known are {known}")
    source = ablation.data[name]
    portion = _portion(ablation, name, source, make)
    return cut(ablation, name, portion, source.max_decisions or portion.decisions, make=make)


def _portion(ablation: Ablation, name: str, source: Made | Ordered, make: bool) -> Portion:
    if isinstance(source, Made):
        return _counted(opened(Path(source.path)))
    folder = _folder(ablation, name)
    if make:
        build_once(Path(source.database), source.where, folder, _GATES, source.hold_out, hold_out_by=source.hold_out_by)
    if folder.exists():
        return _counted(opened(folder))
    sides, decisions = _stored(source)
    kept = 1 - source.hold_out
    return Portion(folder, round(sides * kept), round(decisions * kept))


def _stored(source: Ordered) -> tuple[int, int]:
    """Return the numbers of sides and decisions in the store for a dataset to be built."""
    chosen = selected(Path(source.database), source.where)
    battles, seats = [side.battle_id for side in chosen], [side.seat for side in chosen]
    with connect(Path(source.database), read_only=True) as connection:
        counted = connection.execute(
            "SELECT count(*) FROM decisions WHERE (battle_id, seat) IN (SELECT (unnest(?), unnest(?)))",
            [battles, seats],
        ).fetchone()
    return len(chosen), 0 if counted is None else int(counted[0])


def cut(ablation: Ablation, name: str, portion: Portion, decisions: int, *, make: bool) -> Portion:
    """Subsample a dataset to at most `decisions` decisions, in whole pairs of battles, in an order by the seed.

    A pair that does not fit is skipped for the next one that does, so fewer decisions than the shortest pair has are
    missing.
    """
    if decisions >= portion.decisions:
        return portion
    folder = _folder(ablation, f"{name}-{decisions}")
    if folder.exists():
        return _counted(opened(folder))
    if not make:
        share = decisions / portion.decisions
        return Portion(folder, round(portion.trajectories * share), decisions)
    dataset = opened(portion.folder)
    sizes: dict[str, int] = {}
    for trajectory in all_trajectories(dataset):
        sizes[_pair(trajectory)] = sizes.get(_pair(trajectory), 0) + len(trajectory)
    kept, room = set(), decisions
    for pair in sorted(sizes, key=lambda pair: hashlib.sha256(f"{ablation.sample_seed} {pair}".encode()).digest()):
        if sizes[pair] <= room:
            kept.add(pair)
            room -= sizes[pair]
    about = {**dataset.about, "cut_from": str(portion.folder), "decisions": decisions, "seed": ablation.sample_seed}
    with DatasetWriter(folder, about) as writer:
        for trajectory in all_trajectories(dataset):
            if _pair(trajectory) in kept:
                writer.add(trajectory)
    return _counted(opened(folder))


def validation_folder(ablation: Ablation, path: str) -> str:
    """Return the folder of an entry of `data.validate_on`: a dataset of the ablation, its held-out part, or a path."""
    for name, source in ablation.data.items():
        folder = Path(source.path) if isinstance(source, Made) else _folder(ablation, name)
        if path in (name, name + HELD_OUT):
            return str(folder.with_name(folder.name + path.removeprefix(name)))
    return path


def _pair(trajectory: Trajectory) -> str:
    return str(trajectory.about.get("pair", trajectory.about.get("battle")))


def _folder(ablation: Ablation, name: str) -> Path:
    return Path(ablation.out) / "data" / name


def _counted(dataset: Dataset) -> Portion:
    return Portion(dataset.folder, dataset.trajectories, dataset.decisions, dataset)
