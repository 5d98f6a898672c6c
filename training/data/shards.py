"""Trajectories on disk: a dataset is a folder with `dataset.json` and shards of some thousands of decisions each.

A shard is a safetensors file compressed by zstd with a checksum, which detects damage. A dataset is written to a temporary
folder and renamed when it is complete. It can be deleted and rebuilt from its battles.
"""

from __future__ import annotations

import hashlib
import json
import operator
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from agents.observation import observation
from agents.observation.columns import at_preview
from agents.observation.layout import SINGLES, Layout, layout_of
from agents.observation.vocabulary import vocabulary
from teamsets.atomic import atomic_folder
from teamsets.errors import BadInput
from teamsets.formats import get_format
from teamsets.reading import is_no_file
from training.data.rebuild_command import how_to_rebuild
from training.data.targets import Target
from training.data.trajectory import COLUMNS, MISSING, Trajectory, concatenated

#: 3: `values` are reported win probabilities; before, whatever an agent reported as "value", scores included.
#: 2: `targets` besides the target policy.
FORMAT = 3
#: Decisions in a full shard: about 45 MB in memory, of doubles 75 MB.
SHARD_DECISIONS = 20_000
#: Names of a trajectory's fields in shards, where they differ: those of earlier versions, so that datasets stay readable.
_NAMES_ON_DISK = {"token_ids": "ids", "features": "numbers", "target_policy": "shares"}


class BadData(BadInput):
    """A dataset that does not exist, is incomplete, was built by an incompatible version, or does not fit its use."""


@dataclass(frozen=True)
class Dataset:
    """The content of `dataset.json`.

    lengths: of the trajectories of each shard. names: the shards' files. about: how it was built. observation: the version
    of its observations (agents/observation/layout.py). formats: number of trajectories by format, empty for datasets of
    earlier versions. slots: of a side in its battles: 1 in singles, 2 in doubles. previews: of each shard, the number of
    decisions at team previews of singles (1 or 0) that each trajectory begins with; empty where none does.
    """

    folder: Path
    lengths: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]
    about: dict[str, Any]
    observation: int = observation.VERSION
    formats: dict[str, int] = field(default_factory=dict)
    slots: int = 1
    previews: tuple[tuple[int, ...], ...] = ()
    leaves_out_previews: bool = False

    def without_previews(self) -> Dataset:
        """Return the dataset as it is read without decisions at team previews of singles."""
        if not self.previews or self.leaves_out_previews:
            return self
        lengths = tuple(
            tuple(length - preview for length, preview in zip(*pair, strict=True))
            for pair in zip(self.lengths, self.previews, strict=True)
        )
        return replace(self, lengths=lengths, leaves_out_previews=True)

    @property
    def trajectories(self) -> int:
        return sum(map(len, self.lengths))

    @property
    def decisions(self) -> int:
        return sum(map(sum, self.lengths))

    def mean_length(self, max_length: int) -> float:
        """Return the mean number of decisions of a trajectory after truncation to `max_length`."""
        return float(np.minimum(np.concatenate(self.lengths), max_length).mean())


@dataclass(frozen=True)
class Shard:
    """A shard in memory: a sequence of trajectories."""

    arrays: dict[str, NDArray[Any]]
    about: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.about)

    def __getitem__(self, index: int) -> Trajectory:
        start, end = self.arrays["starts"][index : index + 2]
        parts: dict[str, Any] = {name: self.arrays[name][start:end] for name in COLUMNS}
        return Trajectory(**parts, result=float(self.arrays["results"][index]), about=self.about[index])


class DatasetWriter:
    """Writes a dataset: `with DatasetWriter(folder, about) as writer: writer.add(…)`. An error leaves no files behind.

    shard_decisions: a shard is full with so many decisions.
    """

    def __init__(
        self,
        folder: Path,
        about: dict[str, Any],
        *,
        replace: bool = False,
        shard_decisions: int = SHARD_DECISIONS,
    ) -> None:
        if folder.exists() and not (replace and (folder / "dataset.json").is_file()):
            problem = (
                "exists already: use --replace, or another --out"
                if not replace
                else "is not a dataset, so it is not replaced"
            )
            raise BadData(f"dataset {folder}: {problem}")
        self._folder, self._about, self._shard_decisions = folder, about, shard_decisions
        self._writing = ExitStack()
        self._waiting: list[Trajectory] = []
        self._shards: list[dict[str, Any]] = []
        self._layout: Layout | None = None

    def __enter__(self) -> DatasetWriter:
        self._partial = self._writing.enter_context(atomic_folder(self._folder, replace=True))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._writing.__exit__(kind, error, trace)
            return
        with self._writing:
            if self._waiting:
                self._write()
            if not self._shards:
                raise BadData(f"dataset {self._folder}: nothing to write: no battle matches")
            assert self._layout is not None
            slots = {} if self._layout.slots == 1 else {"slots": self._layout.slots}  # singles are as they have been
            document = {**_current_versions(self._layout), **slots, "about": self._about, "shards": self._shards}
            (self._partial / "dataset.json").write_text(json.dumps(document, indent=1) + "\n")

    def add(self, trajectory: Trajectory) -> None:
        """Add a trajectory. Raises BadData for one of doubles among those of singles, and the other way round."""
        if self._layout not in (None, trajectory.layout):
            raise BadData(
                f"dataset {self._folder}: singles and doubles in one dataset: choose one of them with --where"
            )
        self._layout = trajectory.layout
        self._waiting.append(trajectory)
        if sum(map(len, self._waiting)) >= self._shard_decisions:
            self._write()

    def _write(self) -> None:
        name = f"shard-{len(self._shards):05}.safetensors.zst"
        arrays = {_NAMES_ON_DISK.get(field, field): array for field, array in concatenated(self._waiting).items()}
        if (
            arrays["rejected"] == MISSING
        ).all():  # datasets without pairs are as those of earlier versions, to the byte
            del arrays["rejected"]
        arrays["about"] = np.frombuffer(
            json.dumps([trajectory.about for trajectory in self._waiting]).encode(), dtype=np.uint8
        )
        packed = zstandard.ZstdCompressor(level=6, write_checksum=True).compress(save(arrays))
        (self._partial / name).write_bytes(packed)
        previews = [int(at_preview(trajectory.features[0])) for trajectory in self._waiting]
        formats = Counter(str(trajectory.about.get("format", "unknown")) for trajectory in self._waiting)
        shard = {"file": name, "lengths": [len(trajectory) for trajectory in self._waiting], "formats": formats}
        if self._layout is SINGLES and any(previews):
            shard["previews"] = previews
        self._shards.append(shard)
        self._waiting = []


def _current_versions(layout: Layout) -> dict[str, Any]:
    """The versions that a dataset must have been built with to be usable."""
    return {"format": FORMAT, "observation": layout.version, "vocabulary": vocabulary().version}


def opened(folder: Path) -> Dataset:
    """Open a dataset by its folder. Raises BadData if it cannot be used with this version."""
    file = folder / "dataset.json"
    try:
        if problem := is_no_file(file):
            raise BadData(f"dataset {folder}: dataset.json {problem}: build it again")
        document = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise BadData(
            f"dataset {folder}: has no dataset.json: build it with `train data build` or `train data import`"
        ) from None
    except (ValueError, OSError, RecursionError) as error:
        raise BadData(f"dataset {folder}: dataset.json cannot be read ({error}): build it again") from None
    if not isinstance(document, dict) or not isinstance(document.get("about") or {}, dict):
        raise BadData(f"dataset {folder}: dataset.json is not that of a dataset: build it again")
    about, slots = document.get("about") or {}, document.get("slots", 1)
    if slots not in (1, 2):
        raise BadData(f"dataset {folder}: dataset.json is damaged (slots: {slots!r:.60}): build it again")
    for key, value in _current_versions(layout_of(slots)).items():
        if key == "format" and document.get(key) in (1, 2):
            # Human replays have no diagnostics: datasets imported from them have no values, so nothing in them is wrong.
            if about.get("source") != "replays":
                raise BadData(
                    f"dataset {folder}: built by a version that took a rule player's score for a win probability: "
                    f"{how_to_rebuild(folder, about)}"
                )
        elif (
            observation.unlike(document.get(key), layout=layout_of(slots))
            if key == "observation"
            else document.get(key) != value
        ):
            raise _other_version(folder, about, key, document.get(key), value)
    formats: Counter[str] = Counter()
    try:
        lengths = tuple(tuple(map(operator.index, shard["lengths"])) for shard in document["shards"])
        previews = tuple(
            tuple(map(operator.index, shard.get("previews", [0] * len(shard["lengths"]))))
            for shard in document["shards"]
        )
        files = tuple(_shard_name(shard["file"]) for shard in document["shards"])
        for shard in document["shards"]:
            formats.update({str(name): operator.index(number) for name, number in shard.get("formats", {}).items()})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadData(f"dataset {folder}: dataset.json is damaged ({error!r:.100}): build it again") from None
    counted = dict(formats.most_common())
    previews = previews if any(map(any, previews)) else ()
    return Dataset(folder, lengths, files, about, document["observation"], counted, slots, previews)


def _shard_name(name: Any) -> str:
    """Return the name of a shard. Raises ValueError for one that is no file of the dataset's own folder."""
    if not isinstance(name, str) or Path(name).name != name:
        raise ValueError(f"a shard called {name!r:.60}")
    return name


def read_shard(dataset: Dataset, number: int) -> Shard:
    """Read a shard of a dataset. Raises BadData if it is missing or damaged."""
    path = dataset.folder / dataset.names[number]
    try:
        arrays = load(zstandard.ZstdDecompressor().decompress(path.read_bytes(), max_output_size=1 << 31))
    except (OSError, zstandard.ZstdError, SafetensorError) as error:
        raise _unreadable(dataset, path, error) from None
    about = json.loads(arrays.pop("about").tobytes())
    fields = {name: field for field, name in _NAMES_ON_DISK.items()}
    arrays = {fields.get(name, name): array for name, array in arrays.items()}
    # Datasets of format 1 are read only if they are from human replays, whose targets are the actions played.
    arrays.setdefault("targets", np.full(len(arrays["actions"]), Target.CHOICE, np.int8))
    arrays.setdefault("rejected", np.full(len(arrays["actions"]), MISSING, np.int8))
    for format_id in {str(one["format"]) for one in about}:
        layout = layout_of(dataset.slots)
        if observation.unlike(dataset.observation, get_format(format_id).gen, layout):
            needed = f"{layout.version} for {format_id}"
            raise _other_version(dataset.folder, dataset.about, "observation", dataset.observation, needed)
    if dataset.leaves_out_previews:
        _leave_out_previews(arrays, np.array(dataset.previews[number]))
    return Shard(arrays, about)


def _leave_out_previews(arrays: dict[str, NDArray[Any]], previews: NDArray[np.int64]) -> None:
    """Take the first `previews` [K] decisions of each trajectory, 1 or 0, out of a shard's arrays."""
    starts = arrays["starts"]
    kept = np.ones(starts[-1], np.bool_)
    kept[starts[:-1][previews > 0]] = False
    for name in COLUMNS:
        arrays[name] = arrays[name][kept]
    arrays["starts"] = starts - np.concatenate([[0], np.cumsum(previews)])


def digest(dataset: Dataset) -> str:
    """Return a hash of a dataset's content, independent of its folder's name. Raises BadData if a shard is missing.

    It covers the lengths of the trajectories and the last 4 bytes of each shard: zstd's checksum of its content. So nothing
    is decompressed, and a dataset that is rebuilt from the same battles has the same digest.
    """
    hashed = hashlib.sha256(json.dumps([dataset.observation, dataset.lengths]).encode())
    for name in dataset.names:
        path = dataset.folder / name
        try:
            with path.open("rb") as file:
                file.seek(-4, os.SEEK_END)
                hashed.update(file.read())
        except OSError as error:
            raise _unreadable(dataset, path, error) from None
    return hashed.hexdigest()


def _unreadable(dataset: Dataset, shard: Path, error: Exception) -> BadData:
    fix = how_to_rebuild(dataset.folder, dataset.about)
    return BadData(f"dataset {dataset.folder}: {shard.name} cannot be read ({error}): {fix}")


def _other_version(folder: Path, about: dict[str, Any], key: str, has: Any, needed: Any) -> BadData:
    return BadData(
        f"dataset {folder}: built with {key} {has}, but this version has {needed}: {how_to_rebuild(folder, about)}"
    )


def all_trajectories(dataset: Dataset) -> Iterator[Trajectory]:
    """Yield all trajectories in the order of the shards, with one shard in memory at a time."""
    for number in range(len(dataset.names)):
        shard = read_shard(dataset, number)
        yield from (shard[index] for index in range(len(shard)))
